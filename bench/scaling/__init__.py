"""How llmask's cost grows with one quantity at a time: `python -m bench.scaling [study ...]`; one file a study."""
