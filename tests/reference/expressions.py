"""Which texts a `Grammar` derives, from the definition and without an automaton: the twin of `grammar/lowering.py`.

For each rule and each place in a text there is a set of places where the rule may end; the sets are the least ones
that fulfil what the expressions say, found by saying it again until nothing changes. Lexemes match as bytes here, so
the twin is exact: it knows no longest match.

In: a grammar, what its nodes match, a text. Out: yes or no. Cost: no care is taken.
"""

from __future__ import annotations

from collections.abc import Callable

from llmask.grammar.expressions import Expression, Grammar, Lexeme, Reference, Repeat, Sequence

Matches = Callable[[int, bytes], bool]


def derives(grammar: Grammar, matches: Matches, text: bytes) -> bool:
    """Whether the start rule derives `text`; ignored lexemes are not looked at."""
    ends: dict[tuple[str, int], frozenset[int]] = {
        (name, at): frozenset() for name in grammar.rules for at in range(len(text) + 1)
    }
    seen: dict[tuple[int, int], frozenset[int]] = {}  # what `of` has said since `ends` last changed

    def of(expression: Expression, at: int) -> frozenset[int]:
        key = id(expression), at
        if key not in seen:
            seen[key] = ends_of(expression, at)
        return seen[key]

    def ends_of(expression: Expression, at: int) -> frozenset[int]:
        if isinstance(expression, Lexeme):
            return frozenset(end for end in range(at, len(text) + 1) if matches(expression.node, text[at:end]))
        if isinstance(expression, Reference):
            return ends[expression.name, at]
        if isinstance(expression, Sequence):
            here = frozenset([at])
            for part in expression.parts:
                here = frozenset(end for place in here for end in of(part, place))
            return here
        if isinstance(expression, Repeat):
            here, found, count = frozenset([at]), frozenset[int](), 0
            while True:
                found |= here if count >= expression.low else frozenset()
                if count == expression.high or not here or (count > expression.low + len(text) + 1):
                    return found
                here = frozenset(end for place in here for end in of(expression.part, place))
                count += 1
        return frozenset(end for option in expression.options for end in of(option, at))

    changed = True
    while changed:
        changed = False
        for (name, at), known in ends.items():
            found = of(grammar.rules[name], at)
            if found != known:
                ends[name, at] = found
                changed = True
                seen.clear()
    return len(text) in ends[grammar.start, 0]
