"""Documents as callers have them: a dict, JSON text, or a value of a pydantic model (OpenAI's, XGrammar's, MCP's).

A model is written with the names that its fields have in JSON, its aliases: the field `schema_` of OpenAI's models is
"schema" there.

A `Place` is a value in a document with the way to it, so that errors name the place by a JSON pointer.

In: whatever the caller has. Out: the document as `json.loads` gives it, a copy of our own; checked values. Cost: that
of `json.loads`, or of what the model does; a tuple a value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from llmask.errors import GrammarError, LlmaskError
from llmask.frontends.json_schema.reading.inputs import schema_of
from llmask.frontends.json_schema.reading.owned import owned
from llmask.frontends.json_schema.reading.pointers import Path, pointer
from llmask.frontends.places import similar

if TYPE_CHECKING:
    from llmask.limits import Limits

KINDS: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (bool, "a boolean"),
    (str, "a string"),
    (Mapping, "an object"),
    ((list, tuple), "an array"),
    ((int, float), "a number"),
    (type(None), "null"),
)


def document_of(source: Any, limits: Limits, what: str) -> Any:
    """The document that a caller means, as a copy of our own (`json_schema/reading/owned.py`).

    Parameters
    ----------
    source : a dict, JSON text (`str`, `bytes`), or a value of a pydantic model; anything else is left to the reader.
    what : what it is, for messages.

    Raises
    ------
    GrammarError : text is not JSON, or a model cannot be written.
    LimitExceeded : it is too long or nests too deep.
    """
    if not isinstance(source, (str, bytes, bytearray)):
        return owned(dumped(source, what))
    try:
        return schema_of(source, limits.max_schema_bytes)
    except LlmaskError as error:
        message = error.message.replace("the schema", f"the {what}", 1)
        raise type(error)(message, error.where, error.help) from None


def dumped(source: Any, what: str) -> Any:
    """A value of a pydantic model as a dict, anything else as it is; `what` it is, for messages.

    Raises
    ------
    GrammarError : it is the model itself, or the model cannot be written.
    """
    if not hasattr(source, "model_dump"):
        return source
    if isinstance(source, type):
        raise GrammarError(f"the {what} is the model {source.__qualname__} itself", help="give a value of the model")
    try:
        try:
            return source.model_dump(by_alias=True)
        except TypeError:  # something like a model, that knows of no aliases
            return source.model_dump()
    except Exception as error:  # code of the model's own runs in there
        reason = str(error).strip().partition("\n")[0]
        raise GrammarError(
            f"the {what} is a value of {type(source).__qualname__}, which cannot be written as a dict: {reason}",
            help="give a dict or JSON text",
        ) from error


class Place(NamedTuple):
    """A value and the way to it."""

    value: Any
    path: Path

    def refuse(self, message: str, help: str) -> NoReturn:
        """Raise a GrammarError that names the place."""
        raise GrammarError(message, pointer(self.path), help)

    def kind(self) -> str:
        """What the value is, in JSON's words."""
        return next((name for kind, name in KINDS if isinstance(self.value, kind)), type(self.value).__name__)

    def below(self, key: str | int) -> Place:
        """The value of a field or element."""
        return Place(self.value[key], (self.path, key))

    def has(self, name: str) -> bool:
        """Whether a field is there, and not null."""
        return self.value.get(name) is not None

    def check_fields(self, required: Sequence[str], allowed: Sequence[str], what: str) -> None:
        """Refuse what is no object, lacks a field, or has one that has no meaning."""
        if not isinstance(self.value, Mapping):
            self.refuse(f"{what} is an object, not {self.kind()}", "write {...}")
        for name in self.value:
            if name not in required and name not in allowed:
                known = ", ".join((*required, *allowed))
                help = similar(str(name), [*required, *allowed], f"take it out; its fields are {known}")
                Place(None, (self.path, name)).refuse(f'{what} has no field "{name}"', help)
        for name in required:
            if name not in self.value:
                self.refuse(f'{what} needs the field "{name}"', "add it")

    def text(self, is_empty_allowed: bool = True) -> str:
        """The value, a string."""
        text = self.value
        if not isinstance(text, str):
            self.refuse(f"this is {self.kind()}, where a string is needed", "write a string")
        if not text and not is_empty_allowed:
            self.refuse("the string is empty", "write at least one character")
        if any("\ud800" <= letter <= "\udfff" for letter in text):
            self.refuse("the string holds a lone surrogate, which is no text", "take it out")
        return str(text)

    def elements(self) -> Iterator[Place]:
        """The elements of an array."""
        if not isinstance(self.value, (list, tuple)):
            help = "put it into a list: [...]" if isinstance(self.value, Mapping) else "write [...]"
            self.refuse(f"this is {self.kind()}, where an array is needed", help)
        return (self.below(at) for at in range(len(self.value)))

    def some(self) -> list[Place]:
        """The elements of an array that is not empty."""
        found = list(self.elements())
        if not found:
            self.refuse("the array is empty", "give at least one element")
        return found

    def texts(self, name: str) -> list[str]:
        """The strings of the array in a field, none of them empty; none where the field is missing."""
        return [one.text(False) for one in self.below(name).elements()] if self.has(name) else []

    def flag(self, name: str, otherwise: bool = False) -> bool:
        """The boolean in a field."""
        if not self.has(name):
            return otherwise
        place = self.below(name)
        if type(place.value) is not bool:
            place.refuse(f"this is {place.kind()}, where true or false is needed", "write true or false")
        return bool(place.value)

    def count(self, name: str, least: int = 0) -> int:
        """The whole number in a field."""
        place = self.below(name)
        value = place.value
        if type(value) is float and value.is_integer():
            value = int(value)
        if type(value) is not int or value < least:
            place.refuse(f"this is {value!r}, where a whole number of at least {least} is needed", "write one")
        return int(value)
