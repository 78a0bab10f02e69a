"""A grammar of one's own, in the notation of Lark: shopping lists.

    python examples/own_grammar.py

Rules have small letters, terminals capital ones; `%ignore` may stand between any two terminals. A grammar tells what it
takes, writes random sentences of itself (tests for a parser), and combines with others.

Prints:

    True  'buy: 3 apples, 1 loaf; by 18:30'
    False 'buy: apples'
    False 'buy: 3 apples; by 25:00'
    the shortest: 'buy:1a'
    20 random sentences, each taken again
    a list, or nothing to buy: True
"""

from __future__ import annotations

import llmask

GRAMMAR = r"""
start: "buy" ":" item ("," item)* (";" "by" TIME)?
item: COUNT THING

COUNT: /[1-9][0-9]?/
THING: /[a-z]+/
TIME: /([01][0-9]|2[0-3]):[0-5][0-9]/
%ignore / /
"""

compiler = llmask.Compiler(llmask.Tokenizer.default())
grammar = compiler.lark(GRAMMAR)
for text in ("buy: 3 apples, 1 loaf; by 18:30", "buy: apples", "buy: 3 apples; by 25:00"):
    print(f"{grammar.accepts(text)!s:5} {text!r}")
print("the shortest:", repr(grammar.shortest().decode()))

sentences = [grammar.sample(seed) for seed in range(20)]
assert all(grammar.accepts(sentence) for sentence in sentences)
print(len(sentences), "random sentences, each taken again")

either = grammar.union(compiler.choice(["nothing to buy"]))
print("a list, or nothing to buy:", either.accepts("nothing to buy"))
