r"""Is there provably no document that begins like this? A walk of schema and text together.

`reason` is a proof, not a search: it names what is written and can no longer become valid, whatever follows. What it
does not understand (`if`, most of `not`, `dependencies` of an object that is open, references into other documents) it
takes as fulfillable, so None says nothing. Complete values are left to `jsonschema`. What is asked of an open place:

    type, enum, const     can the value still be one of these?      maxItems, uniqueItems     already broken?
    maxLength, pattern    of what is written                        maxProperties             already broken?
    allOf, $ref           one of them is dead                       properties and the like   the member is dead
    anyOf, oneOf          all of them are dead                      a key that is open        no key can be meant

In: a referee, a `Partial`. Out: a reason or None. Cost: 0.1 to 1 ms.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

from bench.duel.beginnings import SHAPES, can_match, matches, may_be_escaped
from bench.duel.certain import is_certain
from bench.duel.judge import Referee, has_other_bases
from bench.duel.partial import (
    AFTER,
    COLON,
    END,
    FIRST_ITEM,
    FIRST_KEY,
    KEY,
    KEY_OPEN,
    LITERALS,
    VALUE,
    Frame,
    OpenLiteral,
    OpenNumber,
    OpenText,
    Partial,
)
from tests.generators.judge import identity

MAX_DEPTH = 60  # of references and alternatives


class Prover:
    """Proofs for one schema.

    Parameters
    ----------
    referee : of the schema.
    """

    def __init__(self, referee: Referee) -> None:
        self.referee = referee
        self.schema = referee.schema
        self.knows_values = not has_other_bases(self.schema)
        declared = getattr(referee._validator, "META_SCHEMA", {}).get("$schema", "")
        self.knows_no_fraction = re.search(r"draft-0[34]", declared) is not None
        self.ignores_siblings = re.search(r"draft-0[3467]", declared) is not None

    def reason(self, partial: Partial) -> str | None:
        """Why no document begins like this, or None where that is not known.

        Repeated keys are not asked: a later member may replace an earlier one, which no witness does.
        """
        if partial.state == END:
            return None if self.referee.holds(self.schema, partial.value) else "the document is complete and not valid"
        if not self.knows_values:
            return None
        return self._dead(self.schema, partial, 0, MAX_DEPTH)

    def _dead(self, schema: Any, partial: Partial, depth: int, left: int) -> str | None:
        """Why the value that begins at frame `depth` (the open lexeme past the last one) cannot fulfil `schema`."""
        if schema is False:
            return "nothing is valid here"
        if not isinstance(schema, dict) or left == 0:
            return None
        reference = schema.get("$ref")
        if isinstance(reference, str):
            reason = self._dead(self._target(reference), partial, depth, left - 1)
            if reason or self.ignores_siblings:
                return reason
        for member in schema.get("allOf", ()):
            if reason := self._dead(member, partial, depth, left - 1):
                return reason
        unwanted = schema.get("not")
        if unwanted is not None and is_certain(unwanted, partial, depth, self.referee.holds, self._target):
            return "what must not hold is there"
        for keyword in ("anyOf", "oneOf"):
            ways = schema.get(keyword, ())
            reasons = [self._dead(member, partial, depth, left - 1) for member in ways]
            if ways and all(reasons):
                return reasons[0]
        if depth == len(partial.frames):
            return self._dead_lexeme(schema, partial)
        frame = partial.frames[depth]
        if reason := self._dead_listed(schema, partial, depth):
            return reason
        if frame.is_object:
            return self._dead_object(schema, partial, depth, left)
        return self._dead_array(schema, partial, depth, left)

    def _target(self, reference: str) -> Any:
        """The schema that a reference within the document names; True where it is not found."""
        found = self.schema
        for part in reference.lstrip("#").split("/")[1:]:
            name = _unquoted(part)
            if isinstance(found, dict) and name in found:
                found = found[name]
            elif isinstance(found, list) and name.isdigit() and int(name) < len(found):
                found = found[int(name)]
            else:
                return True
        return True if reference.lstrip("#")[:1] not in ("", "/") else found

    def _dead_listed(self, schema: Any, partial: Partial, depth: int) -> str | None:
        """`type`, `enum` and `const` of an array or object that is open."""
        frame = partial.frames[depth]
        kind = "object" if frame.is_object else "array"
        if reason := _wrong_kind(schema, (kind,)):
            return reason
        for values in _lists(schema):
            if not any(self._may_become(value, partial, depth) for value in values):
                return f"no listed value begins like this {kind}"
        return None

    def _may_become(self, value: Any, partial: Partial, depth: int) -> bool:
        """Whether what is written from frame `depth` on may still become this very value."""
        if depth == len(partial.frames):
            return self._lexeme_may_become(value, partial)
        frame = partial.frames[depth]
        if frame.is_object:
            if not isinstance(value, dict):
                return False
            if any(name not in value or identity(value[name]) != identity(has) for name, has in frame.members.items()):
                return False
            if frame.key is not None:
                return frame.key in value and self._may_become(value[frame.key], partial, depth + 1)
            opened = _open_key(partial, depth)
            return opened is None or any(name.startswith(opened) and name not in frame.members for name in value)
        if not isinstance(value, list) or len(value) < len(frame.items):
            return False
        if any(identity(mine) != identity(has) for mine, has in zip(frame.items, value, strict=False)):
            return False
        if not _is_item_begun(partial, depth):
            return True
        return len(value) > len(frame.items) and self._may_become(value[len(frame.items)], partial, depth + 1)

    def _lexeme_may_become(self, value: Any, partial: Partial) -> bool:
        opened = partial.open
        if partial.state in (VALUE, FIRST_ITEM, COLON):
            return True
        if isinstance(opened, OpenText):
            begun = opened.text.encode("utf-8", "surrogatepass") + partial.pending
            if not isinstance(value, str) or not value.encode("utf-8", "surrogatepass").startswith(begun):
                return False
            return not opened.rest or may_be_escaped(value[len(opened.text) :], opened.rest)
        if isinstance(opened, OpenLiteral):
            return any(value is known for text, known in LITERALS.items() if text.startswith(opened.raw))
        is_number = isinstance(value, (int, Decimal)) and not isinstance(value, bool)
        return is_number and not (isinstance(opened, OpenNumber) and opened.raw[:1] == "-" and value > 0)

    def _dead_lexeme(self, schema: Any, partial: Partial) -> str | None:
        opened = partial.open
        if partial.state in (VALUE, FIRST_ITEM, COLON):
            return None
        for values in _lists(schema):
            if not any(self._lexeme_may_become(value, partial) for value in values):
                return "no listed value begins like this"
        if isinstance(opened, OpenLiteral):
            return _wrong_kind(schema, ("null",) if opened.raw[0] == "n" else ("boolean",))
        if isinstance(opened, OpenNumber):
            is_odd = self.knows_no_fraction and schema.get("type") == "integer" and re.search("[.eE]", opened.raw)
            reason = "an integer with fraction or exponent, in draft 4" if is_odd else None
            return reason or _wrong_kind(schema, ("integer", "number")) or _dead_number(schema, opened.raw)
        assert isinstance(opened, OpenText)
        return _wrong_kind(schema, ("string",)) or _dead_text(schema, opened.text, partial)

    def _dead_object(self, schema: Any, partial: Partial, depth: int, left: int) -> str | None:
        frame = partial.frames[depth]
        for name, value in frame.members.items():
            for part in self._schemas_of(schema, name):
                if not self.referee.holds(part, value):
                    return f"the member {name!r} is complete and not valid"
        for name in (*frame.members, *([] if frame.key is None else [frame.key])):
            names = schema.get("propertyNames", True)
            if not self.referee.holds(names, name):
                return f"the key {name!r} is not allowed"
        most = schema.get("maxProperties")
        begun = len(frame.members) + (frame.key is not None and frame.key not in frame.members)
        if most is not None and begun + (_open_key(partial, depth) is not None) > most:
            return f"more than {most} members"
        if frame.key is not None:
            for part in self._schemas_of(schema, frame.key):
                if reason := self._dead(part, partial, depth + 1, left):
                    return f"the member {frame.key!r}: {reason}"
            return None
        opened = _open_key(partial, depth)
        return None if opened is None or self._has_key(schema, frame, opened) else f"no key begins with {opened!r}"

    def _has_key(self, schema: Any, frame: Frame, opened: str) -> bool:
        """Whether a key that begins like this may have a value."""
        properties = schema.get("properties", {})
        allowed = [name for name, part in properties.items() if part is not False and name not in frame.members]
        if any(name.startswith(opened) for name in allowed):
            return True
        if schema.get("additionalProperties", True) is not False:
            return True
        return any(can_match(pattern, opened) for pattern in schema.get("patternProperties", {}))

    def _schemas_of(self, schema: Any, name: str) -> list[Any]:
        """What applies to a member of this name."""
        patterns = schema.get("patternProperties", {})
        found = [part for pattern, part in patterns.items() if matches(pattern, name)]
        if name in schema.get("properties", {}):
            found.append(schema["properties"][name])
        if not found and "additionalProperties" in schema:
            found.append(schema["additionalProperties"])
        return found

    def _dead_array(self, schema: Any, partial: Partial, depth: int, left: int) -> str | None:
        frame = partial.frames[depth]
        n_items = len(frame.items) + _is_item_begun(partial, depth)
        most = schema.get("maxItems")
        if most is not None and n_items > most:
            return f"more than {most} items"
        if schema.get("uniqueItems") is True and len({identity(item) for item in frame.items}) < len(frame.items):
            return "items are equal"
        for number, item in enumerate(frame.items):
            if not self.referee.holds(self._item_schema(schema, number), item):
                return f"item {number} is complete and not valid"
        if _is_item_begun(partial, depth):
            return self._dead(self._item_schema(schema, len(frame.items)), partial, depth + 1, left)
        return None

    def _item_schema(self, schema: Any, number: int) -> Any:
        """What applies to an item at this place."""
        first = schema.get("prefixItems", schema.get("items"))
        if not isinstance(first, list):
            return schema.get("items", True) if "prefixItems" not in schema else True
        if number < len(first):
            return first[number]
        return schema.get("items" if "prefixItems" in schema else "additionalItems", True)


def _unquoted(part: str) -> str:
    from urllib.parse import unquote

    return unquote(part).replace("~1", "/").replace("~0", "~")


def _open_key(partial: Partial, depth: int) -> str | None:
    """What is written of a key of the frame at `depth`, or None."""
    is_last = depth == len(partial.frames) - 1
    if is_last and partial.state == KEY_OPEN and isinstance(partial.open, OpenText):
        return partial.open.text
    return "" if is_last and partial.state == KEY else None


def _is_item_begun(partial: Partial, depth: int) -> bool:
    """Whether the array at `depth` has an item that is asked for or begun."""
    return depth < len(partial.frames) - 1 or partial.state not in (AFTER, FIRST_ITEM, FIRST_KEY)


def _lists(schema: Any) -> list[list[Any]]:
    found = [schema["enum"]] if isinstance(schema.get("enum"), list) else []
    return [*found, [schema["const"]]] if "const" in schema else found


def _wrong_kind(schema: Any, kinds: tuple[str, ...]) -> str | None:
    asked = schema.get("type")
    names = [asked] if isinstance(asked, str) else asked
    if not isinstance(names, list) or any(not isinstance(name, str) or name in (*kinds, "any") for name in names):
        return None
    return f"{kinds[-1]} where {', '.join(names)} is asked for"


def _dead_number(schema: Any, raw: str) -> str | None:
    """Bounds that the sign breaks; digits decide nothing, for an exponent may follow."""
    least, most = schema.get("minimum"), schema.get("maximum")
    if raw[:1] == "-" and isinstance(least, (int, Decimal)) and least > 0:
        return f"negative, and at least {least}"
    if raw[:1] not in ("-", "") and isinstance(most, (int, Decimal)) and most < 0:
        return f"not negative, and at most {most}"
    return None


def _dead_text(schema: Any, text: str, partial: Partial) -> str | None:
    """A text that is open, perhaps with a character begun after it, by an escape or by bytes beyond ASCII."""
    has_escape = isinstance(partial.open, OpenText) and partial.open.rest != "" and text[-1:].isascii()
    has_more = has_escape or partial.pending != b""
    most = schema.get("maxLength")
    if isinstance(most, (int, Decimal)) and len(text) + has_more > most:
        return f"longer than {most}"
    if isinstance(schema.get("pattern"), str) and not can_match(schema["pattern"], text):
        return "no text of the pattern begins like this"
    shape = SHAPES.get(str(schema.get("format")))
    more = [chr(point) for point in range(128)] if has_escape else [] if partial.pending else [""]
    is_possible = shape is None or any(can_match(shape, text + character) for character in more)
    return None if is_possible else f"no {schema['format']} begins like this"
