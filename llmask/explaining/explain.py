"""Explains a refusal: where the text is refused, by what, what may come instead.

In: a sequence and what does not continue it. Out: `Explanation`. Cost: 1 to 3 ms; of what is asked for later as much.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np

from .. import debug
from ..arguments import as_integer, shown
from ..errors import LimitExceeded
from ..frontends.json_schema.reading.pointers import pointer
from ..kernels.machine.constants import NO_TOKEN
from ..matching.expected import named_bytes, named_tokens, refused_token
from ..matching.explanation import NOTHING_LATER, Explanation, Later, Reason
from ..matching.json_reader import KEY, NOTHING, STRING
from ..matching.sequence import ALL_TAKEN, Sequence
from ..work import metered
from .refusals import Refusals, Source, relaxed_options
from .values import WHITE_SPACE, Text, with_plain_numbers
from .words import words_for

MOST_TOKENS = 5
NOT_JSON = "the text is no JSON from there on"
SPACE = "there is white space before or after the document"
LONG_SPACE = "there is more white space in a row than any option allows"
CONTROL = "line breaks, tabs and other control characters are written as escapes in a string"
TOO_SHORT = "the document is not complete"
NOT_FOUND = "no keyword was found that refuses it within limits.max_compile_work"
BY_NUMBERS = "numbers that a keyword speaks of are written without exponent"
REPEATED = "the object has the key already"


Found = TypeVar("Found")


class Embedded(NamedTuple):
    """A JSON schema, the text after which its documents begin, nothing where the whole text is one, and their style.

    In other styles than "json" members are elements (frontends/structural_tags/xml_parameters.py).
    """

    begin: bytes
    source: Source
    style: str = "json"


def explanation_of(matcher: Sequence, schemas: list[Embedded], what: Any) -> Explanation:
    """Why a token id, or bytes or a text, cannot come next; see `Matcher.explain`."""
    tokenizer, note, has_ended, is_token = matcher.store.tokenizer, None, False, False
    if isinstance(what, (str, bytes, bytearray, memoryview)):
        data = what.encode("utf-8", "surrogatepass") if isinstance(what, str) else bytes(what)
        is_allowed = matcher.fork().take_bytes(data) == ALL_TAKEN
    else:
        token, is_token = as_integer(what, "a token id"), True
        data = tokenizer.token_bytes(token) if 0 <= token < tokenizer.vocab_size else b""
        is_allowed = matcher.fork().accept(token)
        if token in tokenizer.eos_ids or token in matcher.stop_tokens:
            data, has_ended = b"", True
        elif not data:
            note = refused_token(tokenizer, token)
        elif not is_allowed and matcher.fork().take_bytes(data) == ALL_TAKEN:
            note = "the grammar takes its text, but in other tokens"
    if matcher.has_ended():
        note = "the document has ended"
    elif matcher.rest:
        note = f"the prefix goes on with {shown(matcher.rest)}"
    document = matcher.text()[len(matcher.lead) :]
    if is_allowed or note is not None:
        note = None if is_allowed else note
        return Explanation(tokenizer, len(document), data, None, NOTHING_LATER, is_allowed, note)
    return _explained(matcher, schemas, data, has_ended, document, is_token)


def explanation_of_document(matcher: Sequence, schemas: list[Embedded], data: bytes) -> Explanation:
    """Why bytes are no document; see `CompiledGrammar.explain`. The matcher is at the beginning."""
    begun = matcher.fork()
    if begun.take_bytes(data) == ALL_TAKEN and begun.is_accepting():
        return Explanation(matcher.store.tokenizer, len(data), b"", None, NOTHING_LATER, is_allowed=True)
    return _explained(matcher, schemas, data, True, b"", False)


def _explained(
    matcher: Sequence, schemas: list[Embedded], data: bytes, has_ended: bool, before: bytes, is_token: bool
) -> Explanation:
    """Why bytes, or the end of the document, cannot come next.

    Parameters
    ----------
    matcher : the sequence in the state before them; it is not changed.
    schemas : of the JSON in its texts, if there is any.
    data : the bytes; some of the first ones may be allowed.
    has_ended : nothing comes after them.
    before : the document so far.
    is_token : the bytes are of one token, which other tokens may come instead of.
    """
    sequence = matcher.fork()
    n_taken = sequence.take_bytes(data)
    if n_taken != ALL_TAKEN and n_taken:
        sequence.take_bytes(data[:n_taken])
    taken = before + (data if n_taken == ALL_TAKEN else data[:n_taken])
    whole = before + data
    source, begun, n_outside, style = _schema_at(schemas, taken)
    reason, note = None, None
    if source is not None and style != "json":
        document, so_far = (_as_json(source, style, part[n_outside:]) for part in (whole, taken))
        reason, note = _reason(source, Text(with_plain_numbers(document), False), len(so_far), document)
        source, note = None, f"in what follows {shown(begun)}" if reason else None
    text = Text(with_plain_numbers(whole[n_outside:]), has_ended and not begun)
    if source is not None:
        reason, note = _reason(source, text, len(taken) - n_outside, whole[n_outside:])
    if begun and reason is None:  # what is refused may be the text around
        source = note = None
    elif begun and source is not None:
        note = f"in what follows {shown(begun)}"
    later = Later(
        lambda: _expected(sequence, source, taken[n_outside:]),
        lambda: _nearest(matcher, data) if is_token else _nearest(sequence, whole[len(taken) :]),
        lambda: _within_limits(None if begun else source, {}, lambda one: relaxed_options(one, text)),
        lambda: _within_limits(
            source if text.is_whole and note != REPEATED else None,
            [],
            lambda one: Refusals(one).all_reasons(text),
        ),
        lambda: matcher.grammar.dotted_rules(sequence),
    )
    return Explanation(matcher.store.tokenizer, len(taken), whole[len(taken) :], reason, later, note=note)


def _as_json(source: Source, style: str, elements: bytes) -> bytes:
    """Elements as JSON, as far as they go."""
    from ..frontends.tools.reading import json_so_far

    return json_so_far(elements.decode("utf-8", "replace"), style, source.schema, source.store.nodes).encode()


def _schema_at(schemas: list[Embedded], taken: bytes) -> tuple[Source | None, bytes, int, str]:
    """The schema of the JSON that a text is in, what is before that JSON, the bytes up to it, and its style."""
    found = [(taken.rfind(one.begin) + len(one.begin), one) for one in schemas if one.begin in taken]
    if not found:
        return None, b"", 0, "json"
    n_outside, one = max(found, key=lambda pair: pair[0])
    return one.source, one.begin, n_outside if one.begin else 0, one.style


def _reason(source: Source, text: Text, byte: int, data: bytes) -> tuple[Reason | None, str | None]:
    """What refuses a text after its first `byte` bytes, as it is spelled, and what else is the matter."""
    refusals, is_spelled_so = Refusals(source), text.data == data
    if _is_repeated(text if is_spelled_so else Text(data, False), byte):
        return None, REPEATED
    try:
        with metered(source.options.limits.max_compile_work, "max_compile_work"):
            end = refusals.json_ends_at(text)
            if end is not None:
                if end < len(text.data) and is_spelled_so and end <= byte:
                    return None, _why_no_json(text, end)
                text = Text(text.data[:end], False)
            reason = refusals.reason(text, byte if is_spelled_so else None)
    except LimitExceeded:
        return None, NOT_FOUND
    if reason is not None:
        return reason, None
    if end is not None:
        is_short = end == len(data) or not is_spelled_so
        return None, TOO_SHORT if is_short else LONG_SPACE if data[byte] in WHITE_SPACE else NOT_JSON
    return None, None if is_spelled_so else BY_NUMBERS


def _why_no_json(text: Text, n: int) -> str:
    """What is the matter with a text whose first `n` bytes begin a JSON document, and no more."""
    document, byte = text.so_far(n), text.data[n]
    if document.within in (KEY, STRING) and byte < ord(" "):
        return CONTROL
    is_outside = n == 0 or (document.innermost is None and document.within == NOTHING)
    return SPACE if is_outside and byte in WHITE_SPACE else NOT_JSON


def _is_repeated(text: Text, byte: int) -> bool:
    """Whether a key that is refused is in its object already."""
    here = text.so_far(byte).innermost
    if here is None or not here.is_object or here.key is not None:
        return False
    begin = text.key_at(byte)
    end = text.end(begin)
    if end is None or text.data[begin] != ord('"'):
        return False
    try:
        return json.loads(text.data[begin:end]) in here.value()
    except ValueError:  # a character that no key has
        return False


def _within_limits(source: Source | None, nothing: Found, find: Callable[[Source], Found]) -> Found:
    """What is found of a schema; `nothing` without one, or where that takes more work than compiling may."""
    if source is not None:
        with contextlib.suppress(LimitExceeded), metered(source.options.limits.max_compile_work, "max_compile_work"):
            return find(source)
    return nothing


def _expected(sequence: Sequence, source: Source | None, taken: bytes) -> list[str]:
    """What may come next, in words."""
    words = named_bytes(sequence, sequence.configuration)
    words = _within_limits(source, words, lambda one: words_for(sequence, taken, Refusals(one).holding(taken)))
    words += named_tokens(sequence, sequence.configuration)
    end = "the end" if source is None else "the end of the document"
    return [*words, end] if sequence.is_accepting() else words


def _nearest(matcher: Sequence, data: bytes) -> list[int]:
    """Ids of tokens that may come next, those first that begin with the most bytes of `data`, the shortest of these."""
    words = np.zeros((1, matcher.store.n_words), np.int32)
    matcher.fork().fill_bitmask(words)
    allowed = np.unpackbits(words.view(np.uint8), bitorder="little").astype(bool)
    trie = matcher.store.tokenizer._parts.trie
    ends, token_at, depth = trie.subtree_end, trie.token, trie.depth
    nearest: list[int] = []
    for node in reversed(trie.path(data)):
        below = np.arange(node, int(ends[node]))
        below = below[token_at[below] != NO_TOKEN]
        below = below[allowed[token_at[below]]]
        tokens = token_at[below[np.argsort(depth[below], kind="stable")]][: 2 * MOST_TOKENS].tolist()
        nearest += [token for token in tokens if token not in nearest]
        if len(nearest) >= MOST_TOKENS:
            break
    return nearest[:MOST_TOKENS]


def places_in(source: Source, document: bytes) -> list[str]:
    """JSON pointers of the schemas that hold where a document is in progress."""
    with metered(source.options.limits.max_compile_work, "max_compile_work"):
        return list(dict.fromkeys(pointer(path) for _, path in Refusals(source).holding(document)))


# --- dotted rules

# How a rule or terminal begins in each notation, after its name.
DEFINED = {"gbnf": r"[ \t]*::=", "ebnf": r"[ \t]*::=", "lark": r"(?:\{[^}]*\})?(?:\.-?\d+)?(?:\[[^\]]*\])?[ \t]*:"}


def dotted_rules(sequence: Sequence, kind: str = "", text: str = "") -> list[str]:
    """The rules that are being read, the innermost first.

    Parameters
    ----------
    sequence : where.
    kind, text : the notation and the text of its grammar, if it has one.
    """
    if sequence.has_ended():
        return []
    return [_with_line(item.text, kind, text) for item in debug.row(sequence).kernel]


def _with_line(rule: str, kind: str, text: str) -> str:
    """A dotted rule with the line where it is defined, if that is found."""
    name = re.match(r"[\w-]+", rule)
    if kind not in DEFINED or name is None:
        return rule
    found = re.search(rf"^[ \t]*[?!]?{re.escape(name[0])}{DEFINED[kind]}", text, re.MULTILINE)
    return rule if found is None else f"line {text.count(chr(10), 0, found.start()) + 1}: {rule}"
