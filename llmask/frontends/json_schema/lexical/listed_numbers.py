"""Numbers of `const` and `enum`: every numeral of each of them without exponent (with: `scientific_numbers.py`).

A number is listed by its plain numeral, without exponent and without zeros at the end of a fraction. What may follow
it, `.0` or further zeros, is one node that all numbers of a list share.

In: numbers. Out: a node. Cost: 5 us for one number, 6 us each for many.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from llmask.errors import LimitExceeded
from llmask.regex.nodes import RegexNodes
from llmask.regex.word_lists import literals_node

from .number_machines import MAY, MUST, NEVER
from .strings import once

MAX_DIGITS = 10_000  # of a listed number, zeros included
MAX_BITS = 33_000  # of an integer with that number of digits
FEW_BITS = 10_000  # Python writes integers of up to 4,300 digits


def exact_decimal(value: float | Decimal) -> Decimal:
    """The number as it was written: the shortest spelling of a float, the value itself otherwise."""
    return Decimal(repr(value)) if type(value) is float else Decimal(value)


def plain_numeral(value: float | Decimal) -> bytes:
    """The shortest numeral of a number without exponent; 0 for -0.

    Raises
    ------
    LimitExceeded
        When it has more than `MAX_DIGITS` digits.

    Examples
    --------
    >>> plain_numeral(2.50), plain_numeral(-1e3), plain_numeral(Decimal("1E-7"))
    (b'2.5', b'-1000', b'0.0000001')
    """
    if type(value) is int and value.bit_length() <= FEW_BITS:
        return b"%d" % value
    if type(value) is int and value.bit_length() > MAX_BITS:
        raise _too_long()
    exact = exact_decimal(value)
    if not exact:
        return b"0"
    if exact.adjusted() >= MAX_DIGITS or -int(exact.as_tuple().exponent) >= MAX_DIGITS:
        raise _too_long()
    numeral = format(exact, "f").encode()
    return numeral.rstrip(b"0").rstrip(b".") if b"." in numeral else numeral


def _too_long() -> LimitExceeded:
    return LimitExceeded(f"a listed number has more than {MAX_DIGITS} digits", None, "Describe it by bounds.")


def listed_numbers_node(nodes: RegexNodes, numerals: Sequence[bytes], fraction: str = MAY) -> int:
    """Node of every numeral of the numbers with these plain numerals.

    Parameters
    ----------
    numerals : as `plain_numeral` writes them; at least one.
    fraction : MAY, 1 may be written 1.0 and 1.00, 0.5 as 0.50; MUST, the same without plain 1; NEVER, as listed. 0 may
        be written -0.

    Examples
    --------
    >>> node = listed_numbers_node(nodes, [b"1", b"2.5"])
    >>> [nodes.matches(node, text) for text in (b"1", b"1.00", b"2.5", b"2.50", b"1e0")]
    [True, True, True, True, False]
    """
    if b"0" in numerals:
        numerals = [*numerals, b"-0"]
    if fraction == NEVER:
        return literals_node(nodes, numerals)
    zeros, point, needed_point = once(nodes, __name__, lambda: _endings(nodes))
    whole = [numeral for numeral in numerals if b"." not in numeral]
    members = []
    if len(whole) < len(numerals):
        decimals = [numeral for numeral in numerals if b"." in numeral]
        members.append(nodes.concat([literals_node(nodes, decimals), zeros]))
    if whole:
        members.append(nodes.concat([literals_node(nodes, whole), needed_point if fraction == MUST else point]))
    return members[0] if len(members) == 1 else nodes.union(members)


def _endings(nodes: RegexNodes) -> tuple[int, int, int]:
    """Nodes of zeros, of a fraction of zeros or none, and of a fraction of zeros."""
    zero = nodes.literal(b"0")
    needed = nodes.concat([nodes.literal(b"."), nodes.repeat(zero, 1)])
    return nodes.repeat(zero, 0), nodes.repeat(needed, 0, 1), needed
