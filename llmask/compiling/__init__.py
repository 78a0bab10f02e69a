"""From sources to compiled grammars, and what can be asked of these."""
