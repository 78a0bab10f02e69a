"""Encoders: text to token ids, one module for each family of tokenizers."""
