"""Adapters for harnesses of others, to be run there.

    llmask_engine.py   MaskBench's own runner

In: the harness. Out: its figures. Cost: its own.
"""
