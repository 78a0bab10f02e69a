"""What is likely to be written next: the lexemes that may come at a place of a derivation, with texts as models write.

Names, numbers, dates, addresses (TYPICAL); where a lexeme lists words, these. Only where few of them match there is a
shortest string, too. Between lexemes comes what JSON is mostly written with, in one line or several.

In: derivations of a grammar. Out: texts. Cost: 5 us a step of a derivation that is new, 0.1 to 1 ms for a new lexeme.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from ..errors import LimitExceeded, LlmaskError
from ..grammar.derivations import NO_LEXEME, NOTHING, Derivations
from ..regex.strings import Strings

if TYPE_CHECKING:
    from ..grammar.rules import Rules
    from ..store.store import Store
    from ..tokenizer.tokenizer import Tokenizer

FREE_WORDS = ("ab", "The end, in 2024.")  # all that a string which takes everything needs
WORDS = (
    *FREE_WORDS,
    *("2024-01-15", "2024-01-15T12:30:00Z", "2024-01-15T12:30:00.000Z", "12:30:00"),
    *("https://example.com/ab", "user@example.com", "192.168.1.1", "123e4567-e89b-12d3-a456-426614174000"),
    *("2023-06-30", "2023-12-31T23:59:59Z", "2022-02-28", "2022-10-10T08:00:00+02:00"),
    *("550e8400-e29b-41d4-a716-446655440000", "+1 555 123 4567", "a-b_c.1", "AB12", "12"),
)
QUOTED = tuple(f'"{word}"'.encode() for word in WORDS)
FREE = tuple(f'"{word}"'.encode() for word in FREE_WORDS)
NUMBERS = (b"12", b"0.5", b"5", b"123.25", b"-40.7128", b"2024", b"0", b"1.0")
TYPICAL = (*NUMBERS, b"true", b"false", b"null", b" ", b"ab", b"a", *QUOTED, b'""')
ENOUGH = 3  # typical texts of a lexeme: no others are looked for then
COUNTED = b"a1"  # in turn: hardly any vocabulary has them as one token
MOST_COUNTED = 64  # characters of a text in which they are counted
LEADS = ("", "\n")  # some tokenizers add a blank before a text; nothing is split across a line
LONGEST = 500  # bytes of a shortest string; where it is longer, typical texts have to do: 10 ms
MOST_SEARCHED = 500  # nodes, for one string of a lexeme: 25 ms
SEARCHED_SOON = 8  # the same where one is to be found soon
MOST_SILENT = 10_000  # steps without a lexeme from one place
OPENING, CLOSING = (b"{", b"["), (b"}", b"]")


class Option(NamedTuple):
    """A lexeme that may come next: texts of it, the likely one first, and the place after it."""

    texts: tuple[bytes, ...]
    place: int


END = Option((), NOTHING)  # everything is derived


class Texts:
    """Texts of lexemes, and what comes between them, for one thread.

    Parameters
    ----------
    is_json : whether texts are written as JSON is.

    Attributes
    ----------
    closing : the lexemes of CLOSING.
    opening, colon : the lexemes of an opening brace and of a colon.
    words_of : the words of a lexeme that lists some.
    """

    def __init__(self, store: Store, rules: Rules, is_json: bool) -> None:
        self.is_json = is_json
        self._nodes = store.nodes
        self.words_of = store.nodes.words_of
        self._ignored = rules.ignored
        self._strings = Strings(store.nodes, store.table, store.lock, MOST_SEARCHED)
        self._strings_soon = Strings(store.nodes, store.table, store.lock, SEARCHED_SOON)
        self.closing = [store.nodes.literal(text) for text in CLOSING]
        self.opening, self.colon = store.nodes.literal(b"{"), store.nodes.literal(b":")
        self._shared = store.nodes.remembered(__name__)  # those that are no words, for all grammars
        self._soon = store.nodes.remembered((__name__, "soon"))
        self._blanks = store.nodes.remembered((__name__, rules.ignored))  # is it ignored?

    def between(self, before: bytes, word: bytes, depth: int | None) -> bytes:
        """What comes between two lexemes.

        Parameters
        ----------
        before : what was written before, or the end of it.
        depth : how many brackets are open where JSON is written line by line, None where it is in one line.
        """
        if self._ignored is None or not before:
            return b""
        blank, last = b"", before[-1:]
        if not self.is_json:
            blank = b" " if runs_on(before, word) else b""
        elif last == b":" or (last == b"," and depth is None):
            blank = b" "
        elif depth is not None and (last in (*OPENING, b",") if word not in CLOSING else last not in OPENING):
            blank = b"\n" + b"  " * (depth - (word in CLOSING))
        if not blank:
            return blank
        known = self._blanks.get(blank)
        if known is None:
            known = self._blanks[blank] = self._nodes.matches(self._ignored, blank)
        return blank if known else b""

    def of(self, lexeme: int) -> tuple[bytes, ...]:
        """Strings of a lexeme; none where they are too hard to find."""
        found = self.words_of(lexeme) or self._shared.get(lexeme)
        if found is None:
            found = self._shared[lexeme] = tuple(dict.fromkeys(self._find_texts(lexeme)))
        return found

    def soon_of(self, lexeme: int) -> tuple[bytes, ...]:
        """The words of a lexeme that lists them; of others a typical string, or a shortest one, found sooner."""
        found = self.words_of(lexeme) or self._soon.get(lexeme)
        if found is None:
            is_quoted = self._nodes.derivative(lexeme, ord('"')) != self._nodes.EMPTY
            texts = QUOTED if is_quoted else TYPICAL
            found = next(((text,) for text in texts if self._nodes.matches(lexeme, text)), ())
            with suppress(LimitExceeded):
                if not found and self._strings_soon.length(lexeme) <= LONGEST:
                    found = (self._strings_soon.shortest(lexeme),)
            self._soon[lexeme] = found
        return found

    def _find_texts(self, lexeme: int) -> list[bytes]:
        found = [text for text in TYPICAL if self._nodes.matches(lexeme, text)]
        if all(text in found for text in QUOTED):
            found = [text for text in found if text not in QUOTED or text in FREE]
        with suppress(LimitExceeded):  # then it has none, perhaps
            if self._strings.length(lexeme) > LONGEST:
                return found
            if len(found) < ENOUGH:
                found.append(self._strings.shortest(lexeme))
            found += self._counted(lexeme)
        return found

    def _counted(self, lexeme: int) -> list[bytes]:
        """A text of a lexeme that counts its characters, in tokens of one character: a mask for each number of them."""
        text = bytearray()
        node, seen = lexeme, {lexeme}
        while len(text) < MOST_COUNTED and (ways := self._strings.ways(node)):
            wanted = COUNTED[len(text) % 2 :] + COUNTED
            way, byte = next(
                ((way, byte) for byte in wanted for way in ways if byte in way.members), (ways[0], ways[0].members[0])
            )
            text.append(byte)
            node = way.target
            if node in seen:
                return []
            seen.add(node)
        return [bytes(text) + (b"" if self._nodes.is_nullable(node) else self._strings.shortest(node))]


class Likely:
    """What is likely in one grammar, for one thread.

    Attributes
    ----------
    texts : of its lexemes.
    start : the place before everything.
    options : by place, the lexemes that may come next, what closes something last; END among them: all is derived.
    nesting : by place, how many calls of one rule are open, at most; at least 1.

    Raises
    ------
    LlmaskError : there are rules with a parameter, or terminals that are no text.
    """

    def __init__(self, store: Store, rules: Rules, is_json: bool) -> None:
        self.texts = Texts(store, rules, is_json)
        self._nodes = store.nodes
        self._derivations = Derivations(rules, self._check_text)
        self.start = self._derivations.start
        self._is_after_brace = False  # then what follows another one is not asked: some follow without end
        self.options = cache(self._find_options)
        self.nesting = cache(self._find_nesting)

    def _check_text(self, lexeme: int) -> int:
        """The length of a lexeme where lengths do not matter."""
        if self._nodes.names_tokens(lexeme):
            raise LlmaskError("the grammar names tokens, which are no text", help="it has no texts in bytes")
        return 1

    def _find_nesting(self, place: int) -> int:
        rules = self._derivations.rules_at(place)
        return max(Counter(rules).values()) if len(set(rules)) < len(rules) else 1

    def _find_options(self, start: int) -> list[Option]:
        found: list[Option] = []
        waiting, seen = [start], {start}
        while waiting:
            place = waiting.pop()
            if place == NOTHING:
                found.append(END)
                continue
            for step in reversed(self._derivations.steps(place)):
                if step.lexeme == NO_LEXEME and step.place not in seen and len(seen) < MOST_SILENT:
                    seen.add(step.place)
                    waiting.append(step.place)
            for step in self._derivations.steps(place):
                if step.lexeme != NO_LEXEME and (texts := self.texts.of(step.lexeme)):
                    found.append(Option(texts, step.place))
        return sorted(found, key=self._rank) if len(found) > 1 else found

    def _rank(self, option: Option) -> int:
        """What comes sooner: an object with declared keys before values of other types, and last what closes."""
        if closes(option):
            return 2
        if option.texts[0] != OPENING[0] or self._is_after_brace:
            return 1
        self._is_after_brace = True
        first = self.options(option.place)[:1]  # none where what follows is too hard to find
        self._is_after_brace = False
        return int(not first or closes(first[0]) or first[0].texts[0] in FREE)


def tokens_of(tokenizer: Tokenizer, text: bytes) -> list[int]:
    """The tokens of a text without the blank that the tokenizer adds; no tokens where they do not spell it."""
    spelling = tokenizer._parts.vocabulary.tokens.get
    with suppress(LlmaskError, UnicodeDecodeError):
        for lead in LEADS:
            ids = tokenizer.encode(lead + text.decode())
            if not lead and ids and text.startswith(spelling(ids[0]) or text):
                return ids
            pieces = [spelling(token) for token in ids]
            for n_lead in range(2 * len(lead) + 1):
                if b"".join(pieces[n_lead:]) == text:
                    return ids[n_lead:]
    return []


def closes(option: Option) -> bool:
    """Whether it ends what is open."""
    return option is END or option.texts[0] in CLOSING


def runs_on(before: bytes | bytearray, text: bytes) -> bool:
    """Whether two lexemes might be read as one: letters, digits or underscores meet."""
    ends = (before[-1], text[0])
    return all(byte >= 0x80 or chr(byte).isalnum() or byte == 0x5F for byte in ends)
