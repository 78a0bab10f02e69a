"""Canonical masks: only tokens that the tokenizer itself would have written.

    names.py      user-defined tokens, whose names are cut out of a text
    splitting.py  an automaton of both
    neighbours.py tokens that may stand side by side in a word
    chains.py     words that are tokens, and what merging would make of them
    states.py     what has to be known of the text so far, and what may follow it by the splitter and by merges
    matcher.py    a sequence

In: nothing. Out: nothing. Cost: none.
"""
