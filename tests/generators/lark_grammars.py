"""Random grammars in Lark's notation whose terminals begin with different letters, where no lexer has a choice.

In: a random number generator. Out: a grammar as text. Cost: 50 us.
"""

from __future__ import annotations

import random


def expression(rng: random.Random, names: list[str], depth: int = 0) -> str:
    kind = rng.random()
    if depth > 2 or kind < 0.45:
        return rng.choice(names)
    inner = [expression(rng, names, depth + 1) for _ in range(2)]
    if kind < 0.6:
        return f"({inner[0]} {inner[1]})"
    if kind < 0.72:
        return f"({inner[0]} | {inner[1]})"
    if kind < 0.78:
        return f"[{inner[0]}]"
    if kind < 0.83:
        return f"two{{{rng.choice(names)}, {rng.choice(names)}}}"
    return f"({inner[0]})" + rng.choice(["*", "+", "?", "~2", "~1..2"])


def body(rng: random.Random, names: list[str]) -> str:
    rows = (" ".join(expression(rng, names) for _ in range(rng.randint(1, 3))) for _ in range(rng.randint(1, 2)))
    return " | ".join(rows)


def structured_grammar(rng: random.Random) -> str:
    """Rules over terminals that no text confuses: every letter begins one of them, and ends it."""
    terminals = {"A": '"a"i', "B": "/b/", "C": '"c".."d"', "D": '"<" ("x" | "y")? ">"'}
    rules = ["start", "x", "?y", "_z"][: rng.randint(1, 4)]
    names = [*terminals, '";"', *(rule.strip("?") for rule in rules[1:])]
    lines = [f"{rule}: {body(rng, names)}" for rule in rules]
    lines += [f"{name}: {terminal}" for name, terminal in terminals.items()]
    return "\n".join([*lines, "two{p, q}: p q p", *(['%ignore " "'] if rng.random() < 0.3 else [])]) + "\n"
