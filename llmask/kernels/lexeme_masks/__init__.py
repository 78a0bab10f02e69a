"""Tokens that stay inside of a lexeme: a function of the lexer state alone, shared by all grammars of a tokenizer."""
