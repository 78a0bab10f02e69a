"""Parameters of rules, as they are written: `::set_bit(2)` behind a rule's name, `%if lt([0:3], 5)` behind a row.

Source: llguidance, docs/parametric.md.

In: a source and a place in it. Out: `Change`s and `Condition`s, and where they end. Cost: 2 us a function.
"""

from __future__ import annotations

import re
from typing import NoReturn

from llmask.errors import LimitExceeded
from llmask.frontends.places import Source, Spot, similar
from llmask.grammar.expressions import ALL_BITS, COMPARED, N_BITS, Bits, Change, Condition

PART = re.compile(r"\s*(0[xX][0-9a-fA-F]+|[0-9]+|[A-Za-z_][A-Za-z0-9_]*|[()\[\]:,])")
WHOLE = Bits(0, N_BITS)
OF_BIT, OF_VALUE, OF_BITS, OF_COUNT, OF_BOTH, OF_CONDITIONS, OF_CONDITION, OF_NOTHING = range(8)
CHANGES = {
    "set_bit": OF_BIT,
    "clear_bit": OF_BIT,
    "bit_and": OF_VALUE,
    "bit_or": OF_VALUE,
    "incr": OF_BITS,
    "decr": OF_BITS,
}
CONDITIONS = {
    "true": OF_NOTHING,
    "bit_set": OF_BIT,
    "bit_clear": OF_BIT,
    "is_ones": OF_BITS,
    "is_zeros": OF_BITS,
    **dict.fromkeys(COMPARED, OF_BOTH),
    **{f"bit_count_{name}": OF_COUNT for name in COMPARED},
    "and": OF_CONDITIONS,
    "or": OF_CONDITIONS,
    "not": OF_CONDITION,
}
MAX_DIGITS = 20
MAX_NESTING = 60


def read_change(source: Source, at: int) -> tuple[Change, int]:
    """The parameter that stands at a character, behind `::`."""
    return _Reader(source, at).change()


def read_condition(source: Source, at: int) -> tuple[Condition, int]:
    """The condition that stands at a character, behind `%if`."""
    reader = _Reader(source, at)
    return reader.condition(0), reader.at


class _Reader:
    def __init__(self, source: Source, at: int) -> None:
        self.source = source
        self.at = at

    def change(self) -> tuple[Change, int]:
        begin = self._skip()
        name = self._next()
        number, bits, function = 0, WHOLE, name
        if name[:1].isdigit():
            number, function = self._value(name, begin), "value"
        elif name != "_":
            kind = CHANGES.get(name)
            if kind is None:
                self._refuse(
                    begin, f'"{name}" is nothing that a parameter can be', similar(name, CHANGES, "write set_bit(0)")
                )
            self._expect("(")
            if kind == OF_BITS:
                bits = self._bits()
            else:
                number = self._bit() if kind == OF_BIT else self._number()
            self._expect(")")
        return Change(function, number, bits, self._text(begin)), self.at

    def condition(self, depth: int) -> Condition:
        begin = self._skip()
        if depth > MAX_NESTING:
            raise LimitExceeded(
                f"conditions nest deeper than {MAX_NESTING}", Spot(self.source, begin, begin + 1).shown(), "shorten it"
            )
        name = self._next()
        kind = CONDITIONS.get(name)
        if kind is None:
            self._refuse(begin, f'"{name}" is no condition', similar(name, CONDITIONS, "write bit_set(0)"))
        number, bits = 0, WHOLE
        inner: list[Condition] = []
        if kind == OF_NOTHING:
            if self._peek() == "(":
                self._next()
                self._expect(")")
            return Condition(name, number, bits, (), self._text(begin))
        self._expect("(")
        if kind == OF_BIT:
            number = self._bit()
        elif kind in (OF_BITS, OF_BOTH, OF_COUNT):
            bits = self._bits()
            if kind != OF_BITS:
                self._expect(",")
                number = self._number()
        else:
            inner.append(self.condition(depth + 1))
            if kind == OF_CONDITIONS:
                self._expect(",")
                inner.append(self.condition(depth + 1))
        self._expect(")")
        return Condition(name, number, bits, tuple(inner), self._text(begin))

    # --- parts

    def _skip(self) -> int:
        while self.source.text[self.at : self.at + 1] in (" ", "\t"):
            self.at += 1
        return self.at

    def _peek(self) -> str:
        found = PART.match(self.source.text, self.at)
        return found[1] if found else ""

    def _next(self) -> str:
        found = PART.match(self.source.text, self.at)
        if found is None:
            here = self.source.text[self.at : self.at + 1]
            self._refuse(
                self.at, f"{here!r} cannot stand here" if here else "the grammar ends here", "for example set_bit(0)"
            )
        self.at = found.end()
        return found[1]

    def _expect(self, sign: str) -> None:
        begin = self._skip()
        found = self._next()
        if found != sign:
            self._refuse(begin, f'there is "{found}" where "{sign}" should be', f"write {sign}")

    def _number(self) -> int:
        begin = self._skip()
        return self._value(self._next(), begin)

    def _value(self, digits: str, begin: int) -> int:
        is_hex = digits[:2] in ("0x", "0X")
        if not digits[:1].isdigit() or len(digits) > MAX_DIGITS or int(digits, 16 if is_hex else 10) > ALL_BITS:
            self._refuse(begin, f'"{digits}" is no number of {N_BITS} bits', "write one, such as 5 or 0x1f")
        return int(digits, 16 if is_hex else 10)

    def _bit(self) -> int:
        begin = self._skip()
        found = self._number()
        if found >= N_BITS:
            self._refuse(begin, f"there is no bit {found}", f"bits count from 0 to {N_BITS - 1}")
        return found

    def _bits(self) -> Bits:
        begin = self._skip()
        if self._peek() == "_":
            self._next()
            return WHOLE
        self._expect("[")
        low = self._number()
        self._expect(":")
        high = self._number()
        self._expect("]")
        if not low < high <= N_BITS:
            self._refuse(begin, f"[{low}:{high}] are no bits", f"write [x:y] with x < y <= {N_BITS}, or _ for all")
        return Bits(low, high)

    def _text(self, begin: int) -> str:
        return self.source.text[begin : self.at]

    def _refuse(self, begin: int, message: str, help: str) -> NoReturn:
        Spot(self.source, begin, max(begin + 1, self.at)).refuse(message, help)
