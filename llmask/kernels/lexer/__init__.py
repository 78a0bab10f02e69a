"""The lazy lexer: a state is a tuple of derivatives, made when a byte first leads to it."""
