"""Conformance in small: fixed seeds, and thresholds that may only become stricter. bench/conformance has it in full."""
