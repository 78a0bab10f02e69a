"""Grammars in Backus-Naur form: GBNF as llama.cpp reads it, EBNF as XGrammar does."""
