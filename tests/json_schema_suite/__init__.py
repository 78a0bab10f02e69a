"""Conformance in small: fixed seeds, and thresholds that may only become stricter. tests/long has it in full."""
