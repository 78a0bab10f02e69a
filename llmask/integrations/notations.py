r"""Lark, EBNF or GBNF: servers have one kind of request for grammars in any notation, and do not say which.

A definition tells: `name: ...` is Lark, `name ::= ...` a Backus-Naur form. Of these GBNF is what only llama.cpp's
notation can write; everything else is EBNF, XGrammar's notation, which vLLM and SGLang document. Texts that both read
mean the same in both, but for `\x` before more than two hexadecimal digits. Whoever knows better says so in the first
line:

    # notation: gbnf

Where a grammar is refused the message has the notation that it was read in, and this remedy.

In: the text of a grammar. Out: its notation; a compiled grammar. Cost: one pass over the text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..errors import GrammarError, LlmaskError

if TYPE_CHECKING:
    from ..compiling.compiled_grammar import CompiledGrammar
    from ..compiling.compiler import Compiler

NOTATIONS = {"lark": "Lark", "ebnf": "EBNF", "gbnf": "GBNF"}
STATED = re.compile(r"\s*(?:#|//)[ \t]*notation[ \t]*:[ \t]*(\w*)[ \t]*(?:\r?\n|$)", re.IGNORECASE)
DEFINITION = re.compile(
    r"""^[ \t]*(?:
        (?P<bnf>[\w.-]+(?:\[[^\]\n]*\])?\s*::=)
      | (?P<lark>%[a-z]+\b | [?!]*[A-Za-z_]\w*(?:\{[^}\n]*\})?(?:\.-?[0-9]+)?(?:\[[^\]\n]*\])?[ \t]*:(?!:))
    )""",
    re.MULTILINE | re.VERBOSE,
)
# What signs of a notation may hide in: a text, a class of characters, a comment. The end may be missing, as looking for
# it from every place in what is not closed would take quadratic time.
QUOTED = re.compile(r'"(?:[^"\\\n]|\\.)*"?|\[(?:[^\]\\\n]|\\.)*\]?|#[^\n]*')
ESCAPE = re.compile(r"\\(.)", re.DOTALL)
ONLY_GBNF = re.compile(
    r"""
        <[^<>\s]+>                             # a token, <|end|> or <[42]>
      | (?<![\w.-])\.(?![\w.-])                # any character
      | (?: ::= | \( | \| )\s*\|               # an alternative that is left empty, at the beginning
      | \|\s*(?: \) | \Z | (?=^[\w-]+\s*::=))  # ... and at the end
      | ::=\s*(?: \Z | (?=^[\w-]+\s*::=))
    """,
    re.MULTILINE | re.VERBOSE,
)


def notation_of(text: str) -> str:
    """The notation of a grammar: "lark", "ebnf" or "gbnf".

    Raises
    ------
    GrammarError : its first line names none of these, or nothing in it is a definition.
    """
    stated = STATED.match(text)
    if stated is not None:
        name = stated[1].lower()
        if name not in NOTATIONS:
            raise GrammarError(
                f'a grammar says that its notation is "{stated[1]}"',
                where="line 1",
                help='it is "lark", "ebnf" or "gbnf"',
            )
        return name
    found = DEFINITION.search(text)
    if found is None:
        raise GrammarError(
            "the grammar defines nothing, in no notation",
            help='write Lark (start: "a"), EBNF or GBNF (root ::= "a")',
        )
    if found["lark"] is not None:
        return "lark"
    return "gbnf" if _is_gbnf(text) else "ebnf"


def _is_gbnf(text: str) -> bool:
    """Whether a Backus-Naur form has what only GBNF does."""
    texts = (quoted[0] for quoted in QUOTED.finditer(text) if quoted[0].startswith('"'))
    if any(escaped in "[]-" for one in texts for escaped in ESCAPE.findall(one)):
        return True
    return ONLY_GBNF.search(QUOTED.sub(_stand_in, text)) is not None


def _stand_in(quoted: re.Match[str]) -> str:
    """What stands for a text, a class or a comment: a name, so that no alternative looks empty."""
    return "" if quoted[0].startswith("#") else "_"


def compile_text(compiler: Compiler, text: str) -> CompiledGrammar:
    """Compile a grammar in any of the notations.

    Lark is read as servers do: of terminals that end together every one is followed, as llguidance does.

    Raises
    ------
    GrammarError : it is malformed; the message names the notation that it was read in.
    LimitExceeded : it is too large.
    """
    if not isinstance(text, str):
        raise GrammarError(f"a grammar is a str, not {type(text).__name__}", help="decode bytes first")
    notation = notation_of(text)
    stated = STATED.match(text)
    source = text if stated is None else text[: stated.start(1)].replace("//", "#") + text[stated.start(1) :]
    try:
        if notation == "lark":
            return compiler.lark(source, ties="all")
        return compiler.ebnf(source) if notation == "ebnf" else compiler.gbnf(source)
    except LlmaskError as error:
        if stated is not None:
            raise
        others = " or ".join(NOTATIONS[name] for name in NOTATIONS if name != notation)
        remedy = f'if it is {others}, begin it with a line that says so: "# notation: ..."'
        raise type(error)(
            f"{error.message} (the grammar was read as {NOTATIONS[notation]})",
            error.where,
            remedy if error.help is None else f"{error.help}; {remedy}",
        ) from None
