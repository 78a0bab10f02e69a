"""Masks beside llguidance's, bit by bit: each bit that differs must have a known cause.

The same schema, the same white space (JSON's, in runs of at most 64 bytes), the Llama-3 vocabulary: at every position
of the valid documents of MaskBench the two masks are compared bit by bit. A bit that differs must fall under a cause of
`CAUSES`: a predicate that decides from the token's bytes, the text so far and what the engines answer when asked
directly, together with the side it is on. Schemas that declare an old draft reach llguidance as that draft reads them
(`as_declared`), because it enforces keywords of all drafts: drafts 4 to 7 ignore what is beside `$ref`, and a keyword
that is younger than the draft is an annotation.

In: schemas. Out: counts a cause, and examples of bits under none. Cost: 0.1 s a schema.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np

import llmask
from bench.data import LLAMA3_EOS, MASKBENCH, Row, llama3_vocabulary, maskbench_rows
from bench.engines.base import CompileError
from bench.engines.llguidance import Llguidance
from bench.engines.llmask import Llmask
from tests.long.harness import Skipped, Tally, needed
from tests.long.json_scan import Escape, Scan

SOLIDUS = "escaped solidus"
LLMASK, LLGUIDANCE = "llmask", "llguidance"  # the only one of the two that allows the token


class Position:
    """One position of one document, with both engines standing there."""

    def __init__(self, engines: Comparison, schema: Any, text: bytes, ours: Any, theirs: Any) -> None:
        self.engines = engines
        self.schema = schema
        self.text = text
        self.ours = ours
        self.theirs = theirs
        self._refuses_escapes: dict[bytes, bool] = {}

    @cached_property
    def scan(self) -> Scan:
        return Scan().read(self.text)

    def they_take(self, data: bytes) -> bool:
        """Whether llguidance accepts these bytes here, token by token however they are cut."""
        tokens = self.engines.theirs.tokenizer.tokenize_bytes(data)
        return bool(self.theirs.validate_tokens(tokens) == len(tokens))

    def takes_no_unicode_escape(self, head: bytes) -> bool:
        """Whether llguidance refuses the escape of every printable ASCII character after `head`."""
        if head not in self._refuses_escapes:
            self._refuses_escapes[head] = not any(self.they_take(head + b"\\u%04x" % point) for point in range(32, 127))
        return self._refuses_escapes[head]

    @cached_property
    def forced(self) -> bytes:
        """The bytes that llguidance says must come next."""
        forced: bytes = self.theirs.compute_ff_bytes()
        return forced


class Difference:
    """One bit: a token that only one engine allows."""

    def __init__(self, position: Position, token: int, data: bytes, side: str) -> None:
        self.position = position
        self.token = token
        self.data = data
        self.side = side

    @cached_property
    def after(self) -> Scan:
        """The text scanned through the token's last byte."""
        return self.position.scan.copy().read(self.data)

    @cached_property
    def touched_escapes(self) -> list[Escape]:
        """Escapes, perhaps unfinished, that the token writes at least a byte of."""
        start = len(self.position.text)
        return [escape for escape in self.after.escapes if escape.start + len(escape.data) > start]

    @cached_property
    def string(self) -> bytes:
        """The last string that the token reaches, from its opening quote as far as it is written."""
        return (self.position.text + self.data)[max(self.after.string_start, 0) :]

    @cached_property
    def is_in_constrained_string(self) -> bool:
        """Whether that string has a pattern or format: llguidance then takes no escapes of plain characters."""
        head = self.data[: max(0, self.after.string_start + 1 - len(self.position.text))]
        return self.position.takes_no_unicode_escape(head)

    def __str__(self) -> str:
        return f"only {self.side}: {self.data!r} after {self.position.text[-60:]!r}"


def is_forced_but_not_canonical(difference: Difference) -> bool:
    """When it knows the next bytes, llguidance lists only the tokenizer's own token, yet takes this one if asked."""
    forced, data = difference.position.forced, difference.data
    return (
        difference.side == LLMASK
        and forced != b""
        and (forced.startswith(data) or data.startswith(forced))
        and difference.position.theirs.validate_tokens([difference.token]) == 1
    )


def is_another_end(difference: Difference) -> bool:
    """Llama 3 has several end-of-sequence ids; llguidance was given one. Both engines may end here."""
    engines = difference.position.engines
    return (
        difference.side == LLMASK
        and difference.token in engines.our_eos - engines.their_eos
        and difference.position.theirs.is_accepting()
    )


def is_negative_zero(difference: Difference) -> bool:
    """A number whose minimum is 0 may be written -0; after the sign llmask goes on with 0 alone."""
    if difference.side != LLMASK or difference.after.is_in_string:
        return False
    text = difference.position.text + difference.data
    after = difference.position.ours.fork()
    after.accept_token(difference.token)
    return re.search(rb"(^|[\s:,\[])-$", text) is not None and after.forced_bytes()[:1] == b"0"


def is_escape_in_constrained_string(difference: Difference) -> bool:
    r"""In strings with a pattern or format llguidance has one spelling for each character and takes no ``\uXXXX``."""
    if difference.side != LLMASK:
        return False
    position = difference.position
    spelled = [escape for escape in difference.touched_escapes if escape.data[1:2] in (b"", b"u")]
    if not spelled:
        return False
    head = difference.data[: max(0, spelled[0].start - len(position.text))]
    return position.takes_no_unicode_escape(head)


def is_escaped_solidus(difference: Difference) -> bool:
    r"""The token writes ``\/``, which RFC 8259 has and llguidance does not know."""
    return difference.side == LLMASK and any(escape.data == b"\\/" for escape in difference.touched_escapes)


def is_leap_second(difference: Difference) -> bool:
    """RFC 3339 has second 60 only where a leap second may be; llguidance takes it at any time of any day."""
    if difference.side != LLGUIDANCE or re.search(rb"\d\d:\d\d:6", difference.string) is None:
        return False
    return re.search(rb"(?:^|06-30T|12-31T)23:59:6", difference.string.lstrip(b'"')) is None


def is_zero_behind_the_last_decimal(difference: Difference) -> bool:
    """With `multipleOf` llguidance counts decimals; 1.50 has the value of 1.5, so llmask takes further zeros."""
    if difference.side != LLMASK or difference.after.is_in_string:
        return False
    position, data = difference.position, difference.data
    if re.search(rb"\d\.\d*0+$", position.text + data):
        kept = data.rstrip(b"0")
        return kept.endswith(b".") or not kept or position.they_take(kept)
    after = position.ours.fork()
    after.accept_token(difference.token)
    return data.endswith(b".") and after.forced_bytes()[:1] == b"0"


def is_exponent(difference: Difference) -> bool:
    """Beside bounds and divisors llmask takes exponents where `json.dumps` writes one, 1e-05; llguidance takes none."""
    if difference.side != LLMASK or difference.after.is_in_string:
        return False
    start, text = len(difference.position.text), difference.position.text + difference.data
    if any(found.end() > start for found in re.finditer(rb"-?[1-9](?:\.\d+)?[eE][+-]?\d*", text)):
        return True
    if re.search(rb"(?:^|[\s:,\[])-?[1-9](?:\.\d*)?$", text) is None:
        return False
    after = difference.position.ours.fork()
    after.accept_token(difference.token)
    digit = b"0" if text.endswith(b".") else b""
    return any(_takes(after, digit + exponent) for exponent in (b"e-05", b"e+16", b"e-300", b"e+300"))


def _takes(matcher: Any, data: bytes) -> bool:
    """Whether these bytes may come next."""
    try:
        matcher.fork().accept_bytes(data)
    except llmask.TokenRejected:
        return False
    return True


def is_blank_of_ecma_only(difference: Difference) -> bool:
    r"""In patterns ``\s`` is ECMA 262's: with U+FEFF and without U+0085, the other way round than in llguidance."""
    if not difference.is_in_constrained_string:
        return False
    string, n_bytes = difference.string, len(difference.data)
    has_mark = b"\xef\xbb\xbf" in string[-n_bytes - 2 :] or string.endswith((b"\xef", b"\xef\xbb"))
    return has_mark or b"\xc2\x85" in string[-n_bytes - 1 :]


def is_line_end_of_ecma(difference: Difference) -> bool:
    """In patterns a dot is ECMA 262's: it takes no carriage return, U+2028 or U+2029; llguidance's does."""
    if difference.side != LLGUIDANCE or not difference.is_in_constrained_string:
        return False
    ends = difference.string[-len(difference.data) - 2 :]
    is_return = any(escape.data in (b"\\r", b"\\u000d", b"\\u000D") for escape in difference.touched_escapes)
    return is_return or b"\xe2\x80\xa8" in ends or b"\xe2\x80\xa9" in ends


def is_quoted_local_part(difference: Difference) -> bool:
    """RFC 5321 lets the local part of an address be a quoted string; llguidance has no such addresses."""
    return difference.side == LLMASK and difference.string.startswith(b'"\\"') and difference.is_in_constrained_string


def is_long_label(difference: Difference) -> bool:
    """A label of a host name has at most 63 characters (RFC 1034); llguidance does not count."""
    label = re.search(rb"[A-Za-z0-9-]{64,}", difference.string)
    return difference.side == LLGUIDANCE and label is not None and difference.is_in_constrained_string


def is_excluded_by_the_pattern(difference: Difference) -> bool:
    r"""The pattern has a class such as ``[^ "\\]``; llguidance takes ``\"`` and ``\\`` there all the same."""
    if difference.side != LLGUIDANCE or not difference.is_in_constrained_string:
        return False
    classes = " ".join(re.findall(r"\[\^(?:\\.|[^\]\\])*\]", " ".join(patterns(difference.position.schema))))
    written = {escape.data for escape in difference.touched_escapes}
    return (b'\\"' in written and '"' in classes) or (b"\\\\" in written and "\\\\" in classes)


def patterns(schema: Any) -> Iterator[str]:
    """All regular expressions of a schema."""
    if isinstance(schema, dict):
        if isinstance(schema.get("pattern"), str):
            yield schema["pattern"]
        if isinstance(schema.get("patternProperties"), dict):
            yield from schema["patternProperties"]
        for value in schema.values():
            yield from patterns(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from patterns(value)


def is_leap_day_of_another_year(difference: Difference) -> bool:
    """A date of 29 February in a year that has none; llguidance does not count years."""
    found = re.search(rb"(\d\d\d\d)-02-29", difference.string)
    if difference.side != LLGUIDANCE or found is None:
        return False
    year = int(found[1])
    return year % 4 != 0 or (year % 100 == 0 and year % 400 != 0)


def is_reserved_label(difference: Difference) -> bool:
    """A label with hyphens at its third and fourth place is reserved (RFC 5890, 2.3.1); llguidance takes it."""
    label = re.search(rb'["@.][A-Za-z0-9-]{2}--[A-Za-z0-9-]*$', difference.string)
    return difference.side == LLGUIDANCE and label is not None and difference.is_in_constrained_string


def is_capital_of_a_later_address(difference: Difference) -> bool:
    """The letter before an address of a later version may be a capital (RFC 3986, 3.2.2; RFC 5234, 2.3)."""
    return difference.side == LLMASK and re.search(rb"://\[V", difference.string) is not None


CAUSES: dict[str, Callable[[Difference], bool]] = {
    "forced bytes, not the canonical token": is_forced_but_not_canonical,
    "another end-of-sequence id": is_another_end,
    "negative zero": is_negative_zero,
    "exponent as Python writes it": is_exponent,
    SOLIDUS: is_escaped_solidus,
    "escape in a string with a pattern or format": is_escape_in_constrained_string,
    "leap second": is_leap_second,
    "zero behind the last decimal": is_zero_behind_the_last_decimal,
    "white space of ECMA 262 in a pattern": is_blank_of_ecma_only,
    "line end of ECMA 262 in a pattern": is_line_end_of_ecma,
    "quoted local part of an address": is_quoted_local_part,
    "quotation mark or backslash that the pattern excludes": is_excluded_by_the_pattern,
    "29 February of another year": is_leap_day_of_another_year,
    "reserved label of a host name": is_reserved_label,
    "label of more than 63 characters": is_long_label,
    "capital V of a later version's address": is_capital_of_a_later_address,
}


class Comparison:
    """Both engines over the same documents."""

    def __init__(self, whitespace: str = "flexible") -> None:
        self.whitespace = whitespace
        self.ours = Llmask(whitespace)
        self.theirs = Llguidance(whitespace, like_llmask=True)
        self.their_eos = {LLAMA3_EOS}
        self.our_eos = {*self.ours.tokenizer.eos_ids}
        self.tokens = llama3_vocabulary().tokens
        self.n_positions = 0
        self.n_identical = 0
        self.n_only_solidus = 0  # positions where nothing but the escaped solidus differs
        self.counts: Counter[str] = Counter()
        self.unexplained: list[tuple[str, str]] = []  # (schema id, difference)

    def compare_row(self, row: Row) -> bool:
        """Compare all valid documents of a schema; False when one engine refuses the schema."""
        try:
            our_grammar, their_grammar = self.ours.compile(row.schema), self.theirs.compile(as_declared(row.schema))
        except CompileError:
            return False
        for instance in row.instances:
            if instance.is_valid:
                ours, theirs = self.ours.start(our_grammar), self.theirs.start(their_grammar)
                self._compare_document(row, instance.token_ids, ours, theirs)
        return True

    def _compare_document(self, row: Row, token_ids: list[int], ours: Any, theirs: Any) -> None:
        text = b""
        for token in [*token_ids, LLAMA3_EOS]:
            self.ours.fill(ours)
            self.theirs.fill(theirs)
            self.n_positions += 1
            if np.array_equal(self.ours.words, self.theirs.words):
                self.n_identical += 1
            else:
                position = Position(self, row.schema, text, ours, theirs)
                causes = {self._explain(row, difference) for difference in self._differences(position)}
                self.n_only_solidus += causes == {SOLIDUS}
            both = self.ours.is_allowed(token) and self.theirs.is_allowed(token)
            if token == LLAMA3_EOS or not both:
                return
            self.ours.accept(ours, token)
            self.theirs.accept(theirs, token)
            text += self.tokens[token]

    def summary(self, n_schemas: int) -> str:
        """Positions and bits in a few lines."""
        lines = [
            f"{n_schemas} schemas, {self.n_positions} positions: {self.n_identical} masks identical, "
            f"{self.n_only_solidus} but for the escaped solidus"
        ]
        return "\n".join(lines + [f"{count:>10}  {cause}" for cause, count in self.counts.most_common()])

    def _differences(self, position: Position) -> Iterator[Difference]:
        ours, theirs = self.ours.words[0].view(np.uint32), self.theirs.words[0].view(np.uint32)
        for side, bits in ((LLMASK, ours & ~theirs), (LLGUIDANCE, theirs & ~ours)):
            for word in np.flatnonzero(bits):
                value = int(bits[word])
                for bit in range(32):
                    if value >> bit & 1:
                        token = int(word) * 32 + bit
                        yield Difference(position, token, self.tokens[token], side)

    def _explain(self, row: Row, difference: Difference) -> str:
        cause = next((cause for cause, holds in CAUSES.items() if holds(difference)), "no cause")
        self.counts[cause] += 1
        if cause == "no cause":
            self.unexplained.append((row.id, str(difference)))
        return cause


def chosen_rows(seed: int = 1) -> list[Row]:
    """All schemas that have a valid document, in an order drawn once."""
    rows = [row for row in maskbench_rows() if any(instance.is_valid for instance in row.instances)]
    random.Random(seed).shuffle(rows)
    return rows


def compare(
    n_schemas: int, seed: int = 1, begin: Callable[[str], object] = lambda name: None
) -> tuple[Comparison, int]:
    """Compare masks for `n_schemas` schemas that both engines accept; the comparison and how many were found.

    begin : called with the name of each schema.
    """
    comparison = Comparison()
    n_compared = 0
    for row in chosen_rows(seed):
        begin(row.id)
        n_compared += comparison.compare_row(row)
        if n_compared == n_schemas:
            break
    return comparison, n_compared


SINCE = {
    "const": 6,
    "contains": 6,
    "propertyNames": 6,
    "if": 7,
    "then": 7,
    "else": 7,
    "dependentRequired": 8,
    "dependentSchemas": 8,
    "unevaluatedItems": 8,
    "unevaluatedProperties": 8,
    "minContains": 8,
    "maxContains": 8,
    "prefixItems": 9,
}
BESIDE_REFERENCES = {"$ref", "$schema", "$id", "id", "definitions", "$defs"}
MAPS_OF_SCHEMAS = ("properties", "patternProperties", "definitions", "$defs", "dependencies")
LISTS_OF_SCHEMAS = ("allOf", "anyOf", "oneOf", "items")
SCHEMAS = ("items", "additionalItems", "additionalProperties", "not", "contains", "propertyNames", "if", "then", "else")


def as_declared(schema: Any) -> Any:
    """The schema without what the draft named by its `$schema` ignores; unchanged when that is not draft 4, 6 or 7."""
    declared = schema.get("$schema") if isinstance(schema, dict) else None
    found = re.search(r"draft-0([467])", declared) if isinstance(declared, str) else None
    return schema if found is None else _reduced(schema, int(found[1]))


def _reduced(schema: Any, draft: int) -> Any:
    if not isinstance(schema, dict):
        return schema
    is_reference = isinstance(schema.get("$ref"), str)
    reduced = {}
    for key, value in schema.items():
        if SINCE.get(key, 0) > draft or (is_reference and key not in BESIDE_REFERENCES):
            continue
        if key in MAPS_OF_SCHEMAS and isinstance(value, dict):
            reduced[key] = {name: _reduced(inner, draft) for name, inner in value.items()}
        elif key in LISTS_OF_SCHEMAS and isinstance(value, list):
            reduced[key] = [_reduced(inner, draft) for inner in value]
        elif key in SCHEMAS:
            reduced[key] = _reduced(value, draft)
        else:
            reduced[key] = value
    return reduced


def run(tally: Tally) -> None:
    """Compare `tally.size` schemas."""
    needed("llguidance")
    needed("tiktoken")
    if not MASKBENCH.exists():
        raise Skipped(f"no shared data at {MASKBENCH}")
    found, tally.done = compare(tally.size, tally.seed, tally.begin)
    tally.sums.update(found.counts)
    tally.sums.update({"positions": found.n_positions, "masks identical": found.n_identical})
    tally.sums["but for the escaped solidus"] = found.n_only_solidus
    for row_id, difference in found.unexplained:
        tally.fault("a bit without a cause", row_id, difference)
