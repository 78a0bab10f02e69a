r"""What stands in brackets behind a rule's name: captures, how its terminal ends, how it is sampled.

    capture, capture="x"  what the rule derives is captured under its name, or another one
    lazy                  its terminal ends where it first can
    suffix="x"            so does its terminal followed by x, which is no part of the capture
    stop="x"              as suffix, and the text "x" has to stand behind the rule wherever it is used, and is that x:
                          elsewhere x would have to be taken back, which no sampler can do with what it has written
    stop_capture="y"      what matched the suffix or stop is captured under this name
    temperature=0.7       of the sampler while the terminal is written (`Matcher.temperature`)
    max_tokens=10         the terminal is closed after so many tokens (llmask/matching/max_tokens.py)

The last two are for rules that are one terminal; a temperature also for one schema or grammar that is put in.
Source: llguidance, docs/syntax.md, "Lexeme options".

In: attributes of a definition. Out: an expression and `Attributes`. Cost: that of the terminal; up to 0.1 s to see
that one with `max_tokens` may end everywhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from llmask.frontends.lark.tree import Attribute, Name, Node, Pattern, Row, Text
from llmask.frontends.places import similar
from llmask.grammar.expressions import Attributes, Ending, Expression, Inclusion, Lexeme

if TYPE_CHECKING:
    from llmask.frontends.lark.definitions import Defined
    from llmask.frontends.lark.terminals import Terminals
    from llmask.regex.nodes import RegexNodes

KNOWN = ("capture", "lazy", "max_tokens", "stop", "stop_capture", "suffix", "temperature")
MOST_TOKENS = 2**31 - 1
MOST_STATES = 200  # of a terminal that is looked through


def attributes_of(defined: Defined) -> dict[str, Attribute]:
    """The attributes of a definition by name.

    Raises
    ------
    GrammarError : one is not known, has a value that it cannot have, or stands beside one that it cannot.
    """
    assert defined.definition is not None
    found: dict[str, Attribute] = {}
    for attribute in defined.definition.attributes:
        name = attribute.name
        if name not in KNOWN:
            attribute.spot.refuse(
                f'the attribute "{name}" is not known', similar(name, KNOWN, f"known are {', '.join(KNOWN)}")
            )
        if name in found:
            attribute.spot.refuse(f"{name} stands here twice", "take one of them out")
        _check_value(attribute)
        found[name] = attribute
    if "stop" in found and "suffix" in found:
        found["stop"].spot.refuse("stop and suffix cannot stand together", "take one of them out")
    if "stop_capture" in found and not found.keys() & {"stop", "suffix"}:
        found["stop_capture"].spot.refuse(
            "stop_capture captures what matched stop or suffix, and there is neither", "add one, or take it out"
        )
    return found


def _check_value(attribute: Attribute) -> None:
    name, value, spot = attribute.name, attribute.value, attribute.spot
    if name == "lazy" and value is not None:
        spot.refuse("lazy takes no value", "write [lazy]")
    if name == "capture" and value is not None and not (isinstance(value, Text) and value.text):
        spot.refuse("capture takes a name in quotes, or nothing", 'for example capture="answer"')
    if name == "stop_capture" and not (isinstance(value, Text) and value.text):
        spot.refuse("stop_capture takes a name in quotes", 'for example stop_capture="end"')
    if name in ("stop", "suffix") and not isinstance(value, (Name, Text, Pattern)):
        spot.refuse(f"{name} is a string, a pattern or a terminal", f'for example {name}="</think>"')
    if name in ("stop", "suffix") and isinstance(value, Text) and not value.text:
        spot.refuse(
            f'{name}="" waits for the end of the sequence, after which nothing is read', "take it out, or give a text"
        )
    if name == "temperature" and not (isinstance(value, float) and 0 <= value < float("inf")):
        spot.refuse("temperature is a number from 0 on", "for example temperature=0.7")
    if name == "max_tokens" and not (isinstance(value, float) and value.is_integer() and 1 <= value <= MOST_TOKENS):
        spot.refuse("max_tokens is a whole number from 1 on", "for example max_tokens=100")


def lazy_terminal(
    terminals: Terminals, defined: Defined, given: dict[str, Attribute]
) -> tuple[Expression, Ending | None]:
    """The terminal of a rule with `lazy`, `suffix` or `stop`, and how it ends."""
    body = defined.body
    assert body is not None
    behind = given.get("suffix") or given.get("stop")
    if behind is None:
        return terminals.lazy(body, defined.scope), None
    suffix = behind.value
    assert isinstance(suffix, (Name, Text, Pattern))
    whole = terminals.lazy(Row(body.spot, (body, suffix)), defined.scope)
    nodes = [terminals.closed(terminals.value(part, defined.scope), part.spot, is_lazy=True) for part in (body, suffix)]
    capture = given.get("stop_capture")
    return whole, Ending(nodes[0], nodes[1], _name(capture) if capture is not None else None)


def said_of(
    nodes: RegexNodes, name: str, expression: Expression, given: dict[str, Attribute], ending: Ending | None
) -> Attributes:
    """What attributes say of a rule that derives an expression.

    Raises
    ------
    GrammarError : the rule is none that they can be said of.
    """
    temperature, most = given.get("temperature"), given.get("max_tokens")
    if temperature is not None and not isinstance(expression, (Lexeme, Inclusion)):
        temperature.spot.refuse("temperature is for rules that are one terminal", "give it to the rules that are")
    if most is not None:
        if not isinstance(expression, Lexeme):
            most.spot.refuse("max_tokens is for rules that are one terminal", "give it to the rules that are")
        if not _may_end_everywhere(nodes, expression.node):
            most.spot.refuse(
                "max_tokens closes a terminal where it stands, and this one may not end everywhere",
                "write a terminal such as /.*/, without suffix or lazy, and what ends it behind the rule",
            )
    capture = given.get("capture")
    return Attributes(
        None if capture is None else name if capture.value is None else _name(capture),
        temperature.value if temperature is not None and isinstance(temperature.value, float) else None,
        int(most.value) if most is not None and isinstance(most.value, float) else None,
        ending,
    )


def _name(attribute: Attribute) -> str:
    assert isinstance(attribute.value, Text)
    return attribute.value.text


def _may_end_everywhere(nodes: RegexNodes, node: int) -> bool:
    """Whether a terminal may end behind every character; of large ones not all is looked at."""
    waiting = [(node, 0)]  # what is left, and how many bytes of a character are still to come
    seen = set(waiting)
    while waiting and len(seen) < MOST_STATES:
        left, n_open = waiting.pop(0)
        for byte in range(256):
            after = nodes.derivative(left, byte)
            if after == nodes.EMPTY or nodes.is_empty(after):
                continue
            n_left = n_open - 1 if n_open else (byte >= 0xC0) + (byte >= 0xE0) + (byte >= 0xF0)
            if n_left == 0 and not nodes.is_nullable(after):
                return False
            if (after, n_left) not in seen:
                seen.add((after, n_left))
                waiting.append((after, n_left))
    return True


def same_text(one: Node, other: Node) -> bool:
    """Whether two terminals are written alike."""
    if isinstance(one, Row) and len(one.parts) == 1:
        one = one.parts[0]
    return type(one) is type(other) and isinstance(one, (Name, Text, Pattern)) and one[1:] == other[1:]
