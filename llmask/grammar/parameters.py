"""What is computed of a rule's parameter, 64 bits: the parameters of the rules that it uses, and conditions.

    set_bit(k)  clear_bit(k)  bit_and(v)  bit_or(v)  incr([x:y])  decr([x:y])  _  v          changes
    true  bit_set(k)  bit_clear(k)  is_ones([x:y])  is_zeros([x:y])  and(c, c)  or(c, c)  not(c)
    eq  ne  lt  le  gt  ge ([x:y], v)     bit_count_eq  ... ge ([x:y], k)                     conditions

`[x:y]` are the bits from x to below y, as a number; `_` stands for all of them. Counting up or down stops at the ends.
Source: llguidance, docs/parametric.md, "Function reference".

In: a parameter. Out: a parameter, or yes or no. Cost: half a microsecond.
"""

from __future__ import annotations

from typing import NamedTuple

N_BITS = 64
ALL_BITS = 2**N_BITS - 1
COMPARED = {
    "eq": int.__eq__,
    "ne": int.__ne__,
    "lt": int.__lt__,
    "le": int.__le__,
    "gt": int.__gt__,
    "ge": int.__ge__,
}


class Bits(NamedTuple):
    """The bits from `low` to below `high`."""

    low: int
    high: int

    def of(self, parameter: int) -> int:
        """Their number."""
        return parameter >> self.low & self.most

    @property
    def most(self) -> int:
        """The number where all are set."""
        return (1 << self.high - self.low) - 1


class Change(NamedTuple):
    """The parameter of a rule that is used, computed from that of the rule that uses it.

    function  as above, "_" or "value"
    number    k or v
    bits      [x:y]
    text      how it is written
    """

    function: str
    number: int
    bits: Bits
    text: str

    def of(self, parameter: int) -> int:
        """The new parameter."""
        function, number, bits = self.function, self.number, self.bits
        if function == "value":
            return number
        if function == "set_bit":
            return parameter | 1 << number
        if function == "clear_bit":
            return parameter & ~(1 << number)
        if function == "bit_and":
            return parameter & number
        if function == "bit_or":
            return parameter | number
        if function == "incr":
            return parameter if bits.of(parameter) == bits.most else parameter + (1 << bits.low)
        if function == "decr":
            return parameter if bits.of(parameter) == 0 else parameter - (1 << bits.low)
        assert function == "_"
        return parameter


class Condition(NamedTuple):
    """What has to hold of a parameter.

    function  as above
    number    k or v
    bits      [x:y]
    inner     conditions that it combines
    text      how it is written
    """

    function: str
    number: int
    bits: Bits
    inner: tuple[Condition, ...]
    text: str

    def holds(self, parameter: int) -> bool:
        """Whether it holds."""
        function = self.function
        if function in ("and", "or"):
            together = all if function == "and" else any
            return together(condition.holds(parameter) for condition in self.inner)
        if function == "not":
            return not self.inner[0].holds(parameter)
        if function == "true":
            return True
        if function in ("bit_set", "bit_clear"):
            return (parameter >> self.number & 1 == 1) == (function == "bit_set")
        found = self.bits.of(parameter)
        if function in ("is_ones", "is_zeros"):
            return found == (self.bits.most if function == "is_ones" else 0)
        if function.startswith("bit_count_"):
            found = found.bit_count()
        return COMPARED[function[-2:]](found, self.number)
