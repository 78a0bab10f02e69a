"""Each mistake of a table is told with what is wrong, where, and how to mend it, word for word."""

from __future__ import annotations

import warnings
from collections import Counter
from typing import Any

import pytest

from llmask.errors import LlmaskError

from .mistakes import Mistake, World, calls, commands, grammars, requests, schemas, tokenizers

# in these every mistake has a place: a JSON pointer, or a line and a column
WITH_PLACES = (*schemas.MISTAKES, *grammars.MISTAKES, *requests.MISTAKES)
MISTAKES = (*WITH_PLACES, *tokenizers.MISTAKES, *calls.MISTAKES, *commands.MISTAKES)


@pytest.fixture(scope="module")
def world(tiny_tokenizer: Any, tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(tiny_tokenizer, tmp_path_factory.mktemp("mistakes"))


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


def test_the_table_has_many_mistakes_and_each_has_a_remedy() -> None:
    assert len(MISTAKES) >= 50
    assert not [name for name, n in Counter(mistake.name for mistake in MISTAKES).items() if n > 1]
    assert all(mistake.message.strip() and mistake.help.strip() for mistake in MISTAKES)
    assert all(mistake.where for mistake in WITH_PLACES)


# what compiles, and is hardly meant
WARNED: list[tuple[Any, str]] = [
    (
        lambda compiler: compiler.json_schema({"name": "string", "age": "integer"}),
        'no key at # is a keyword, so it allows any value: if these are names of properties, write {"properties": '
        "{...}}",
    ),
    (
        lambda compiler: compiler.json_schema({"type": "object", "propertys": {"a": {"type": "null"}}}),
        '"propertys" at #/propertys is no keyword and asks nothing: did you mean "properties"?',
    ),
    (
        lambda compiler: compiler.ebnf('root ::= ["a"] "b"'),
        '["a"] at line 1, column 10 is one character, which may be a quote: what may be left out is ("a")?',
    ),
    (
        lambda compiler: compiler.gbnf('root ::= "a"\nroot ::= "b"'),
        'rule "root" is defined at line 1, column 1 and again at line 2, column 1; the last counts',
    ),
]


@pytest.mark.parametrize(("make", "warning"), WARNED)
def test_what_is_hardly_meant_is_warned_of(world: World, make: Any, warning: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert make(world.compiler).warnings == [warning]
