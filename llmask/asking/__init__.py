"""What is asked of a grammar: sentences, ambiguity, dead ends, what is likely, grammars that are put together."""
