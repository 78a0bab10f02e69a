r"""What strings, patterns and ranges of a Lark grammar match: the smallest parts of terminals.

Lark and llguidance agree on the escapes `\\ \" \n \r \t \f \xhh \uhhhh`, and lark also reads `\Uhhhhhhhh`. They
differ about `\b` and `\/`, which llguidance reads as JSON does and lark as two characters each: these are refused.
`%regex {...}` is parts of a text:

    {"substring_chunks": ["a", "b", "c"]}   "", "a", "ab", "abc", "b", "bc", "c"
    {"substring_words": "foo bar."}         the same of "foo", " ", "bar", "."
    {"substring_chars": "abc"}              the same of "a", "b", "c"

Source: lark 1.3, load_grammar.py, `eval_escaping`; RFC 8259, section 7; llguidance, docs/syntax.md, "Structured
%regex".

In: parts of the tree. Out: `Value`s, from which terminals are put together. Cost: that of reading the patterns.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple

from llmask.errors import GrammarError, LimitExceeded
from llmask.frontends.lark.tree import Pattern, Range, Text
from llmask.frontends.places import Spot
from llmask.frontends.regex.python_syntax import PythonParser
from llmask.frontends.regex.shapes import Chars, Sequence, Tree
from llmask.regex.code_points import CodePointSet

if TYPE_CHECKING:
    from llmask.regex.nodes import RegexNodes

KNOWN_ESCAPES = {"\\": "\\", '"': '"', "n": "\n", "r": "\r", "t": "\t", "f": "\f", "x": "", "u": "", "U": ""}
JSON_ESCAPES = {"b": "\\x08", "/": "/"}
ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.DOTALL)
COLUMN = re.compile(r"column ([0-9]+) of the pattern")
ESCAPED = re.compile(r"\\(.)", re.DOTALL)
WORDS = re.compile(r"\w+|\s+|[^\w\s]+")
MAX_CHUNKS = 20_000
KINDS = ("substring_chunks", "substring_words", "substring_chars")
EXAMPLE = 'for example %regex {"substring_words": "the text"}'


def read_string(text: str, spot: Spot) -> str:
    """The text that a string means.

    Parameters
    ----------
    text : what is between the quotes.
    spot : where the string is, the quotes included.

    Raises
    ------
    GrammarError : an escape has no meaning, or two, or names what is no text.
    """

    def read(found: re.Match[str]) -> str:
        escape = found[1]
        at = spot.part(1 + found.start(), 1 + found.end())
        if len(escape) > 1:
            code_point = int(escape[1:], 16)
            if code_point > 0x10FFFF:
                at.refuse("this is beyond the last character, U+10FFFF", "name another character")
            return chr(code_point)
        if escape in JSON_ESCAPES:
            at.refuse(
                f"\\{escape} is two characters to Lark and one to llguidance",
                f"write {JSON_ESCAPES[escape]} for the one, \\\\{escape} for the two",
            )
        if not KNOWN_ESCAPES.get(escape):
            at.refuse(f"the escape \\{escape} has no meaning", r"write \\ for a backslash")
        return KNOWN_ESCAPES[escape]

    try:
        joined = ESCAPE.sub(read, text).encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        spot.refuse("half a surrogate pair is no text", "write the character itself, or both halves")
    return joined


class Value(NamedTuple):
    """What a terminal, or a part of one, matches.

    tree       where it has one
    node       where it has none
    regexp     how Lark writes it as one pattern
    is_string  whether it is one string and nothing else
    """

    tree: Tree | None
    node: int
    regexp: str
    is_string: bool = False


def escaped(value: Value) -> str:
    """A string as part of a pattern."""
    pattern = re.escape(str(json.loads(value.regexp.rstrip("i"))))
    return f"(?i:{pattern})" if value.regexp.endswith("i") else pattern


def text_value(node: Text) -> Value:
    """What a string matches."""
    if node.ignores_case:
        parser = PythonParser(re.escape(node.text))
        parser.flags = frozenset("i")
        tree: Tree = parser.parse()
    else:
        tree = Sequence(tuple(Chars(CodePointSet.of(character)) for character in node.text))
    return Value(tree, -1, json.dumps(node.text, ensure_ascii=False) + "i" * node.ignores_case, True)


def range_value(node: Range) -> Value:
    """What a range matches.

    Raises
    ------
    GrammarError : its ends are the wrong way round.
    """
    if node.first > node.last:
        node.spot.refuse("this range ends before it starts", f'write "{node.last}".."{node.first}"')
    tree = Chars(CodePointSet.from_ranges([(ord(node.first), ord(node.last))]))
    return Value(tree, -1, f"[{re.escape(node.first)}-{re.escape(node.last)}]")


def pattern_value(node: Pattern) -> Value:
    """What a pattern matches.

    Raises
    ------
    GrammarError : it is malformed, or has a flag that is not known.
    LimitExceeded : it nests too deep.
    """
    unknown = set(node.flags) - set("imslux")
    if unknown or "l" in node.flags:
        flag = min(unknown or "l")
        node.spot.refuse(f'the flag "{flag}" is not known for text', "known are i, m, s, u and x")
    pattern = ESCAPED.sub(lambda found: "/" if found[1] == "/" else found[0], node.pattern)
    flags = frozenset(node.flags) - {"u"}
    parser = PythonParser(pattern)
    parser.flags = flags
    try:
        tree = parser.parse()
    except (GrammarError, LimitExceeded) as error:
        found = COLUMN.search(error.where or "")
        at = node.spot
        if found:
            begin = 1 + _original_place(node.pattern, int(found[1]) - 1)
            at = node.spot.part(begin, begin + 1)
        raise type(error)(error.message, at.shown(), error.help) from None
    return Value(tree, -1, f"(?{''.join(sorted(flags))}:{pattern})" if flags else pattern)


def _original_place(written: str, place: int) -> int:
    """Where a character of a pattern is in its source, in which slashes are escaped."""
    at = 0
    for found in ESCAPED.finditer(written):
        if found.start() - at >= place:
            break
        at += found[1] == "/"
    return min(place + at, len(written))


def structured_node(nodes: RegexNodes, value: object, spot: Spot) -> int:
    """Node of what a `%regex` matches.

    Raises
    ------
    GrammarError : the value is not one of the kinds above.
    """
    chunks = _chunks(value, spot)
    if len(chunks) > MAX_CHUNKS:
        spot.refuse(f"a text of {len(chunks)} chunks is longer than {MAX_CHUNKS}", "take larger chunks")
    try:
        spelled = [nodes.literal(chunk.encode()) for chunk in chunks]
    except UnicodeEncodeError:
        spot.refuse("half a surrogate pair is no text", "write the character itself, or both halves")
    rest = nodes.EPSILON
    from_here = [rest]
    for chunk in reversed(spelled):
        rest = nodes.union([nodes.EPSILON, nodes.concat([chunk, rest])])
        from_here.append(rest)
    return nodes.union(from_here)


def _chunks(value: object, spot: Spot) -> list[str]:
    if not isinstance(value, dict) or len(value) != 1 or next(iter(value)) not in KINDS:
        spot.refuse(f"%regex needs an object after it, with one of {', '.join(KINDS)}", EXAMPLE)
    kind, content = next(iter(value.items()))
    if kind == "substring_chunks":
        if not isinstance(content, list) or not all(isinstance(chunk, str) for chunk in content):
            spot.refuse("substring_chunks is a list of strings", EXAMPLE)
        return [chunk for chunk in content if chunk]
    if not isinstance(content, str):
        spot.refuse(f"{kind} is a string", EXAMPLE)
    return WORDS.findall(content) if kind == "substring_words" else list(content)
