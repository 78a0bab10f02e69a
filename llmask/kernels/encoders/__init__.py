"""Encoding text to token ids: byte-pair merges, SentencePiece, unigram, WordPiece, and splitting before them."""
