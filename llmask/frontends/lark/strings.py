r"""Strings of grammars: what stands between the quotes, escapes read.

Lark and llguidance agree on `\\ \" \n \r \t \f \xhh \uhhhh`, and lark also reads `\Uhhhhhhhh`. They differ about `\b`
and `\/`, which llguidance reads as JSON does and lark as two characters each: these are refused.
Source: lark 1.3, load_grammar.py, `eval_escaping`; RFC 8259, section 7.

In: the text between the quotes. Out: the text that is meant. Cost: none to speak of.
"""

from __future__ import annotations

import re

from llmask.frontends.places import Spot

KNOWN_ESCAPES = {"\\": "\\", '"': '"', "n": "\n", "r": "\r", "t": "\t", "f": "\f", "x": "", "u": "", "U": ""}
JSON_ESCAPES = {"b": "\\x08", "/": "/"}
ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.DOTALL)


def read_string(text: str, spot: Spot) -> str:
    """The text that a string means.

    Parameters
    ----------
    text : what stands between the quotes.
    spot : where the string stands, the quotes included.

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

    return _without_surrogates(ESCAPE.sub(read, text), spot)


def _without_surrogates(text: str, spot: Spot) -> str:
    try:
        joined = text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        spot.refuse("half a surrogate pair is no text", "write the character itself, or both halves")
    return joined
