"""Slow twins of the compiled code, and the definition that all of it is measured against."""
