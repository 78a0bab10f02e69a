"""Does the mask say what JSON Schema says? `python -m bench.conformance suite | differential | walks | hostile`."""
