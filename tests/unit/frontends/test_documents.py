"""Documents as callers have them; values of real clients' models are in tests/contract/test_clients.py."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from llmask.errors import GrammarError, LimitExceeded
from llmask.frontends.documents import Place, document_of, dumped
from llmask.limits import Limits

DOCUMENT = {"type": "a", "schema": {"b": [1, None]}}


class Model:
    """A value of a model, as far as anyone asks; its field has another name than in JSON."""

    def model_dump(self, by_alias: bool = False) -> Any:
        return {"schema" if by_alias else "schema_": 1}


class Plain:
    """The same without aliases."""

    def model_dump(self) -> Any:
        return DOCUMENT


class Broken:
    """One that cannot be written."""

    def model_dump(self, by_alias: bool = False) -> Any:
        raise ValueError("no\nmore")


def test_dicts_text_and_models_are_read() -> None:
    for source in (DOCUMENT, json.dumps(DOCUMENT), json.dumps(DOCUMENT).encode(), Plain()):
        found = document_of(source, Limits(), "thing")
        assert found == DOCUMENT
        assert found is not DOCUMENT
        assert found["schema"] is not DOCUMENT["schema"]
    assert document_of(Model(), Limits(), "thing") == {"schema": 1}


def test_models_of_pydantic_are_written_by_their_aliases() -> None:
    pydantic = pytest.importorskip("pydantic", reason="pydantic is not installed")
    made = pydantic.create_model("Format", schema_=(dict, pydantic.Field(alias="schema")), strict=(bool | None, None))
    assert dumped(made(schema={}), "thing") == {"schema": {}, "strict": None}


def test_what_is_no_document_is_left_to_the_reader() -> None:
    assert document_of(1, Limits(), "thing") == 1
    assert document_of(None, Limits(), "thing") is None


def test_messages_name_the_thing() -> None:
    with pytest.raises(GrammarError, match=r"^the thing is not JSON"):
        document_of("{", Limits(), "thing")
    with pytest.raises(LimitExceeded, match=r"^the thing has 3 characters"):
        document_of("{ }", Limits(max_schema_bytes=2), "thing")
    with pytest.raises(GrammarError, match=r"^the thing is the model Model itself"):
        document_of(Model, Limits(), "thing")
    with pytest.raises(GrammarError, match=r"^the thing is a value of Broken, which cannot be written as a dict: no\n"):
        document_of(Broken(), Limits(), "thing")


PLACE = Place({"a/b": ["x", ""], "yes": True, "n": 3.0, "none": None}, ())


def test_values_are_read() -> None:
    assert PLACE.flag("yes")
    assert PLACE.flag("none", True)
    assert PLACE.count("n") == 3
    assert PLACE.texts("none") == []
    assert not PLACE.has("none")
    assert [one.value for one in PLACE.below("a/b").elements()] == ["x", ""]


@pytest.mark.parametrize(
    ("read", "message"),
    [
        (lambda: PLACE.texts("a/b"), "the string is empty\n  at #/a~1b/1"),
        (lambda: PLACE.flag("n"), "this is a number, where true or false is needed\n  at #/n"),
        (lambda: PLACE.count("n", 4), "this is 3, where a whole number of at least 4 is needed\n  at #/n"),
        (lambda: PLACE.count("yes"), "this is True, where a whole number of at least 0 is needed\n  at #/yes"),
        (lambda: PLACE.below("yes").some(), "this is a boolean, where an array is needed\n  at #/yes"),
        (lambda: PLACE.below("none").text(), "this is null, where a string is needed\n  at #/none"),
        (lambda: PLACE.below("n").check_fields((), (), "a tag"), "a tag is an object, not a number\n  at #/n"),
    ],
)
def test_errors_name_the_place(read: Callable[[], Any], message: str) -> None:
    with pytest.raises(GrammarError) as error:
        read()
    assert str(error.value).startswith(message)
