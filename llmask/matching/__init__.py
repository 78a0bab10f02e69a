"""Sequences on their way through a grammar: masks, tokens, budgets, captures, and batches of them."""
