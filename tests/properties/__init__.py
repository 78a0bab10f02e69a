"""Laws on random input with real vocabularies."""
