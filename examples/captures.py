"""Named parts of what was written: the groups of a pattern, and the captures of a Lark grammar.

    python examples/captures.py

Nothing is parsed a second time: the engine knows where each part begins and ends, and says it at any moment of the
text, not only at its end.

Prints:

    a pattern: year 2026, month 11, day 25
    a grammar, midway: reasoning 'Both are even.'
    a grammar: reasoning 'Both are even.', answer 'yes'
"""

from __future__ import annotations

import llmask

compiler = llmask.Compiler(llmask.Tokenizer.default())


def shown(matcher: llmask.Matcher) -> str:
    """The captures so far, in words."""
    return ", ".join(f"{name} {value.decode()!r}" for name, value in matcher.captures().items())


date = compiler.regex(r"(?P<year>[0-9]{4})-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})").matcher()
date.accept_bytes(b"2026-11-25")
print("a pattern:", ", ".join(f"{name} {int(value)}" for name, value in date.captures().items()))

grammar = compiler.lark(
    r"""
    start: "Because: " reasoning "\nAnswer: " answer
    reasoning[capture]: /[^\n]+/
    answer[capture]: "yes" | "no"
    """
)
matcher = grammar.matcher()
matcher.accept_bytes(b"Because: Both are even.\nAnswer: ")
print("a grammar, midway:", shown(matcher))
matcher.accept_bytes(b"yes")
assert matcher.is_accepting()
print("a grammar:", shown(matcher))
