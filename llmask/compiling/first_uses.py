"""What the first use in a process pays, paid ahead: imports, tables of parsers, kernels.

In: nothing. Out: where the kernels come from. Cost: a fifth of a second; a minute where kernels have to be compiled.
"""

from __future__ import annotations

from importlib import import_module


def warm() -> str:
    """Pay what the first use in a process pays: imports, lark's tables, and kernels where they have to be compiled.

    Kernels come compiled on Linux; elsewhere compiling them takes about a minute once, with a progress bar on standard
    error, and they are kept in the cache folder. The rest is a fifth of a second. What a tokenizer's first use pays is
    paid by `Tokenizer.warm`.

    Returns
    -------
    Where the kernels come from, for people: prebuilt, compiled into a folder or loaded from it.
    """
    from interegular import parse_pattern

    from ..frontends.lark.syntax import statements_of
    from ..frontends.places import Source
    from ..kernels.machine.jit import make_everything_ready

    source = make_everything_ready()
    import_module("llmask.compiling.compiler")
    regex = ("regex.ecma_syntax", "regex.meaning", "regex.python_syntax")
    for module in (*regex, "bnf", "structural_tags", "response_formats", "tools"):
        import_module(f"llmask.frontends.{module}")
    statements_of(Source('start: "a"'))
    parse_pattern("a")  # makes classes and compiles expressions of its own: 20 ms of the first pattern
    return source
