"""Tokenizers: a vocabulary with its encoder and its trie; texts to ids and back, counted, cut and streamed."""
