"""llmask/matching/captures/units.py: what a text was read as."""

from __future__ import annotations

import llmask
from llmask.matching.captures.units import byte_units, lexeme_units

EOS, CALL = 256, 257


def compiler() -> llmask.Compiler:
    tokens = [*(bytes([byte]) for byte in range(256)), b"<eos>", b"<call>"]
    return llmask.Compiler(llmask.Tokenizer.from_bytes(tokens, eos=EOS, special=[CALL]))


def test_lexemes_lie_side_by_side_and_what_is_ignored_is_left_out() -> None:
    matcher = compiler().lark('start: "if" NAME <call> NAME\nNAME: /[a-z]+/\n%ignore " "').matcher()
    matcher.accept_tokens([*b"if ab ", CALL, *b" cd"])
    ignored = matcher.grammar.lowered.rules.ignored
    units = lexeme_units(matcher._sequence, ignored)
    assert [(unit.begin, unit.end, unit.token) for unit in units] == [(0, 2, -1), (3, 5, -1), (6, 6, CALL), (7, 9, -1)]
    assert units[1].nodes == units[3].nodes != units[0].nodes
    matcher.rollback(1)
    assert len(lexeme_units(matcher._sequence, ignored)) == 4, "c is a name, too, and the document may end"
    matcher.rollback(2)
    assert len(lexeme_units(matcher._sequence, ignored)) == 3


def test_bytes_are_units_of_exact_lexing() -> None:
    matcher = compiler().gbnf('root ::= "ab" <call> [a-z]+').matcher()
    matcher.accept_tokens([*b"ab", CALL, *b"c"])
    assert [(unit.begin, unit.end, unit.token) for unit in byte_units(matcher._sequence)] == [
        (0, 1, -1),
        (1, 2, -1),
        (2, 2, CALL),
        (2, 3, -1),
    ]
