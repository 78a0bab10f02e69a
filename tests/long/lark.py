"""Lark grammars beside lark: random ones, whole ones on changed documents, and exact lexing where terminals overlap.

Random structure over terminals that no text confuses is judged by lark's Earley parser with its dynamic lexer, whole
grammars (arithmetic, JSON) by LALR with the contextual lexer, and `lexer="exact"` by `dynamic_complete`, which follows
every terminal that could end.

In: pairs of a grammar and a text. Out: counts. Cost: 1 ms a pair.
"""

from __future__ import annotations

import random
from typing import Any

import llmask
from tests.contract.lark_grammars import GRAMMARS
from tests.generators.lark_grammars import body, structured_grammar
from tests.long.corpora import Masks, tiny_tokenizer
from tests.long.harness import Tally, needed
from tests.long.subject import accepts

TEXTS = 24  # of a grammar
TOKENS = 7  # of a walked text
WHOLE = ("arithmetic", "json")
WHOLE_LETTERS = '0a1.e-"[]{}(), +*'
OVERLAPPING = ('"a"', '"ab"', "/a+/", "/[ab]c?/", '"b"', "/bc?/", '"c"', "/a(b|c)*/", '"é"', "/[^a]b/")


def run(tally: Tally) -> None:
    """Compare until `tally.size` pairs are counted."""
    lark = needed("lark")
    tokenizer = tiny_tokenizer()
    compiler, masks = llmask.Compiler(tokenizer), Masks(tokenizer)
    whole = {name: (_parser(lark, GRAMMARS[name][0], "lalr", "contextual"), compiler.lark(GRAMMARS[name][0]))
             for name in WHOLE}  # fmt: skip
    for rng in tally.cases():
        kind = rng.choice(("structured", "structured", "exact", "whole"))
        if kind == "whole":
            name = rng.choice(WHOLE)
            judge, grammar = whole[name]
            text = name
            documents = [_changed(rng, rng.choice([*GRAMMARS[name][1], *GRAMMARS[name][2]])) for _ in range(TEXTS)]
        else:
            text = structured_grammar(rng) if kind == "structured" else overlapping_grammar(rng)
            lexer = ("dynamic", "greedy") if kind == "structured" else ("dynamic_complete", "exact")
            try:
                judge = _parser(lark, text, "earley", lexer[0])
                grammar = compiler.lark(text, lexer=lexer[1])
            except llmask.UnsatisfiableSchema:
                tally.sums["grammars without a text"] += 1
                continue
            except lark.exceptions.GrammarError:  # two options are the same
                tally.sums["refused by lark"] += 1
                continue
            except Exception as error:
                tally.fault(f"compile raises {type(error).__name__}", repr(text), error)
                continue
            letters = "aAbcd<x>; " if kind == "structured" else "aabbcé"
            documents = [_walked(grammar, masks, rng) for _ in range(TEXTS // 2)]
            documents += ["".join(rng.choices(letters, k=rng.randint(0, 6))) for _ in range(TEXTS // 2)]
        tally.sums[f"grammars: {kind}"] += 1
        for document in dict.fromkeys(documents):
            _compare(tally, lark, text, judge, grammar, document)


def _parser(lark: Any, text: str, parser: str, lexer: str) -> Any:
    return lark.Lark(text, parser=parser, lexer=lexer)


def _compare(tally: Tally, lark: Any, text: str, judge: Any, grammar: Any, document: str) -> None:
    """Count one pair."""
    try:
        judge.parse(document)
        expected = True
    except lark.exceptions.LarkError:
        expected = False
    tally.done += 1
    tally.sums["texts that are documents" if expected else "texts that are none"] += 1
    try:
        found = accepts(grammar.matcher(), document)
    except Exception as error:
        tally.fault(f"a text raises {type(error).__name__}", repr(text), repr(document), error)
        return
    if found != expected:
        tally.fault("refused, lark has it" if expected else "accepted, lark has it not", repr(text), repr(document))


def overlapping_grammar(rng: random.Random) -> str:
    """Rules over terminals that may end at several places."""
    terminals = {name: rng.choice(OVERLAPPING) for name in "ABCD"}
    rules = ["start", "x", "y"][: rng.randint(1, 3)]
    names = [*terminals, *rules[1:]]
    lines = [f"{rule}: {body(rng, names)}" for rule in rules]
    return "\n".join([*lines, *(f"{name}: {text}" for name, text in terminals.items()), "two{p, q}: p q p"]) + "\n"


def _walked(grammar: Any, masks: Masks, rng: random.Random) -> str:
    """What some allowed tokens spell, cut where no character is cut."""
    matcher = grammar.matcher()
    for _ in range(rng.randint(0, TOKENS)):
        matcher.accept_token(masks.chosen(masks.read(matcher), rng))
        if matcher.is_terminated():
            break
    return matcher.text().decode(errors="ignore")


def _changed(rng: random.Random, text: str) -> str:
    characters = list(text)
    for _ in range(rng.randint(0, 2)):
        at = rng.randint(0, len(characters))
        characters[at : at + rng.randint(0, 1)] = rng.choice(["", *WHOLE_LETTERS])
    return "".join(characters)
