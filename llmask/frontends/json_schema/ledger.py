"""The ledger: what became of every keyword of a schema.

Made when asked for, by two walks over the schema, so compiling pays nothing for it. The first follows what describes
documents: keywords that apply schemas, and references. The second lists every keyword in the order written; a schema
that the first walk did not reach describes nothing, such as a definition that nothing refers to.

    enforced                 a document is allowed exactly when it fulfils the keyword
    enforced: ...            the same for the values; of their spellings and orders, one that the reason names; and
                             whether an object takes keys that its schema does not mention
    annotation, annotation: ...   the keyword asks nothing of a document, or nothing here
    ignored: ...             the keyword asks something and is not enforced

In: the schema, its references, the warnings. Out: (JSON pointer, keyword, what became of it). Cost: a few
microseconds a keyword.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from decimal import Decimal
from typing import Any, NamedTuple

from llmask.errors import LimitExceeded, LlmaskError

from .meaning.evaluated import SPEAK_OF_OTHERS
from .meaning.place import SchemaAt
from .reading.hints import KNOWN
from .reading.keywords import SCHEMAS_IN_LIST, SCHEMAS_IN_MAP, SCHEMAS_IN_VALUE, Shape
from .reading.options import LedgerEntry, SchemaOptions
from .reading.pointers import ROOT, Path, pointer
from .reading.references import References

ENFORCED, ANNOTATION, IGNORED = "enforced", "annotation", "ignored"
# Keywords that apply schemas: one or a list (or lists of names, which are no schemas), or an object of them.
APPLY = (SCHEMAS_IN_VALUE | SCHEMAS_IN_LIST) - {"contentSchema"}
DEFINITIONS = ("$defs", "definitions")
# Where one of these is not enforced, its schemas still are, as if it were `anyOf`.
STILL_UNIONS = ("oneOf",)
# What means something only beside another keyword.
COMPANIONS = {"then": "if", "else": "if", "minContains": "contains", "maxContains": "contains"}
NAMES = ("$schema", "$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$vocabulary")
DESCRIPTIONS = KNOWN.difference(NAMES, ("nullable",))
PLAIN = "numbers are written without exponent"
SCIENTIFIC = "numbers have an exponent only from 1e16 on and below 1e-4"
CLOSED = "no other keys (closed), but for what another schema of the same place says of them"
OPEN = "it asks nothing of other keys (see the option closed)"
ALONE = 'it tells "unevaluated..." what is evaluated, and asks nothing: there is no "then" or "else" beside it'
LISTS = ("const", "enum")
NUMERIC = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")


def ledger_of(
    schema: Any, formats: Container[str], warnings: dict[str, str], references: References, options: SchemaOptions
) -> list[LedgerEntry]:
    """Every keyword of `schema` and of the schemas in it, in the order written.

    Parameters
    ----------
    schema : the schema.
    formats : names of those that are asserted.
    warnings : what is not enforced: JSON pointer of the keyword to a sentence.
    references : what its references name, and the drafts of the schemas.
    options : how it was compiled.

    Raises
    ------
    LimitExceeded
        When the schema, written out as text, has more keywords than `limits.max_schema_keywords`.
    """
    return _Ledger(formats, warnings, references, options, set()).entries_of(schema)


class _Ledger(NamedTuple):
    formats: Container[str]
    warnings: dict[str, str]
    references: References
    options: SchemaOptions
    describing: set[int]  # ids of the schemas that describe documents

    def entries_of(self, schema: Any) -> list[LedgerEntry]:
        read = self.references.root
        entries: list[LedgerEntry] = []
        listed: set[str] = set()  # pointers, as one object may be in several places
        for place in [(read, ROOT), *self._reach(read)]:  # references may lead to what is no schema by itself
            self._list(*place, entries, listed)
        if read is schema:
            return entries
        fates = {entry[:2]: entry for entry in entries}
        whole: list[LedgerEntry] = []
        self._list(schema, ROOT, whole, set())
        left_out = f"{ANNOTATION}: the meta-schema leaves its vocabulary out"
        return [fates.pop((at, keyword), (at, keyword, left_out)) for at, keyword, _ in whole] + [*fates.values()]

    def _reach(self, schema: Any) -> list[SchemaAt]:
        """The schemas that describe documents."""
        reached: list[SchemaAt] = []
        anchors: dict[str, list[SchemaAt]] | None = None
        waiting: list[SchemaAt] = [(schema, ROOT)]
        while waiting:
            here, path = waiting.pop()
            if type(here) is not dict or id(here) in self.describing:
                continue
            self.describing.add(id(here))
            reached.append((here, path))
            used = self._used(here, path)
            for keyword, value in here.items():
                if keyword not in used or keyword in DEFINITIONS:
                    continue
                if keyword in STILL_UNIONS or self._warning(keyword, path) is None:
                    waiting += _schemas_in(keyword, value, path)
                if keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
                    waiting += self._named(value, path)
                if keyword in ("$dynamicRef", "$recursiveRef"):
                    anchors = _anchors(schema) if anchors is None else anchors
                    waiting += anchors.get(value.rpartition("#")[2], ())
        return reached

    def _named(self, reference: Any, path: Path) -> list[SchemaAt]:
        try:
            return [self.references.resolve(reference, path)]
        except LlmaskError:  # a schema with such a reference is refused where it describes documents
            return []

    def _used(self, here: dict[str, Any], path: Path) -> set[str]:
        """Keywords of a schema that its draft gives a meaning."""
        used = {check[0] for check in Shape(tuple(here), self.references.draft_at(here, path)).checks}
        if type(here.get("items")) is not list:
            used.discard("additionalItems")
        return used - {keyword for keyword, partner in COMPANIONS.items() if partner not in used}

    def _warning(self, keyword: str, path: Path) -> str | None:
        """Why a keyword is not enforced, or None."""
        if not self.warnings:
            return None
        for asked in (keyword, COMPANIONS.get(keyword, keyword)):
            warning = self.warnings.get(pointer(path, asked))
            if warning is not None:
                return warning.partition("is not enforced: ")[2]
        return None

    def _list(self, schema: Any, at: Path, entries: list[LedgerEntry], listed: set[str]) -> None:
        limits = self.options.limits
        waiting: list[tuple[Any, Path, str, int]] = [(schema, at, "", 0)]
        while waiting:
            here, path, outside, depth = waiting.pop()
            if type(here) is not dict or pointer(path) in listed:
                continue
            listed.add(pointer(path))
            used = self._used(here, path)
            if id(here) in self.describing:
                outside = ""
            elif not outside:
                outside = f"{ANNOTATION}: nothing refers to it"
            below: list[tuple[Any, Path, str, int]] = []
            for keyword, value in here.items():
                fate = self._fate(keyword, value, here, path, used)
                if outside and not fate.startswith(ANNOTATION):
                    fate = outside
                entries.append((pointer(path), keyword, fate))
                inherited = outside
                if keyword not in used and not inherited:
                    inherited = f'{ANNOTATION}: it is within "{keyword}", which means nothing there'
                elif fate.startswith(IGNORED) and not inherited and keyword not in STILL_UNIONS:
                    inherited = f'{IGNORED}: it is within "{keyword}", which is not enforced'
                found = _schemas_in(keyword, value, path)
                below += [(member, place, inherited, depth + 1) for member, place in found]
            if len(entries) > limits.max_schema_keywords or depth > limits.max_schema_depth:
                raise LimitExceeded(
                    "the ledger of the schema has more entries than limits.max_schema_keywords, or is nested deeper "
                    "than limits.max_schema_depth",
                    pointer(at),
                    "Schemas that stand in many places, or in themselves, are listed in each; refer to them by $ref.",
                )
            waiting.extend(reversed(below))

    def _fate(self, keyword: str, value: Any, here: dict[str, Any], path: Path, used: set[str]) -> str:
        warning = self._warning(keyword, path)
        if warning is not None:
            return f"{IGNORED}: {warning}"
        if keyword in NAMES:
            return f"{ANNOTATION}: it names the schema or its language"
        if keyword in DESCRIPTIONS:
            return ANNOTATION
        if keyword == "nullable" and self.options.dialect is not None and "$ref" not in used:
            return f'{ANNOTATION}: there is no "type" beside it' if "type" not in here else ENFORCED
        if keyword not in used:
            if keyword in COMPANIONS and COMPANIONS[keyword] not in here:
                return f'{ANNOTATION}: there is no "{COMPANIONS[keyword]}" beside it'
            if keyword == "additionalItems" and "$ref" not in used:
                return f'{ANNOTATION}: "items" is no list'
            if "$ref" in used:
                return f'{ANNOTATION}: the draft ignores what is beside "$ref"'
            return f"{ANNOTATION}: unknown keyword"
        if keyword == "format" and not (type(value) is str and value in self.formats):
            return f"{ANNOTATION}: the format is not asserted"
        if keyword == "if" and "then" not in used and "else" not in used:
            return f"{ENFORCED}: {ALONE}"
        form = self._form(keyword, value, here)
        return f"{ENFORCED}: {form}" if form else ENFORCED

    def _form(self, keyword: str, value: Any, here: dict[str, Any]) -> str:
        """The form in which values are written, where it is narrower than the keyword."""
        options = self.options
        if keyword in NUMERIC:
            return PLAIN if options.numbers == "plain" or _has_integers(here) else SCIENTIFIC
        if keyword == "type" and _has_integers(here) and not any(bound in here for bound in NUMERIC):
            return "integers are written without exponent"
        if keyword in LISTS:
            return _form_of_values([value] if keyword == "const" else value, options)
        if keyword == "properties":
            forms = []
            if options.property_order == "schema" and len(value) > 1:
                forms.append("properties are written in this order")
            if not any(word in here for word in (*SPEAK_OF_OTHERS, *LISTS)):
                forms.append(CLOSED if options.closed else OPEN)
            return "; ".join(forms)
        if (
            keyword == "required"
            and options.property_order == "schema"
            and not set(value) <= {*here.get("properties", ())}
        ):
            return "names without a schema beside it come after the declared ones"
        if keyword in ("additionalProperties", "patternProperties") and not options.unique_keys:
            is_open = value is not False if keyword == "additionalProperties" else bool(value)
            return "keys without a name of their own may be repeated" if is_open else ""
        return ""


def _has_integers(schema: dict[str, Any]) -> bool:
    """Whether its numbers are integers that it does not list."""
    named = schema.get("type")
    types = named if type(named) is list else [named]
    return "integer" in types and "number" not in types and not any(keyword in schema for keyword in LISTS)


def _form_of_values(values: list[Any], options: SchemaOptions) -> str:
    forms = []
    if options.literals == "json" and _hold(
        values, lambda value: type(value) is str or (type(value) is dict and value)
    ):
        forms.append("strings are spelled as json.dumps(ensure_ascii=False) does")
    if options.property_order == "schema" and _hold(values, lambda value: type(value) is dict and len(value) > 1):
        forms.append("keys of objects are written in this order")
    if _hold(values, lambda value: type(value) in (int, float, Decimal)):
        forms.append(PLAIN if options.numbers == "plain" else SCIENTIFIC)
    return "; ".join(forms)


def _hold(values: list[Any], is_wanted: Callable[[Any], Any]) -> bool:
    """Whether some value, or one within it, is as wanted."""
    waiting = list(values)
    while waiting:
        here = waiting.pop()
        if is_wanted(here):
            return True
        if type(here) is dict:
            waiting += here.values()
        elif type(here) is list:
            waiting += here
    return False


def _schemas_in(keyword: str, value: Any, path: Path) -> Iterator[SchemaAt]:
    """Schemas under a keyword, in the order written."""
    if keyword in APPLY:
        if type(value) is list:
            yield from ((member, (path, keyword, index)) for index, member in enumerate(value))
        else:
            yield value, (path, keyword)
    elif keyword in SCHEMAS_IN_MAP and type(value) is dict:
        yield from ((member, (path, keyword, name)) for name, member in value.items())


def _anchors(schema: Any) -> dict[str, list[SchemaAt]]:
    """Schemas with a dynamic anchor by its name; "" is the name of `$recursiveAnchor`."""
    found: dict[str, list[SchemaAt]] = {}
    waiting: list[SchemaAt] = [(schema, ROOT)]
    seen: set[int] = set()
    while waiting:
        here, path = waiting.pop()
        if type(here) is list:
            waiting += [(member, (path, index)) for index, member in enumerate(here)]
        elif type(here) is dict and id(here) not in seen:
            seen.add(id(here))
            waiting += [(member, (path, key)) for key, member in here.items()]
            if type(here.get("$dynamicAnchor")) is str:
                found.setdefault(here["$dynamicAnchor"], []).append((here, path))
            if here.get("$recursiveAnchor") is True:
                found.setdefault("", []).append((here, path))
    return found
