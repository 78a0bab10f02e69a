"""What a schema may be given as: a dict or bool, JSON text, or a type or function that pydantic describes.

JSON text is read exactly: a number that no float spells becomes a `Decimal`, a key that comes twice in an object and
the `NaN` and `Infinity` of Python's reader are errors. Types are described in `described.py`.

In: whatever the caller has. Out: a schema as `json.loads` gives it; a key that equal schemas share. Cost: that of
`json.loads` and about as much again; of types that of describing them; the key of a schema of 1 KB 4 us.
"""

from __future__ import annotations

import json
import marshal
import os
import re
from collections.abc import Hashable, Mapping
from decimal import Decimal, InvalidOperation
from hashlib import blake2b
from typing import Any

from llmask.errors import GrammarError, LimitExceeded

from .described import described
from .owned import owned
from .pointers import ROOT, Path, pointer

ONE_WORD = re.compile(r"[a-z_]{1,30}")
CONTAINERS = frozenset((dict, list, tuple))
FILE_NAME = re.compile(r"[^\n{}\[\]\"]{1,250}\.json")
MANY_PARTS = 50_000  # containers; so few are written out without a look at which are the same
KEY_VERSION = 2  # of marshal's format: the last one in which equal objects always have equal bytes


def is_document(source: Any) -> bool:
    """Whether a schema is given as such, and not as a type."""
    kinds = (bool, Mapping, str, bytes, bytearray, os.PathLike, list, tuple, int, float, Decimal)
    return source is None or isinstance(source, kinds)


class _Fault:
    """Takes the place, in a document, of what JSON does not allow there."""

    def __init__(self, reason: str, help: str) -> None:
        self.reason = reason
        self.help = help


def schema_of(source: Any, max_characters: int, is_closed: bool = True) -> Any:
    """The schema that a caller means, as a copy of our own (`owned.py`).

    Parameters
    ----------
    source : dict or another mapping, bool, JSON text (`str`, `bytes`), a type or annotation that pydantic knows, or a
        function, whose parameters are then the properties.
    max_characters : of JSON text.
    is_closed : objects of a type take no keys but those that it declares.

    Raises
    ------
    GrammarError
        When text is not JSON, with the place; when pydantic does not describe the type.
    LimitExceeded
        When the text is too long, nests too deep or has a number that is too long.
    LlmaskError
        When pydantic is needed and not installed.
    """
    if isinstance(source, bool):
        return source
    if isinstance(source, Mapping):
        return owned(source)
    if isinstance(source, (str, bytes, bytearray)):
        return _parsed(source, max_characters)
    if isinstance(source, os.PathLike):
        raise GrammarError("a schema is no path", help="give what is in the file: json_schema(path.read_bytes())")
    if source is None or isinstance(source, (list, tuple, int, float, Decimal)):
        return source  # values, and no annotations: compiling says what is wrong
    return owned(
        described(source, is_closed)
    )  # a model may write its schema by a method that gives the same dict every time


# --- text


def _parsed(text: str | bytes | bytearray, max_characters: int) -> Any:
    if len(text) > max_characters:
        raise LimitExceeded(
            f"the schema has {len(text)} characters, the limit is {max_characters} (limits.max_schema_bytes)",
            help="split the schema or raise the limit",
        )
    faults: list[_Fault] = []

    def fault(reason: str, help: str) -> _Fault:
        faults.append(_Fault(reason, help))
        return faults[-1]

    def members(pairs: list[tuple[str, Any]]) -> Any:
        found = dict(pairs)
        if len(found) == len(pairs):
            return found
        return fault(f'the key "{_repeated(pairs)}" is used twice in one object', "keep one of them")

    def number(spelled: str) -> Any:
        value = float(spelled)
        try:
            exact = Decimal(spelled)
            return value if exact == Decimal(repr(value)) else exact
        except InvalidOperation:
            return fault(f"the exponent of {spelled} is too large", "write a smaller number")

    def constant(spelled: str) -> Any:
        return fault(f"{spelled} is no JSON number", "leave the keyword out, or write a number")

    try:
        schema = json.loads(text, object_pairs_hook=members, parse_float=number, parse_constant=constant)
    except RecursionError:
        raise LimitExceeded(
            "the schema is nested too deeply to be read as JSON", help="flatten it with $ref and $defs"
        ) from None
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise GrammarError(f"the schema is not JSON: {error.msg}", place, _json_help(error.doc, error.pos)) from None
    except UnicodeDecodeError as error:
        raise GrammarError("the schema is not UTF-8", f"byte {error.start}", "give it as text") from None
    except ValueError:  # Python reads integers of at most 4,300 digits unless told otherwise
        raise LimitExceeded("the schema holds an integer of too many digits", help="write it with fewer") from None
    if faults:
        first, path = _first_fault(schema)
        raise GrammarError(f"the schema is not JSON: {first.reason}", pointer(path), first.help)
    return schema


def _json_help(text: str, at: int) -> str:
    """How to mend a text that is no JSON from a character on."""
    here, before = text[at : at + 5], text[:at].rstrip()[-1:]
    if here.startswith("'"):
        return "JSON has double quotes only; or give the dict itself"
    if here.startswith(("True", "False", "None")):
        return "JSON has true, false and null; or give the dict itself"
    if here.startswith(",") or (here[:1] in ("}", "]") and before == ","):
        return "take out the comma that nothing follows"
    if at == 0 and FILE_NAME.fullmatch(text):
        return f"give a dict or JSON text; the text of a file is Path({text!r}).read_text()"
    if at == 0 and ONE_WORD.fullmatch(text):
        return f'give a dict or JSON text, such as {{"type": "{text}"}}'
    if text.strip()[:1] not in ("", "{"):
        return (
            "give a dict or JSON text; a pattern is for Compiler.regex, a grammar for Compiler.lark, gbnf or ebnf, and "
            "llmask.generate takes what they return"
        )
    return "give a dict or JSON text"


def _repeated(pairs: list[tuple[str, Any]]) -> str:
    """The first name that comes a second time, in an object that has such a name."""
    seen: set[str] = set()
    for name, _ in pairs:
        if name in seen:
            return name
        seen.add(name)
    raise AssertionError("every name is used once")


def _first_fault(schema: Any) -> tuple[_Fault, Path]:
    """A fault in a document that has one; it may hide others, and so is always found."""
    waiting: list[tuple[Any, Path]] = [(schema, ROOT)]
    while True:
        here, path = waiting.pop()
        if isinstance(here, _Fault):
            return here, path
        if type(here) is dict:
            waiting += [(member, (path, name)) for name, member in reversed(here.items())]
        elif type(here) is list:
            waiting += [(member, (path, at)) for at, member in reversed(list(enumerate(here)))]


# --- keys


def key_of(schema: Any) -> Hashable:
    """Something that two schemas share exactly when they are the same: `1` and `1.0`, `1` and `"1"` are not.

    What cannot be compared so (`Decimal` aside) gets a key of its own; so does what contains itself, or is much larger
    as text than in memory, where parts of it are in several places.
    """
    if not is_like_text(schema):
        return object()
    try:
        return marshal.dumps(schema, KEY_VERSION)
    except ValueError:  # a type that is not JSON's, or nested too deep
        pass
    decimals: list[str | None] = []
    try:
        return marshal.dumps(_without_decimals(schema, decimals), KEY_VERSION), *decimals
    except (ValueError, RecursionError):
        return object()


def digest_of(schema: Any) -> Hashable:
    """The same in few bytes, to find out later whether a document has changed."""
    key = key_of(schema)
    return blake2b(key, digest_size=16).digest() if isinstance(key, bytes) else key


def is_like_text(schema: Any) -> bool:
    """Whether a schema written out, each part at each of its places, is not much larger than it is in memory."""
    if type(schema) not in CONTAINERS:
        return True
    within = [schema]  # grows while it is read
    most = MANY_PARTS
    for here in within:
        for value in here.values() if type(here) is dict else here:
            if type(value) in CONTAINERS:
                within.append(value)
        if len(within) > most:
            if most > MANY_PARTS:
                return False
            most = 2 * _n_parts(schema) + MANY_PARTS
    return True


def json_text(value: Any, is_compact: bool = False) -> str:
    """A value as JSON, numbers exactly.

    Parameters
    ----------
    is_compact : without white space, and only what `schema_of` reads; else what JSON has no form for is written by
        `str`.

    Raises
    ------
    TypeError, ValueError
        When JSON has no form for a key, or for a value.
    RecursionError
        When it nests too deep.
    """
    decimals: list[str] = []
    mark = "\0number "

    def number(found: Any) -> str:
        if is_compact and not (isinstance(found, Decimal) and found.is_finite()):
            raise TypeError(f"a {type(found).__name__}" if not isinstance(found, Decimal) else f"the number {found}")
        decimals.append(str(found))
        return f"{mark}{len(decimals) - 1}\0"

    separators = (",", ":") if is_compact else None

    def written() -> str:
        return json.dumps(value, ensure_ascii=False, allow_nan=not is_compact, separators=separators, default=number)

    text = written()
    if not decimals:
        return text
    if text.count(json.dumps(mark)[1:-1]) > len(decimals):  # a string of the value's own looks like a number
        mark, decimals = f"{mark}{blake2b(text.encode('utf-8', 'surrogatepass')).hexdigest()} ", []
        text = written()
    spelled = re.escape(json.dumps(mark)[1:-1])
    return re.sub(rf'"{spelled}(\d+)\\u0000"', lambda at: decimals[int(at[1])], text)


def _n_parts(schema: Any) -> int:
    """Different containers in a schema."""
    within = [schema]
    seen = {id(schema)}
    for here in within:
        for value in here.values() if type(here) is dict else here:
            if type(value) in CONTAINERS and id(value) not in seen:
                seen.add(id(value))
                within.append(value)
    return len(seen)


def _without_decimals(value: Any, decimals: list[str | None]) -> Any:
    """A copy with `...` in place of each `Decimal`; these, and None for what was `...` before, are noted in order."""
    if type(value) is dict:
        return {name: _without_decimals(member, decimals) for name, member in value.items()}
    if type(value) is list:
        return [_without_decimals(member, decimals) for member in value]
    if type(value) is Decimal or value is ...:
        decimals.append(None if value is ... else str(value))
        return ...
    return value
