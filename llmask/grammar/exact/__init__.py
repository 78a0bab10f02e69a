"""Exact lexing: grammars that mean what they derive byte by byte, in lexemes as large as that allows."""
