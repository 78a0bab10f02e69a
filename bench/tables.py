"""Tables for the terminal and for Markdown alike, and files of results.

In: headings and rows. Out: text. Cost: none.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any


def markdown(headings: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table in Markdown whose columns also line up as plain text; the first column is text, the others numbers."""
    cells = [[str(heading) for heading in headings]]
    cells += [[f"{value:,}" if isinstance(value, int) else str(value) for value in row] for row in rows]
    widths = [max(len(row[place]) for row in cells) for place in range(len(headings))]
    lines = [
        "| "
        + " | ".join(f"{cell:<{width}}" if place == 0 else f"{cell:>{width}}" for place, (cell, width) in pairs)
        + " |"
        for pairs in ([*enumerate(zip(row, widths, strict=True))] for row in cells)
    ]
    rule = "|-" + "-|-".join("-" * width for width in widths) + "-|"
    return "\n".join([lines[0], rule, *lines[1:]])


def share(part: int, whole: int) -> str:
    """A part as a percentage."""
    return f"{100 * part / whole:.2f} %" if whole else "-"


def write_json(folder: Path, name: str, value: Any) -> Path:
    """Write `value` as JSON into a folder that is made when it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return path


def progress(text: str) -> None:
    """One line on the terminal that the next one overwrites."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()
