"""Benchmarks: llmask and its peers driven in the same way; README.md states method, bias and commands."""
