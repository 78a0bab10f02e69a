"""A few cases of everything, in half a minute: `python -m pytest tests/smoke`."""
