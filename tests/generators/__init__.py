"""Random schemas of every keyword, instances for them, an outside judge, and a search for smaller counterexamples."""
