"""What `Matcher.explain` and `CompiledGrammar.explain` return: why a text is refused, and what may stand in its place.

The reason is there at once; what takes another look at the grammar (which options would take the text, what else is
wrong with it, which tokens are near) is found when it is asked for.

In: answers, and functions that find others. Out: `Explanation`, its text. Cost: that of what is asked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..arguments import on_one_line, shown
from ..forks import cached_property
from ..tokenizer.tokenizer import Tokenizer

MOST_SHOWN = 60  # characters of a value of a schema, or of a pointer
MOST_FOUND = 20  # bytes of what was refused
MOST_EXPECTED = 8
MOST_SHOWN_LINES = 8  # of rules, or of further reasons
# What is wrong with a value, by the keyword that refuses it.
PHRASES = {
    "": "nothing is allowed here",
    "type": "another type",
    "enum": "none of the listed values",
    "const": "another value",
    "minLength": "too few characters",
    "maxLength": "too many characters",
    "pattern": "the pattern is not found in it",
    "format": "not of the format",
    "minimum": "too small",
    "maximum": "too large",
    "exclusiveMinimum": "too small",
    "exclusiveMaximum": "too large",
    "multipleOf": "no multiple",
    "minItems": "too few items",
    "maxItems": "too many items",
    "items": "an item that is not allowed",
    "prefixItems": "an item that is not allowed",
    "additionalItems": "an item that is not allowed",
    "unevaluatedItems": "an item that nothing describes",
    "uniqueItems": "an item that was there before",
    "contains": "no item that is asked for",
    "minContains": "too few items that are asked for",
    "maxContains": "too many items of a kind",
    "minProperties": "too few keys",
    "maxProperties": "too many keys",
    "required": "a key is missing",
    "dependentRequired": "a key is missing",
    "dependencies": "a key is missing",
    "properties": "a key that is not allowed",
    "patternProperties": "a key that is not allowed",
    "additionalProperties": "a key that is not declared",
    "unevaluatedProperties": "a key that nothing describes",
    "propertyNames": "a key that is not allowed",
    "anyOf": "none of the alternatives",
    "oneOf": "none of the alternatives, or more than one",
    "not": "what must not be",
}


class Reason(NamedTuple):
    """The keyword of a JSON schema that refuses a text.

    instance_pointer   JSON pointer of the value that it refuses
    schema_pointer     where it is written, as a fragment: "#/properties/title/maxLength"
    keyword            its name; "" where the schema is `false`, or where several keywords together allow nothing
    value              what is written there
    matching           indices of the alternatives of a `oneOf` that allow the text, where more than one does
    """

    instance_pointer: str
    schema_pointer: str
    keyword: str
    value: Any
    matching: tuple[int, ...] = ()


class Later(NamedTuple):
    """Functions that find what is asked for later.

    expected  words for what may come instead
    tokens    ids that may come instead, the nearest first
    relaxed   options of `Compiler.json_schema` that would take the text
    others    further reasons, if the document is a whole
    rules     the rules that are being read, each with a dot where it is
    """

    expected: Callable[[], list[str]]
    tokens: Callable[[], list[int]]
    relaxed: Callable[[], dict[str, Any]]
    others: Callable[[], list[Reason]]
    rules: Callable[[], list[str]]


NOTHING_LATER = Later(list, list, dict, list, list)


class Explanation:
    """Why a text is refused; `str` is a text for people.

    Attributes
    ----------
    is_allowed : it is not refused; then there is no reason.
    byte : bytes of the document before the first one that is refused.
    found : what is there, b"" for the end of the document.
    instance_pointer : JSON pointer of the value that is refused; None where no keyword of a schema refuses it.
    keyword, schema_pointer, value : of a schema what refuses it, where it is written as a fragment, and what is written
        there; None where no keyword does. The keyword is "" for a schema `false`.
    matching : of a `oneOf` the indices of the alternatives that allow the text, where more than one does.
    note : what else is the matter, or None.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        byte: int,
        found: bytes,
        reason: Reason | None,
        later: Later,
        is_allowed: bool = False,
        note: str | None = None,
    ) -> None:
        self._tokenizer = tokenizer
        self._later = later
        self.is_allowed = is_allowed
        self.byte = byte
        self.found = found
        self.note = note
        said: Any = (None, None, None, None, ()) if reason is None else reason
        self.instance_pointer, self.schema_pointer, self.keyword, self.value, self.matching = said
        self._reason = reason

    @cached_property
    def expected(self) -> list[str]:
        """What may come instead, in words: `'"name"'`, "a number of at most 1", "the end of the object"."""
        return self._later.expected()

    @cached_property
    def tokens(self) -> list[int]:
        """Some ids that may come instead, those first whose text begins as what was refused does."""
        return self._later.tokens()

    @cached_property
    def relaxed(self) -> dict[str, Any]:
        """Options of `Compiler.json_schema` with which the text would be taken; empty where none is.

        Only the spelling of the document, or the order of its keys, is refused where there are some.
        """
        return self._later.relaxed()

    @cached_property
    def others(self) -> list[Reason]:
        """What else a schema refuses of a document that is given as a whole."""
        return [reason for reason in self._later.others() if reason != self._reason]

    @cached_property
    def rules(self) -> list[str]:
        """The rules that are being read where the text is refused, each with a dot where it is; the innermost first."""
        return self._later.rules()

    def __bool__(self) -> bool:
        """Whether there is something to explain."""
        return not self.is_allowed

    def __repr__(self) -> str:
        if self.is_allowed:
            return "Explanation(allowed)"
        why = "" if self._reason is None else f", {self.keyword} at {self.schema_pointer}"
        return f"Explanation(byte {self.byte}{why})"

    def __str__(self) -> str:
        if self.is_allowed:
            return "allowed"
        if self._later is NOTHING_LATER:
            return f"refused at byte {self.byte}: {self.note}"
        what = f"found {shown(self.found[:MOST_FOUND])}" if self.found else "the document ends"
        lines = [f"refused at byte {self.byte}: {what}", *self.why()]
        if self.expected:
            more = ", ..." if len(self.expected) > MOST_EXPECTED else ""
            lines.append(f"expected {', '.join(self.expected[:MOST_EXPECTED])}{more}")
        if self.tokens:
            texts = ", ".join(f"{token} {shown(self._tokenizer.token_bytes(token))}" for token in self.tokens)
            lines.append(f"tokens that may come instead: {texts}")
        return "\n  ".join(lines)

    def why(self) -> list[str]:
        """Lines for people: what refuses it, and what else is wrong; of a grammar that is no schema the rules there."""
        lines = [] if self.note is None else [self.note]
        if self._reason is not None:
            lines.append(sentence(self._reason))
        elif self.relaxed:
            options = ", ".join(f"{name}={value!r}" for name, value in self.relaxed.items())
            flags = " ".join(f"--{name.replace('_', '-')} {value}" for name, value in self.relaxed.items())
            lines.append(f"valid, but for its spelling or the order of its keys: {options} takes it ({flags})")
        elif self.note is None:
            lines += ["the rules there:", *(f"  {rule}" for rule in self.rules[:MOST_SHOWN_LINES])]
        return lines + [f"also {sentence(reason)}" for reason in self.others[:MOST_SHOWN_LINES]]


def sentence(reason: Reason) -> str:
    """A reason in words: "/title: too many characters (maxLength 20), #/properties/title/maxLength"."""
    at = on_one_line(reason.instance_pointer, MOST_SHOWN) or "the document"
    phrase = PHRASES.get(reason.keyword, "refused")
    if reason.matching:
        phrase = f"more than one alternative allows it: {', '.join(map(str, reason.matching))}"
    said = f" ({reason.keyword} {_value_text(reason.value)})" if reason.keyword else ""
    return f"{at}: {phrase}{said}, {on_one_line(reason.schema_pointer, MOST_SHOWN)}"


def _value_text(value: Any) -> str:
    import json

    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):  # a number of very many digits, or nested very deep
        return "..."
    return on_one_line(text[:MOST_SHOWN], MOST_SHOWN) + ("..." if len(text) > MOST_SHOWN else "")
