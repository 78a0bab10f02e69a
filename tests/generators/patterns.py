r"""Random patterns of Python's `re`, each with a way to draw texts that it may match.

Every construct of the syntax is drawn: classes, escapes, names of characters, groups, flags for all and for a group,
white space under `x`, every quantifier, atomic groups, anchors, look-arounds. Letters are those on which Unicode and
ASCII, or upper and lower case, come apart.

In: a random number generator. Out: a pattern and a function that draws texts. Cost: 50 us a pattern.
"""

from __future__ import annotations

import random
import re
import sys
import warnings
from collections.abc import Callable
from typing import NamedTuple

from llmask.errors import GrammarError, LimitExceeded

LETTERS = "aabbAB1_- \n" + "éÉßẞſsSkK\u212aıİiIσςΣ" + "٣😀\x1c\u2028ǅ"
HAS_ATOMIC = sys.version_info >= (3, 11)

Text = Callable[[random.Random], str]


class Drawn(NamedTuple):
    """A pattern, or a part of one.

    pattern : its text.
    text : draws a text that it may match, look-arounds aside.
    """

    pattern: str
    text: Text


class Patterns:
    """Patterns of one generator."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.n_names = 0
        self.is_verbose = False

    def pattern(self) -> Drawn:
        """A whole pattern."""
        flags = self.rng.choice(["", "", "", "(?i)", "(?s)", "(?m)", "(?a)", "(?x)", "(?ai)", "(?imsx)", "(?u)"])
        self.n_names, self.is_verbose = 0, "x" in flags
        inner = self._alternatives(self.rng.randrange(1, 4))
        return Drawn(flags + inner.pattern, inner.text)

    def _alternatives(self, depth: int) -> Drawn:
        options = [self._row(depth) for _ in range(self.rng.choice((1, 1, 1, 2, 3)))]
        return Drawn("|".join(o.pattern for o in options), lambda rng: rng.choice(options).text(rng))

    def _row(self, depth: int) -> Drawn:
        parts = [self._item(depth) for _ in range(self.rng.choice((0, 1, 1, 2, 2, 3)))]
        joint = self._blank() if self.rng.random() < 0.3 else ""
        return Drawn(joint.join(p.pattern for p in parts), lambda rng: "".join(p.text(rng) for p in parts))

    def _blank(self) -> str:
        return self.rng.choice([" ", "\n\t", "#c|(\n", "(?#x)"]) if self.is_verbose else "(?#x)"

    def _item(self, depth: int) -> Drawn:
        kind = self.rng.random()
        if depth <= 0 or kind < 0.3:
            return self._repeated(self._character()) if self.rng.random() < 0.3 else self._character()
        if kind < 0.45:
            return self._nothing_taken(depth)
        return self._repeated(self._group(depth)) if self.rng.random() < 0.6 else self._group(depth)

    def _repeated(self, item: Drawn) -> Drawn:
        low = self.rng.choice((0, 0, 1, 2))
        high = self.rng.choice((None, low, low + 1, low + 2))
        written = {(0, None): "*", (1, None): "+", (0, 1): "?", (0, 2): "{,2}"}.get((low, high))
        bounds = f"{{{low}}}" if low == high else f"{{{low},{'' if high is None else high}}}"
        suffix = self.rng.choice(["", "", "?", *(["+"] if HAS_ATOMIC else [])])
        most = low + 2 if high is None else high
        gap = self._blank() if self.rng.random() < 0.05 else ""
        return Drawn(
            item.pattern + gap + (written or bounds) + suffix,
            lambda rng: "".join(item.text(rng) for _ in range(rng.randint(low, most))),
        )

    def _group(self, depth: int) -> Drawn:
        opening = self.rng.choice(["(", "(?:", "(?:", "(?P<", "(?>", "(?>", "(?f"])
        was_verbose = self.is_verbose
        if opening == "(?P<":
            self.n_names += 1
            opening = f"(?P<n{self.n_names}>"
        elif opening == "(?f":
            on, off = self.rng.choice([("i", ""), ("s", ""), ("m", "i"), ("a", ""), ("u", ""), ("", "x"), ("x", "")])
            self.is_verbose = (self.is_verbose or "x" in on) and "x" not in off
            opening = f"(?{on}-{off}:" if off else f"(?{on}:"
        elif opening == "(?>" and not HAS_ATOMIC:
            opening = "(?:"
        inner = self._alternatives(depth - 1)
        self.is_verbose = was_verbose
        return Drawn(f"{opening}{inner.pattern})", inner.text)

    def _nothing_taken(self, depth: int) -> Drawn:
        kind = self.rng.randrange(10)
        if kind < 5:
            pattern = self.rng.choice(["^", "$", r"\A", r"\Z", r"\b", r"\B", r"\b"])
            return Drawn(pattern, lambda rng: "")
        if kind < 8:
            inner = self._alternatives(depth - 1)
            opening = self.rng.choice(["(?=", "(?!"])
        else:
            inner = self._behind(depth - 1)
            opening = self.rng.choice(["(?<=", "(?<!"])
        return Drawn(f"{opening}{inner.pattern})", lambda rng: "")

    def _behind(self, depth: int) -> Drawn:
        """Often of a fixed width, as `re` wants it."""
        n = self.rng.choice((1, 1, 2))
        rows = []
        for _ in range(self.rng.choice((1, 1, 2))):
            parts = [self._character().pattern for _ in range(n)]
            if self.rng.random() < 0.5:
                parts.insert(self.rng.randrange(n + 1), self._nothing_taken(depth).pattern)
            rows.append("".join(parts))
        return Drawn("|".join(rows), lambda rng: "")

    def _character(self) -> Drawn:
        letter = self.rng.choice(LETTERS)
        kind = self.rng.randrange(12)
        if kind < 5:
            return Drawn(self._escaped(letter), lambda rng: _other_case(rng, letter))
        if kind < 6:
            return Drawn(self._spelled(letter), lambda rng: _other_case(rng, letter))
        if kind < 8:
            named = self.rng.choice([".", r"\w", r"\d", r"\s", r"\W", r"\D", r"\S"])
            return Drawn(named, lambda rng: rng.choice(LETTERS))
        return self._class()

    def _escaped(self, letter: str) -> str:
        return re.escape(letter) if self.is_verbose or self.rng.random() < 0.5 else letter

    def _spelled(self, letter: str) -> str:
        code = ord(letter)
        spellings = [f"\\U{code:08x}"]
        if code < 0x10000:
            spellings.append(f"\\u{code:04x}")
        if code < 256:
            spellings += [f"\\x{code:02X}", f"\\{code:03o}", f"\\0{code:o}" if code < 64 else f"\\{code:03o}"]
        if letter == "\n":
            spellings.append("\\n")
        if letter.isalpha() and code > 127:
            import unicodedata

            spellings.append(f"\\N{{{unicodedata.name(letter)}}}")
        return self.rng.choice(spellings)

    def _class(self) -> Drawn:
        items, letters = [], []
        for _ in range(self.rng.choice((1, 2, 3))):
            kind = self.rng.randrange(6)
            letter = self.rng.choice(LETTERS)
            letters.append(letter)
            if kind < 3:
                items.append(self._spelled(letter) if letter in "-^]\\" or kind == 0 else letter)
            elif kind < 5:
                low, high = sorted((letter, self.rng.choice(LETTERS)))
                items.append(f"{self._spelled(low)}-{self._spelled(high)}")
            else:
                items.append(self.rng.choice([r"\w", r"\d", r"\s", r"\W", r"\D", r"\S", r"\b"]))
        is_negated = self.rng.random() < 0.3
        pattern = f"[{'^' if is_negated else ''}{self.rng.choice(['', '', '-', ']'])}{''.join(items)}]"
        if is_negated:
            return Drawn(pattern, lambda rng: rng.choice(LETTERS))
        return Drawn(pattern, lambda rng: _other_case(rng, rng.choice(letters)))


def _other_case(rng: random.Random, letter: str) -> str:
    changed = rng.choice((letter, letter, letter, letter.upper(), letter.lower(), letter.title()))
    return changed if len(changed) == 1 else letter


def draw_text(rng: random.Random, drawn: Drawn) -> str:
    """A text for a pattern: one that it may match, that with a damage or surroundings, or any."""
    kind = rng.random()
    text = drawn.text(rng)[:12] if kind < 0.85 else "".join(rng.choice(LETTERS) for _ in range(rng.randrange(6)))
    if kind < 0.35:
        return text
    for _ in range(rng.choice((1, 1, 2))):
        at = rng.randrange(len(text) + 1)
        new = rng.choice(("", rng.choice(LETTERS), rng.choice("a\n b")))
        text = text[:at] + new + text[at + rng.choice((0, 0, 1)) :]
    return text


class Compared(NamedTuple):
    """What came of one pattern.

    outcome : "compared", or why not.
    n_pairs, n_matches : texts compared, and those that match.
    """

    outcome: str
    n_pairs: int = 0
    n_matches: int = 0


def compare(rng: random.Random, matcher_of: Callable[[str, bool], Callable[[bytes], bool]], n_texts: int) -> Compared:
    """Compare one random pattern with `re` on `n_texts` texts, as a whole and as a search.

    `matcher_of(pattern, is_search)` is the side to be judged.

    Raises
    ------
    AssertionError : the two differ; names pattern and text.
    """
    drawn = Patterns(rng).pattern()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            judge = re.compile(drawn.pattern)
        except (re.error, OverflowError) as error:
            return Compared(f"refused by re: {str(error).split(' at ')[0]}")
    is_search = rng.random() < 0.5
    try:
        matches = matcher_of(drawn.pattern, is_search)
    except LimitExceeded as error:
        return Compared(f"limit: {error.message[:60]}")
    except GrammarError as error:
        if "cannot repeat what may be empty" not in error.message:
            raise AssertionError(f"{drawn.pattern!r}: {error.message}") from error
        return Compared("refused")
    n_matches = 0
    for _ in range(n_texts):
        text = draw_text(rng, drawn)
        try:
            expected = bool((judge.search if is_search else judge.fullmatch)(text))
        except SystemError:  # "The span of capturing group is wrong", of possessive quantifiers, in 3.11
            return Compared("re fails")
        assert matches(text.encode()) == expected, (drawn.pattern, text, is_search)
        n_matches += expected
    return Compared("compared", n_texts, n_matches)
