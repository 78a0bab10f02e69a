"""Configurations (a row and a lexer state), tokens across the end of a lexeme, whole masks, and masks on logits."""
