"""Small worlds in full: every expression or grammar of a size, every prefix, every token."""
