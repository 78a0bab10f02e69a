"""Attacks: random and hostile use of llmask beside outside judges. `python -m bench.attack list`; see harness.py."""
