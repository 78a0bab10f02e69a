"""Tests that take minutes or hours, each with an outside judge: `python -m tests.long list`.

In small they run with all others: `tests/properties/test_in_small.py`, `tests/json_schema_suite/`.
"""
