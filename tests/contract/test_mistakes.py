"""Each mistake of a table is told with what is wrong, where, and how to mend it, word for word."""

from __future__ import annotations

import warnings
from collections import Counter
from typing import Any

import pytest

from llmask import Compiler, Tokenizer
from llmask.errors import GrammarNotice, GrammarWarning, LlmaskError

from .mistakes import (
    Mistake,
    Warned,
    World,
    bounds,
    calls,
    commands,
    compilers,
    grammars,
    patterns,
    requests,
    schemas,
    tokenizers,
)
from .mistakes.bnf_texts import EBNF, GBNF
from .mistakes.json_schemas import SCHEMAS
from .mistakes.lark_texts import LARK
from .mistakes.warned import WARNED

# in these every mistake has a place: a JSON pointer, or a line and a column
WITH_PLACES = (*schemas.MISTAKES, *patterns.MISTAKES, *grammars.MISTAKES, *requests.MISTAKES)
OTHERS = tokenizers, calls, compilers, commands, bounds
MISTAKES = (*WITH_PLACES, *(mistake for table in OTHERS for mistake in table.MISTAKES))

TABLES = {"lark": LARK, "gbnf": GBNF, "ebnf": EBNF, "json_schema": SCHEMAS}


@pytest.fixture(scope="module")
def world(tiny_tokenizer: Any, tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(tiny_tokenizer, tmp_path_factory.mktemp("mistakes"))


@pytest.fixture(scope="module")
def letters() -> Compiler:
    """A compiler whose tokens are the bytes, and one that ends."""
    tokens = [bytes([byte]) for byte in range(256)] + [b"<eos>"]
    return Compiler(Tokenizer.from_bytes(tokens, eos=256, special=[256]))


@pytest.mark.parametrize("mistake", MISTAKES, ids=[mistake.name for mistake in MISTAKES])
def test_a_mistake_is_told_with_its_place_and_its_remedy(
    world: World, mistake: Mistake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(world.folder)
    for _ in range(2):  # a refusal is not remembered as something else
        with pytest.raises(LlmaskError) as caught:
            mistake.make(world)
        error = caught.value
        parts = [
            part and part.replace(str(world.folder), "FOLDER") for part in (error.message, error.where, error.help)
        ]
        assert parts == [mistake.message, mistake.where, mistake.help]
        assert type(error) is mistake.kind


@pytest.mark.parametrize(("method", "name"), [(method, name) for method, table in TABLES.items() for name in table])
def test_what_is_given_is_refused_with_its_place_and_its_remedy(letters: Compiler, method: str, name: str) -> None:
    bad = TABLES[method][name]
    with pytest.raises(LlmaskError) as caught:
        getattr(letters, method)(bad.given)
    error = caught.value
    assert [error.message, error.where, error.help] == [bad.message, bad.where, bad.help]
    assert type(error).__name__ == bad.kind
    assert bad.help
    assert "line" in bad.where or method == "json_schema"
    assert "^" in bad.where or method != "lark"
    parts = f"{bad.message}\n  at {bad.where}\n  {bad.help}"
    assert str(error) == parts.encode("utf-8", "backslashreplace").decode()


def test_the_table_has_many_mistakes_and_each_has_a_remedy() -> None:
    assert len(MISTAKES) >= 50
    assert not [name for name, n in Counter(mistake.name for mistake in MISTAKES).items() if n > 1]
    assert all(mistake.message.strip() and mistake.help.strip() for mistake in MISTAKES)
    assert all(mistake.where for mistake in WITH_PLACES)


@pytest.mark.parametrize("warned", WARNED, ids=[warned.name for warned in WARNED])
def test_what_is_hardly_meant_is_warned_of(world: World, warned: Warned) -> None:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert warned.make(world).warnings == [warned.message]
    (warning,) = told
    assert warning.category is (GrammarWarning if warned.is_told else GrammarNotice)
    assert warned.message.startswith(str(warning.message)) == warned.is_told
