"""Reading many token texts in bulk, and the trie of their bytes."""
