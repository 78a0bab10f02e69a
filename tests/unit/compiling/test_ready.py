"""The ready grammars: found by name, with their samples, and beside trusted parsers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from llmask import Compiler
from llmask.compiling.sources import ready_files, ready_folder
from llmask.errors import GrammarError
from tests.unit.judges import JUDGES, judge_of

TOKENIZER = "default_tokenizer"  # of `compiler`
TEXTS = [name for name, path in ready_files().items() if path.suffix != ".json"]
N_SAMPLES = 200  # of each grammar, beside its judge


def test_grammars_are_found_by_name(compiler: Compiler) -> None:
    assert compiler.grammar("json").accepts('{"a": 1}')
    assert compiler.grammar("outline").accepts('{"title": "x", "sections": []}') or "outline" in ready_files()
    with pytest.raises(GrammarError, match='did you mean "python"'):
        compiler.grammar("pyton")
    with pytest.raises(GrammarError, match="there is no ready grammar 3"):
        compiler.grammar(3)  # type: ignore[arg-type]


def test_there_is_one_for_each_language_that_the_readme_of_the_folder_names() -> None:
    text = (ready_folder() / "README.md").read_text(encoding="utf-8")
    assert [name for name in ready_files() if f"`{ready_files()[name].name}`" not in text] == []
    assert set(JUDGES) <= set(TEXTS)
    assert len(TEXTS) >= 24


@pytest.mark.parametrize("name", TEXTS)
def test_every_file_states_its_departures(name: str) -> None:
    text = ready_files()[name].read_text(encoding="utf-8")
    assert text.startswith("//")
    assert "Departures:" in text


@pytest.mark.long
@pytest.mark.parametrize("name", TEXTS)
def test_a_grammar_has_no_dead_ends(compiler: Compiler, name: str) -> None:
    assert compiler.grammar(name).warnings == []


@pytest.mark.parametrize("name", TEXTS)
def test_samples_are_judged_as_their_file_says(compiler: Compiler, name: str) -> None:
    grammar = compiler.grammar(name)
    samples = json.loads((ready_folder() / f"{name}.samples.json").read_text(encoding="utf-8"))
    assert [text for text in samples["accept"] if not grammar.accepts(text)] == []
    assert [text for text in samples["reject"] if grammar.accepts(text)] == []
    assert len(samples["accept"]) >= 2
    assert len(samples["reject"]) >= 4


@pytest.mark.parametrize("name", TEXTS)
def test_samples_are_accepted_by_a_trusted_parser(compiler: Compiler, name: str, costly: Any) -> None:
    judge = judge_of(name)
    grammar = compiler.grammar(name)
    refused = []
    for seed in range(costly(N_SAMPLES / 4)):
        text = grammar.sample(seed).decode()
        assert grammar.accepts(text), text
        try:
            if judge is not None:
                judge(text)
        except Exception as error:
            refused.append((seed, text, repr(error)))
    assert refused == []


@pytest.mark.parametrize("name", TEXTS)
def test_what_a_trusted_parser_refuses_is_refused(compiler: Compiler, name: str) -> None:
    """The judges judge: of the samples to reject at least one is wrong for them, too."""
    judge = judge_of(name)
    if judge is None:
        pytest.skip("there is no parser in Python")
    samples = json.loads((ready_folder() / f"{name}.samples.json").read_text(encoding="utf-8"))

    def is_refused(text: str) -> bool:
        try:
            judge(text)
        except Exception:
            return True
        return False

    assert [text for text in samples["accept"] if is_refused(text)] == []
    assert any(is_refused(text) for text in samples["reject"])
