"""Schemas of types as narrow as what reads their values: pydantic's generator, and what its schemas leave out.

pydantic describes a type for people; its validator asks more: a year from 1 on, a host in an address, a tag that says
which member of a union comes. Here that becomes patterns and bounds, so that the type reads every document of its
schema. A schema may take less than its type (`type_patterns.py`), never more. What only code, the machine or the day
can tell is named under the keyword UNCHECKED, which becomes a warning when the schema is compiled. pydantic's own
functions are known by their names; one that is not known counts as code.

In: core schemas, as pydantic makes them of types. Out: schemas. Cost: pydantic's, and half of that.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from llmask.errors import GrammarError

from . import type_patterns as patterns
from .keywords import UNCHECKED
from .type_patterns import NotRegular, Whole, bounds_of

if TYPE_CHECKING:
    from pydantic.json_schema import GenerateJsonSchema as Generator
else:
    Generator = object

Schema = dict[str, Any]
FUNCTIONS = ("function-before", "function-after", "function-wrap", "function-plain")
# pydantic's functions that refuse nothing which the schema takes
HARMLESS = re.compile(
    r"(?:^|\.)(?:(?!pattern_)\w+_validator|wrap_val|attrgetter|forbid_inf_nan_check|Encoded\w+\.decode\w*|"
    r"(?:IPvAny\w+|EmailStr|NameEmail|ByteSize)\._validate|_apply_constraint_with_incompatibility_info)$|Secret"
)
LIBRARIES = ("pydantic", "ipaddress", "collections", "operator", "typing", "fractions")
BOUNDS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}
LENGTHS = {"array": "Items", "object": "Properties", "string": "Length"}
MOVES = ("to_lower", "to_upper", "strip_whitespace")
SCALARS = ("string", "number", "boolean", "null")
FINITE = {"minimum": -1e300, "maximum": 1e300}
ASCII = {"pattern": patterns.ASCII}
BEYOND_ASCII = r"\\[DWSbB]|\[\^|\(\?\w*i"  # of patterns: what means more here than in pydantic beyond ASCII

SET_OF_SETS = re.compile(r"(?:^|[^\\])(?:\\\\)*\[\^?\]?(?:\\.|[^]\\[&~-]|&(?!&)|~(?!~)|-(?!-))*(?:\[|&&|~~|--)")


@lru_cache(4)
def generator(is_closed: bool = True, is_msgspec: bool = False) -> Any:
    """The class that pydantic is given to write schemas; `is_msgspec`: msgspec reads the values."""
    from pydantic.json_schema import GenerateJsonSchema

    return type("TypeSchemas", (TypeSchemas, GenerateJsonSchema), {"is_closed": is_closed, "is_msgspec": is_msgspec})


def _text(pattern: str, **others: Any) -> Schema:
    return {"type": "string", "pattern": Whole(pattern), **others}


def _unchecked(found: Schema, what: str) -> Schema:
    return {**found, UNCHECKED: [*found.get(UNCHECKED, ()), what]}


class TypeSchemas(Generator):  # type: ignore[misc]
    """pydantic's generator with our own methods before its own, see `generator`."""

    is_closed = True  # objects take no keys but those that their type declares, or says that it takes
    is_msgspec = False

    def build_schema_type_to_method(self) -> dict[Any, Any]:
        """Who describes each kind of core schema."""
        methods: dict[Any, Any] = super().build_schema_type_to_method()
        return methods | {kind: partial(_WRITE[kind], self, methods[kind]) for kind in _WRITE if kind in methods}

    def generate_inner(self, schema: Any) -> Schema:
        """The schema of a core schema, with what its function asks and its format means."""
        is_function = schema["type"] in FUNCTIONS
        if is_function and "metadata" in schema:  # its "ge" is no keyword
            others = {name: value for name, value in schema["metadata"].items() if name != "pydantic_js_updates"}
            schema = {**schema, "metadata": others}
        found: Schema = super().generate_inner(schema)
        pattern = patterns.FORMATS.get(found.get("format", "")) if found.get("type") == "string" else None
        if pattern is not None or schema["type"] == "json":
            found = {name: value for name, value in found.items() if name != "format"}
            if pattern and "pattern" in found:
                found["allOf"] = [{"pattern": found["pattern"]}]
            found |= {"pattern": Whole(pattern)} if pattern else {}
        return _checked(found, schema["function"]["function"]) if is_function else found

    def setting(self, name: str, otherwise: Any) -> Any:
        """A setting of the class that is described."""
        return self._config.config_dict.get(name, otherwise)


Write = Callable[[TypeSchemas, Callable[[Any], Schema], Any], Schema]


def _checked(found: Schema, function: Any) -> Schema:
    """A schema with what a function asks of its values."""
    inner = getattr(function, "func", function)
    name = getattr(inner, "__qualname__", type(inner).__qualname__)
    if hasattr(inner, "asks_code"):
        return _unchecked(found, inner.asks_code) if inner.asks_code else found
    is_known = isinstance(inner, type) or HARMLESS.search(name)
    if not is_known or str(getattr(inner, "__module__", "")).partition(".")[0] not in LIBRARIES:
        return _unchecked(found, "a predicate" if name.endswith("val_func") else f"the validator {name}")
    if name == "forbid_inf_nan_check":
        return {**FINITE, **found}
    if name == "ByteSize._validate":
        return {"anyOf": [_text(patterns.BYTE_SIZE), {"type": "integer", "minimum": 0, "maximum": 2**60}]}
    if name.startswith("Encoded"):
        pattern = patterns.BASE64_TEXT if name.endswith("str") else patterns.BASE64
        return _text(patterns.url_safe(pattern) if "url" in found.get("format", "") else pattern)
    for word, value in getattr(function, "keywords", {}).items():
        if word in ("min_length", "max_length"):
            kinds = [LENGTHS[found["type"]]] if found.get("type") in LENGTHS else LENGTHS.values()
            found = {**found, **{word[:3] + kind: value for kind in kinds}}
        elif word in (*BOUNDS, "multiple_of") and isinstance(value, (int, float, Decimal)):
            found = {"type": "number", **found, BOUNDS.get(word, "multipleOf"): value}
        elif word in (*BOUNDS, "multiple_of", "max_digits", "decimal_places"):
            found = _unchecked(found, f"the bound {word}={value!r}")
    return found


# --- scalars


def _float(own: TypeSchemas, before: Callable[[Any], Schema], schema: Any) -> Schema:
    found = before(schema)
    for word, keyword, to in (("exclusiveMinimum", "minimum", math.inf), ("exclusiveMaximum", "maximum", -math.inf)):
        if word in found:  # a longer numeral may be rounded to the bound
            found[keyword] = math.nextafter(found.pop(word), to)
    is_finite = own.is_msgspec or not schema.get("allow_inf_nan", own.setting("allow_inf_nan", True))
    step = float(found.get("multipleOf", 0))  # pydantic divides with few digits
    most = 1e300 if not step else 1e12 if (step * 2**20).is_integer() else 1e6
    return {"minimum": -most, "maximum": most, **found} if is_finite or most < 1e300 else found


def _decimal(own: TypeSchemas, before: Callable[[Any], Schema], schema: Any) -> Schema:
    bounds, digits, places = bounds_of(schema), schema.get("max_digits"), schema.get("decimal_places")
    divisor = None if schema.get("multiple_of") is None else Decimal(str(schema["multiple_of"]))
    pattern = patterns.decimal(bounds, digits, places, divisor)
    number: Schema = {"type": "number", **FINITE}
    if bounds or (digits, places, divisor) != (None, None, None):  # numbers of few digits are read exactly
        places = min(2, digits or 2) if places is None else places
        most = Decimal(10) ** (10 if digits is None else max(0, digits - places)) - Decimal(10) ** -places
        number |= {"multipleOf": Decimal(10) ** -places, "minimum": -most, "maximum": most}
        asked = [{BOUNDS["lg"[is_above] + "et"[is_strict]]: Decimal(str(at))} for at, is_above, is_strict in bounds]
        number["allOf"] = [{}, *asked, *([] if divisor is None else [{"multipleOf": divisor}])]
    is_small = digits is not None and digits <= (schema.get("decimal_places") or 0)  # then 0 has a digit too many
    return {"anyOf": [*([] if is_small else [number]), *([] if pattern is None else [_text(pattern)])]}


def _fraction(own: TypeSchemas, before: Callable[[Any], Schema], schema: Any) -> Schema:
    bounds = bounds_of(schema)
    return _text(patterns.within(bounds) + patterns.NUMBER if bounds else patterns.RATIO)


def _str(own: TypeSchemas, before: Callable[[Any], Schema], schema: Any) -> Schema:
    found, pattern, asked = before(schema), schema.get("pattern"), []
    if isinstance(pattern, re.Pattern):
        letters = "".join(letter for letter in "ismx" if pattern.flags & re.RegexFlag[letter.upper()])
        found["pattern"] = (f"(?{letters})" if letters else "") + pattern.pattern
    text = found.get("pattern", "")
    if re.search(r"\\s|\(\?\w*m", text):  # what ECMAScript calls a space, or the end of a line
        asked.append({"pattern": r"^[^\r\u2028\u2029\ufeff]*$"})
    if SET_OF_SETS.search(text) and own.setting("regex_engine", "") != "python-re":
        raise GrammarError("a pattern has a set of letters within another one, or --, && or ~~, which are Rust's")
    if schema.get("ascii_only") or re.search(BEYOND_ASCII, text):
        asked.append(ASCII)
    is_stripped = schema.get("strip_whitespace", own.setting("str_strip_whitespace", False))
    if is_stripped and not {"pattern", "minLength"}.isdisjoint(found):
        asked.append({"pattern": patterns.STRIPPED})
    return {**found, "allOf": asked} if asked else found


def _bytes(own: TypeSchemas, before: Callable[[Any], Schema], schema: Any) -> Schema:
    least, most = schema.get("min_length") or 0, schema.get("max_length")
    form = "base64" if own.is_msgspec else own.setting("val_json_bytes", "utf8")
    if form == "utf8":  # a length counts bytes
        return {"type": "string", "minLength": least, **({} if most is None else {**ASCII, "maxLength": most})}
    to, of = (2, 1) if form == "hex" else (4, 3)
    base64 = patterns.BASE64 if own.is_msgspec else patterns.url_safe(patterns.BASE64)
    found = _text(patterns.HEX if form == "hex" else base64, minLength=-(-least // of) * to)
    return found if most is None else {**found, "maxLength": most // of * to}


def _uuid(own: TypeSchemas, before: Callable[[Any], Schema], schema: Any) -> Schema:
    version, digit = schema.get("version"), "[0-9A-Fa-f]"
    middle = f"{digit}{{4}}-{digit}" if version is None else f"{version}{digit}{{3}}-[89ABab]"
    return _text(f"{digit}{{8}}-{digit}{{4}}-{middle}{digit}{{3}}-{digit}{{12}}", format="uuid")


def _url(own: TypeSchemas, before: Callable[[Any], Schema], schema: Any) -> Schema:
    most = schema.get("max_length")
    found = _text(patterns.url(schema.get("allowed_schemes"), schema["type"] == "multi-host-url", most))
    return found if most is None else {**found, "maxLength": most}


def _time(own: TypeSchemas, before: Callable[[Any], Schema], schema: Any) -> Schema:
    """A date, a time, or both."""
    kind, bounds = schema["type"], bounds_of(schema)
    zone = getattr(bounds[0][0], "tzinfo", None) if bounds else None
    texts = [(patterns.in_utc(value), is_above, is_strict) for value, is_above, is_strict in bounds]
    if schema.get("now_op") == "past":  # the day before yesterday is past wherever the value is read
        texts.append(((datetime.now(timezone.utc) - timedelta(days=1)).date().isoformat(), False, True))
    pattern = patterns.fixed_within(texts) + (patterns.DATE if kind != "time" else "")
    if kind != "date":
        pattern += "" if kind == "time" else "T" if own.is_msgspec or bounds else "[T ]"
        pattern += patterns.FULL_CLOCK if own.is_msgspec or bounds else patterns.CLOCK
        pattern += ("Z" if zone else "") if bounds else patterns.OFFSETS.get(schema.get("tz_constraint") or "", "Z")
    found = _text(pattern, **({"format": "date"} if kind == "date" else {}))
    return _unchecked(found, "a day to come") if schema.get("now_op") == "future" else found


def _timedelta(own: TypeSchemas, before: Callable[[Any], Schema], schema: Any) -> Schema:
    bounds = [(at / timedelta(seconds=1), is_above, is_strict) for at, is_above, is_strict in bounds_of(schema)]
    return _text(patterns.span_within(bounds) if bounds else patterns.SPAN if own.is_msgspec else patterns.DURATION)


def _json(own: TypeSchemas, before: Callable[[Any], Schema], schema: Any) -> Schema:
    found, asked = before(schema), list[str]()
    try:
        found["pattern"] = Whole(patterns.json_text(found["contentSchema"], own.definitions, asked))
    except NotRegular:
        raise GrammarError("no pattern holds JSON of that type within a string") from None
    return {**found, UNCHECKED: [*dict.fromkeys(asked)]} if asked else found


def _literal(own: TypeSchemas, before: Callable[[Any], Schema], schema: Any) -> Schema:
    expected = [value for value in schema["expected"] if isinstance(value, (str, int)) or value is None]
    return before({**schema, "expected": expected}) if expected else _refused(own, before, schema)


def _refused(own: TypeSchemas, before: Callable[[Any], Schema], schema: Any) -> Schema:
    return own.handle_invalid_for_json_schema(schema, "JSON has no form for its values")  # type: ignore[no-any-return]


# --- containers


def _dict(own: TypeSchemas, before: Callable[[Any], Schema], schema: Any) -> Schema:
    found = {name: value for name, value in before(schema).items() if name != "patternProperties"}
    found["additionalProperties"] = own.generate_inner(schema["values_schema"]) if "values_schema" in schema else True
    keys = _key(own, own.generate_inner(schema["keys_schema"])) if "keys_schema" in schema else {}
    if "keys_schema" in schema and found.get("minProperties", 0) > 1:
        _distinct(own, keys, {**schema["keys_schema"], "type": schema["keys_schema"]["type"].replace("float", "text")})
    return {**found, "propertyNames": keys} if keys else found


def _key(own: TypeSchemas, found: Schema) -> Schema:
    """Texts that are read as a key."""
    if "$ref" in found:
        found = own.definitions.get(found["$ref"].rpartition("/")[2], found)
    if "const" in found or "enum" in found:
        return {"enum": [value for value in found.get("enum", [found.get("const")]) if isinstance(value, str)]}
    if "anyOf" in found:
        kinds = [one for one in found["anyOf"] if one.get("type") != "null"]
        texts = [_key(own, one) for one in kinds if one.get("type") == "string"] or [_key(own, kinds[0])]
        return {"anyOf": texts} if len(texts) > 1 else texts[0]
    kind, within = found.get("type"), patterns.within(bounds_of(found, patterns.LIMITS))
    if kind in ("integer", "number") and "multipleOf" not in found:
        plain = patterns.NUMBER if within else patterns.FLOAT
        return _text(within + (patterns.INTEGER if kind == "integer" else plain))
    if kind == "boolean":
        return {"enum": ["true", "false"]}
    if isinstance(kind, str) and kind != "string":
        raise GrammarError("no text is read as a key of the type of the keys")
    return {name: value for name, value in found.items() if name not in ("title", "type")} if kind else {}


def _set(own: TypeSchemas, before: Callable[[Any], Schema], schema: Any) -> Schema:
    found = before(schema)
    if found.get("minItems", 0) < 2:
        if found["items"].get("type") in ("array", "object"):
            del found["uniqueItems"]  # looking for equal ones is slow, and they may come
        return {**found, "items": found["items"] or {"type": list(SCALARS)}}
    return {**found, "items": _distinct(own, found["items"], schema["items_schema"])}


def _distinct(own: TypeSchemas, found: Schema, schema: Any) -> Schema:
    """Documents that differ where the values do."""
    kind, few = schema["type"], {"multipleOf": Decimal("1e-6"), "minimum": -(10**9), "maximum": 10**9}
    if kind == "literal":
        return {"enum": list(dict.fromkeys(schema["expected"]))}
    if kind in ("float", "any"):
        return {"allOf": [found or {"type": ["string", "number", "null"]}, few]}
    moves = [own.setting(f"str_{one}", False) for one in MOVES] + [schema.get(one) for one in MOVES]
    if kind not in ("int", "bool", "date", "enum", "str") or (kind == "str" and any(moves)):
        raise GrammarError("two or more values are asked for, of a type whose equal values may differ as text")
    return found


def _chain(own: TypeSchemas, before: Callable[[Any], Schema], schema: Any) -> Schema:
    found, others = own.generate_inner(schema["steps"][0]), schema["steps"][1:]
    if any(getattr(step.get("cls"), "__name__", "") == "Hashable" for step in others):
        return {**found, "type": list(SCALARS)}
    return {"allOf": [found, *(own.generate_inner(step) for step in others if step["type"] != "is-instance")]}


def _class(own: TypeSchemas, before: Callable[[Any], Schema], schema: Any) -> Schema:
    """A model, dataclass or `TypedDict`."""
    found, cls = before(schema), schema.get("cls")
    after = getattr(cls, "__post_init__" if schema["type"] == "dataclass" else schema.get("post_init") or "", None)
    if schema.get("custom_init"):
        found = _unchecked(found, f"{cls.__name__}.__init__")
    if after is not None and not after.__module__.startswith("pydantic."):
        found = _unchecked(found, after.__qualname__)
    if own.is_closed and "properties" in found:
        found.setdefault("additionalProperties", False)
    return found


def _fields(own: TypeSchemas, before: Callable[[Any], Schema], schema: Any) -> Schema:
    found = before(schema)
    by_name = own.setting("populate_by_name", False) or own.setting("validate_by_name", False)
    for name, field in schema["fields"].items():
        alias = field.get("validation_alias")
        if isinstance(alias, list) and not by_name:
            paths = alias if isinstance(alias[0], list) else [alias]
            if all(len(path) > 1 for path in paths):
                _move(found, name, paths[0])
    return found


def _move(found: Schema, name: str, path: list[Any]) -> None:
    """Put a property where its path leads: to a member of an object, or an item of an array."""
    member, here = found["properties"].pop(name), found
    is_required = name in found.get("required", ())
    if is_required:
        found["required"].remove(name)
    for key in path:
        here["type"] = "object" if isinstance(key, str) else "array"
        if isinstance(key, str):
            below = here.setdefault("properties", {}).setdefault(key, {})
            here["required"] = sorted({*here.get("required", ()), *([key] if is_required else [])})
        else:
            items = here.setdefault("prefixItems", [])
            items += [{} for _ in range(key + 1 - len(items))]
            here["minItems"] = max(here.get("minItems", 0), key + 1 if is_required else 0)
            below = items[key]
        here = below
    here |= member


def _tagged(own: TypeSchemas, before: Callable[[Any], Schema], schema: Any) -> Schema:
    found, tag = before(schema), schema["discriminator"]
    if callable(tag):
        return _unchecked(found, f"the discriminator {getattr(tag, '__qualname__', tag)}")
    names = [tag] if isinstance(tag, str) else [path[0] for path in tag if isinstance(path, list) and len(path) == 1]
    if names:
        name = found.setdefault("discriminator", {"propertyName": names[0]})["propertyName"]
        # the tag is required in each of them: then many are told apart at a glance
        found["oneOf"] = [{**one, "required": sorted({*one.get("required", ()), name})} for one in found["oneOf"]]
    return found


_WRITE: dict[str, Write] = {
    "float": _float, "decimal": _decimal, "fraction": _fraction, "str": _str, "bytes": _bytes, "uuid": _uuid,
    "complex": lambda own, before, schema: _text(patterns.COMPLEX), "url": _url, "multi-host-url": _url,
    "date": _time, "time": _time, "datetime": _time, "timedelta": _timedelta, "json": _json, "literal": _literal,
    "dict": _dict, "frozendict": _dict, "ordered-dict": _dict, "counter": _dict, "set": _set, "frozenset": _set,
    "is-subclass": _refused, "chain": _chain, "model": _class, "dataclass": _class,
    "typed-dict": _class, "model-fields": _fields, "tagged-union": _tagged,
    "dataclass-args": lambda own, before, schema: before({**schema, "fields": [
        field for field in schema["fields"] if field.get("init", True) or own.setting("extra", "") != "forbid"]}),
}  # fmt: skip
