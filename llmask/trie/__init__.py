"""Prefix trie of all token bytes: its layout and its builder."""
