"""Bitmasks of tokens and what is done with them."""
