"""Languages of scalars as regular expressions: strings, numbers, white space, punctuation."""
