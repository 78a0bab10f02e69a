r"""What an engine forbids by a rule of its own: order, white space, spelling, one end, one token of several.

A witness is valid and an engine forbids it. Does the engine take the same value in another form? The form that it takes
names the rule. Forms change what the token touches by one feature at a time; what follows after the token is always
written as the documents are (`, ` and `: `, no needless escapes). Where it takes no form of the value it is wrong.

    white space   {"a" :1}    -> {"a": 1}          numbers   1.0, 1e2, -0     -> 1, 100, 0
    escapes       "\u0041\/"  -> "A/"              order     {"b": 1, "a": 2} -> {"a": 2, "b": 1}

In: an engine and a grammar of it, a witness. Out: a rule's name or None. Cost: 0.1 to 1 ms a form; of orders 10 ms.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple, cast

from bench.duel.complete import dumps
from bench.duel.partial import NotJson, number, whole
from bench.engines.outlines_core import State
from bench.orders import accepted_in_another_order

WHITE_SPACE, ESCAPES, NUMBERS, SPELLINGS = "white space", "escapes", "spelling of numbers", "several spellings"
ORDER, REPEATED = "order of keys", "repeated keys"
ONE_END, ONE_TOKEN = "one end of sequence", "canonical token of forced bytes"
HALF_PAIR, DELETE = "half of a surrogate pair", "U+007F without escape"
ALL = (WHITE_SPACE, ESCAPES, NUMBERS)
MOST_STEPS, MOST_STEPS_OF_SCHEMA = 5_000, 500_000  # of the search for an order that is taken
UNKNOWN = "unknown"  # no rule: that search was given up

LEXEME = re.compile(
    r'(?P<blank>[ \t\r\n]+)|(?P<string>"(?:[^"\\]|\\.)*")|(?P<number>-?[0-9][0-9.eE+-]*)'
    r"|(?P<sign>[\[\]{}:,])|(?P<word>[a-z]+)"
)


class Lexeme(NamedTuple):
    kind: str
    text: str
    end: int


def lexemes(document: str) -> list[Lexeme]:
    """The lexemes of a JSON text, white space among them."""
    return [Lexeme(found.lastgroup or "", found[0], found.end()) for found in LEXEME.finditer(document)]


def written(document: bytes, start: int, features: tuple[str, ...]) -> bytes:
    """The document in another form: these features as documents have them, and from `start` (a byte) on all."""
    parts: list[str] = []
    start = len(document[:start].decode(errors="ignore"))
    for kind, text, end in lexemes(document.decode()):
        every = end - len(text) >= start
        if kind == "blank":
            kept = text[: max(0, len(text) - max(0, end - start))]
            parts.append("" if WHITE_SPACE in features else kept)
        elif kind == "string" and (every or ESCAPES in features):
            parts.append(text if _has_half(text) else dumps(json.loads(text)))
        elif kind == "number" and (every or NUMBERS in features):
            parts.append(dumps(number(text)))
        else:
            parts.append(text)
        if kind == "sign" and text in ",:" and (end >= start or WHITE_SPACE in features):
            parts.append(" ")
    return "".join(parts).encode("utf-8", "surrogatepass")


def _has_half(text: str) -> bool:
    return re.search("[\ud800-\udfff]", json.loads(text)) is not None


def takes(engine: Any, sequence: Any, rest: bytes) -> bool:
    """Whether the engine accepts this rest of a document."""
    try:
        after = engine.advance(sequence, rest.decode())
    except (UnicodeDecodeError, UnicodeEncodeError):
        return False
    return after is not None and engine.is_accepting(after)


class Rules:
    """The rules of one engine for one grammar.

    Parameters
    ----------
    engine, grammar : that forbade the token.
    orders : keys that each object of the schema declares, in its order.
    """

    def __init__(self, engine: Any, grammar: Any, orders: list[list[str]]) -> None:
        self.engine, self.grammar = engine, grammar
        self.orders = [{name: place for place, name in enumerate(names)} for names in orders]
        self.n_steps = MOST_STEPS_OF_SCHEMA
        self._orders: dict[str, str | None] = {}
        self._known: dict[tuple[int, str], Any] = {}

    def excuse(
        self,
        witness: bytes,
        end: int,
        text: bytes = b"",
        sequence: Any = None,
        begin: int | None = None,
        may_be_order: bool = True,
    ) -> str | None:
        """The rule by which a witness is forbidden whose token ends at byte `end`; None where there is none.

        `sequence` is the engine after `text`, with which the witness begins, by default at the beginning; `begin` the
        byte of `text` where its open lexeme begins, where it has one. Orders besides the schema's are tried only if
        `may_be_order`: not where the token stays inside one value, whose key the engine has taken.
        """
        kept = _kept(text, len(text) if begin is None else begin)

        def form(features: tuple[str, ...]) -> bytes:
            return witness[:kept] + written(witness[kept:], end - kept, features)

        def accepted(document: bytes) -> bool:
            if sequence is not None and document.startswith(text):
                return takes(self.engine, sequence, document[len(text) :])
            return takes(self.engine, self.engine.start(self.grammar), document)

        if accepted(form(())):
            return ONE_TOKEN
        for features in ((WHITE_SPACE,), (ESCAPES,), (NUMBERS,), ALL):
            if accepted(form(features)):
                return features[0] if len(features) == 1 else SPELLINGS
        if any(lexeme.kind == "string" and _has_half(lexeme.text) for lexeme in lexemes(witness.decode())):
            return HALF_PAIR
        if b"\x7f" in witness and accepted(_without_delete(form(ALL))):
            return DELETE
        return self._other_order(witness, may_be_order)

    def _other_order(self, witness: bytes, may_be_order: bool) -> str | None:
        """ORDER, UNKNOWN where the search for an order was given up, or None."""
        try:
            value = whole(witness)
        except NotJson:
            return None
        key = f"{may_be_order} {dumps(value)}"
        if key not in self._orders:
            start = self.engine.start(self.grammar)
            in_order = dumps(self._sorted(value)).encode("utf-8", "replace")
            search = _Searched(self.engine, min(MOST_STEPS, self.n_steps), self._known)
            if (
                takes(self.engine, start, in_order)
                or takes(self.engine, start, _without_delete(in_order))
                or (may_be_order and accepted_in_another_order(cast("Any", search), start, json.loads(witness)))
            ):
                self._orders[key] = ORDER
            else:
                self._orders[key] = None if search.n_steps >= 0 else UNKNOWN
            self.n_steps = max(0, self.n_steps - search.n_asked)
        return self._orders[key]

    def _sorted(self, value: Any) -> Any:
        """The value with its keys in the schema's order, others after them."""
        if isinstance(value, list):
            return [self._sorted(item) for item in value]
        if not isinstance(value, dict):
            return value
        order = max(self.orders, key=lambda one: sum(name in one for name in value), default={})
        names = sorted(value, key=lambda name: order.get(name, len(order)))
        return {name: self._sorted(value[name]) for name in names}


def _kept(text: bytes, begin: int) -> int:
    """Bytes of a text that no form changes: up to the open lexeme, or the sign that asks for white space after it."""
    if begin < len(text):
        return begin
    n_bytes = len(text.rstrip(b" \t\r\n"))
    return n_bytes - 1 if text[n_bytes - 1 : n_bytes] in (b",", b":") else n_bytes


class _Searched:
    """An engine as the search for orders asks it: so many steps, U+007F always escaped.

    What is `known` of an engine whose sequences are numbers takes no step: documents of a place differ in one member.
    """

    def __init__(self, engine: Any, n_steps: int, known: dict[tuple[int, str], Any]) -> None:
        self.engine, self.whitespace, self.is_accepting = engine, engine.whitespace, engine.is_accepting
        self.n_steps, self.n_asked, self.known = n_steps, 0, known

    def advance(self, sequence: Any, text: str) -> Any:
        """The sequence after some text, or None, also where no steps are left."""
        key = (sequence.state, text) if isinstance(sequence, State) else None
        if key is not None and key in self.known:
            return self.known[key]
        self.n_steps -= 1
        if self.n_steps < 0:
            return None
        self.n_asked += 1
        after = self.engine.advance(sequence, text.replace("\x7f", "\\u007f"))
        if key is not None:
            self.known[key] = after
        return after


def _without_delete(form: bytes) -> bytes:
    return form.replace(b"\x7f", b"\\u007f")
