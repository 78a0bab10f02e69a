"""The automata in the file are those that the rules make, and names of another style are made of the rules."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Any

import pytest

import llmask
from llmask.frontends.json_schema.formats import idna_automata
from llmask.frontends.regex.json_strings import DEFAULT_STYLE, StringStyle


def arrays(automata: Any) -> list[Any]:
    return [
        [one.class_of_byte.tolist(), one.accepting.tolist(), [(c.tolist(), rows.tolist()) for c, rows in one.blocks]]
        for one in automata
    ]


@pytest.mark.long
def test_the_file_is_what_the_rules_make(tmp_path: Path) -> None:
    if idna_automata.version() != unicodedata.unidata_version:
        pytest.skip(f"the file is of Unicode {idna_automata.version()}, not {unicodedata.unidata_version}")
    idna_automata.make(tmp_path / "made.npz")
    made = arrays(idna_automata.read(tmp_path / "made.npz"))
    assert made == arrays(idna_automata.read(idna_automata.FILE)) == arrays(idna_automata.automata(DEFAULT_STYLE))


@pytest.mark.long
def test_what_is_read_is_what_was_written() -> None:
    style = StringStyle(literals="any")
    kept, made = idna_automata.read(idna_automata.FILE), idna_automata.automata(style)
    if idna_automata.version() == unicodedata.unidata_version:
        assert arrays(kept) == arrays(made)
    assert [one.accepting.shape for one in kept] == [(sum(len(rows) for _, rows in one.blocks),) for one in kept]


@pytest.mark.long
@pytest.mark.parametrize("escapes", ["all", "minimal"])
def test_names_of_both_kinds_of_automata(default_tokenizer: llmask.Tokenizer, escapes: Any) -> None:
    grammar = llmask.Compiler(default_tokenizer).json_schema(
        {"format": "idn-hostname", "type": "string"}, escapes=escapes
    )
    assert grammar.accepts('"b\u00fccher.example"'.encode())
    assert grammar.accepts('"\u4f8b\u3048.\u30c6\u30b9\u30c8"'.encode())
    assert not grammar.accepts('"a\u0301b\u00df\u200d.example"'.encode())
    assert not grammar.accepts('"-\u00fc.example"'.encode())
