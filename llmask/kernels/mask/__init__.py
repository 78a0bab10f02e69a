"""Configurations (a row and a lexer state), tokens that cross the end of a lexeme, the mask put together, and applied to logits."""
