"""Tests of llmask; tests/README.md says what lies where."""
