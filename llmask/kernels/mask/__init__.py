"""Configurations (a row and a lexer state), tokens that cross the end of a lexeme, and the mask put together."""
