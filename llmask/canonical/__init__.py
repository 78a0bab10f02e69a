"""Canonical masks: only tokens that the tokenizer itself would have written.

    neighbours.py tokens that may stand side by side in a word
    states.py     what has to be known of the text so far, and what may follow it by the splitter and by merges
    review.py     which of these have no canonical continuation in a grammar
    matcher.py    a sequence

In: nothing. Out: nothing. Cost: none.
"""
