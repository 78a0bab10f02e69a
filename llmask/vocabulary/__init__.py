"""Vocabularies: token id to bytes, read from GGUF files, Hugging Face files or lists of bytes."""
