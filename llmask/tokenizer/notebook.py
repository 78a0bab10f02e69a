"""How objects look in a notebook: pieces of HTML, and the view of a tokenizer.

Notebooks show what an object's `_repr_html_` returns. Everything that comes from outside, tokens, keys, patterns,
passes `escaped`, so that no name becomes markup; every list and text is cut at a length that a page can hold.
The views of matchers are in matching/notebook.py, that of a grammar is in `CompiledGrammar._repr_html_`.

In: texts, tokens. Out: HTML without scripts, links or styles from elsewhere. Cost: 1 ms.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .parts import TokenizerParts

MOST_ROWS = 100  # of a table
MOST_CHARACTERS = 300  # of one cell
MOST_TEXT = 20_000  # characters of a text that is folded
MOST_PIECES = 200  # tokens of a vocabulary
SHADES = ("#cfe3ff", "#d7f2d0", "#ffe3c2", "#eedcff", "#ffd6de", "#d3f1f0", "#f3efb5", "#e3e3e3")


def escaped(text: str, most: int = MOST_CHARACTERS) -> str:
    """A text as HTML, `most` characters of it at most; what no page can show is spelled out."""
    cut = text[:most]
    seen = "".join(one if one.isprintable() or one == "\n" else one.encode("unicode_escape").decode() for one in cut)
    return html.escape(seen) + ("..." if len(text) > most else "")


def piece_text(data: bytes) -> str:
    """The text of a token, blanks and bytes that are no text made visible."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return "".join(f"\\x{byte:02x}" for byte in data)
    return text.replace(" ", "\u2423").replace("\n", "\\n")


def piece(data: bytes, name: str, shade: str, title: str) -> str:
    """A token in a colour; `name` is for one without bytes, `title` shows up under the pointer."""
    text = escaped(piece_text(data) if data else name, 40) or "&nbsp;"
    return f'<code style="background:{shade};color:#000;padding:0 1px" title="{escaped(title)}">{text}</code>'


def heading(text: str) -> str:
    """What an object is, in one line."""
    return f"<div><b>{escaped(text)}</b></div>"


def table(header: Sequence[str], rows: Sequence[Sequence[str]], most: int = MOST_ROWS) -> str:
    """A table of texts, which are escaped here; `most` rows of it at most."""
    lines = ["<tr>" + "".join(f"<th>{escaped(cell)}</th>" for cell in header) + "</tr>"]
    lines += ["<tr>" + "".join(f"<td>{escaped(cell)}</td>" for cell in row) + "</tr>" for row in rows[:most]]
    more = f"<div>... and {len(rows) - most:,} more</div>" if len(rows) > most else ""
    return f'<table style="text-align:left">{"".join(lines)}</table>{more}'


def folded(title: str, text: str) -> str:
    """A text that is shown when its title is clicked."""
    return f"<details><summary>{escaped(title)}</summary><pre>{escaped(text, MOST_TEXT)}</pre></details>"


def page(parts: Iterable[str]) -> str:
    """The parts one below the other, as `_repr_html_` returns them."""
    return f"<div>{''.join(parts)}</div>"


def tokenizer_view(parts: TokenizerParts, line: str) -> str:
    """A tokenizer: what it is, and tokens from all over its vocabulary, numbers under the pointer."""
    size, tokens, names = parts.vocab_size, parts.vocabulary.tokens, parts.vocabulary.texts
    step = max(1, -(-size // MOST_PIECES))
    pieces = []
    for number, token in enumerate(range(0, size, step)):
        name = names.get(token).decode("utf-8", "replace")
        pieces.append(piece(tokens.get(token), name, SHADES[number % len(SHADES)], f"token {token}"))
    what = "its tokens" if step == 1 else f"every {step:,}th token"
    facts = f"{len(parts.special_ids):,} special, {size:,} in all; {what}:"
    body = f'<div style="line-height:1.7">{" ".join(pieces)}</div>'
    return page([heading(line), f"<div>{escaped(facts)}</div>", body])
