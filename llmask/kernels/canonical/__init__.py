"""Canonical masks: tokens that the tokenizer itself would have written. Nothing outside needs it."""
