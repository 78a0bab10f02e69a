"""The engine in plain Python, in reading order: trie, regex, lexer, rules, values, earley, mask, canonical.

What kernels do, without what makes them fast: they number what they meet and keep it in tables, never call themselves,
and follow many lexemes and records at once. It is the standard library's Python alone, and nothing of the product is
imported here, so each stage of the product is compared with it (tests/exhaustive/test_reference_engine.py).
"""
