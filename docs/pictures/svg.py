"""Shapes and text of a picture, as SVG that is read on a phone and on a wide screen, by day and by night.

A picture is a card: its background is its own, so that it can be read on any page, and all of its colours change with
the reader's `prefers-color-scheme`. It is 480 units wide and no letter is smaller than 11.5 units, so that a phone of
360 pixels shows letters of nearly 9. Fonts are those of the reader's system; text is measured by DejaVu Sans, the
widest of the usual ones, and text that does not fit is an error here rather than cut off there.

In: shapes with the names of roles. Out: text of an SVG file, the same each time. Cost: none.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

WIDTH = 480  # units; all pictures have it
MARGIN = 16
SHOWN_WIDTH = 600  # pixels, where there is room
SANS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
MONO = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
MONO_WIDTH = 0.602  # of a letter, in units of the font's size
SMALLEST = 11.5

# Colours by role: on a light and on a dark screen
INKS = {
    "ink": ("#1f2328", "#e6edf3"),
    "soft": ("#57606a", "#9ea7b3"),
    "given": ("#57606a", "#9ea7b3"),
    "fixed": ("#0a5cc0", "#79b8ff"),
    "lazy": ("#1a6e33", "#56d364"),
    "mask": ("#8a4600", "#f0b65a"),
    "bad": ("#b3261e", "#ff8f88"),
    "llmask": ("#0b6e4f", "#4fd18b"),
    "llmask-documents": ("#1f7a5c", "#9be8c0"),
    "llguidance": ("#b8452d", "#ff9b7d"),
    "xgrammar": ("#3b5ba5", "#8fb4ff"),
    "glrmask": ("#8a6200", "#e6bc4f"),
}
FILLS = {
    "page": ("#ffffff", "#0d1117"),
    "given": ("#f3f4f6", "#1c2128"),
    "fixed": ("#e4f0fe", "#12263f"),
    "lazy": ("#e3f6e6", "#10291a"),
    "mask": ("#fdf0da", "#33260f"),
    "empty": ("#e4e7eb", "#2a313a"),
    "level": ("#9aa4b0", "#6b7684"),
    "bar": ("#c27714", "#d9973a"),
    "piece0": ("#cbe6f5", "#1d4258"),
    "piece1": ("#f7e2b0", "#4d3d12"),
    "piece2": ("#cfecd2", "#1c4527"),
    "piece3": ("#ecd5f0", "#472a4f"),
}
STROKES = {**INKS, "grid": ("#d4d9df", "#30363d")}

# Widths of the letters of DejaVu Sans, in units of the font's size
_GROUPS = (
    (0.28, "'ijl"),
    (0.34, "IJ ,.·/:;\\|"),
    (0.40, "f-()[]t!"),
    (0.46, 'r"'),
    (0.53, "*_`sz?"),
    (0.60, "cLFkvxyP•"),
    (0.64, "TYoaeEhnuSbdgpq$0123456789{}µ"),
    (0.70, "KAVXZBRC"),
    (0.79, "UNHDG&OQ"),
    (0.84, "w#+<=>^~±×→↓−≤≥∞"),
)
_WIDEST = 1.0
_BOLD = 1.13  # bold letters are that much wider


def width_of(text: str, size: float, is_mono: bool = False, is_bold: bool = False) -> float:
    """Units that a text takes at most."""
    if is_mono:
        return MONO_WIDTH * size * len(text)
    ems = sum(next((width for width, letters in _GROUPS if letter in letters), _WIDEST) for letter in text)
    return ems * size * (_BOLD if is_bold else 1)


class Picture:
    """A picture that is drawn from the top down.

    Parameters
    ----------
    title : what it is, in a few words.
    description : what it shows, for those who do not see it.
    """

    def __init__(self, title: str, description: str) -> None:
        self._title = title
        self._description = description
        self._parts: list[str] = []

    def box(
        self, left: float, top: float, width: float, height: float, role: str, outline: str = "", radius: float = 6
    ) -> None:
        """A rectangle; with the role of a fill, and of its outline if it has one."""
        names = " ".join([f"f-{role}", *([f"s-{outline}"] if outline else [])])
        place = f'x="{_n(left)}" y="{_n(top)}" width="{_n(width)}" height="{_n(height)}"'
        self._parts.append(f'<rect class="{names}" {place} rx="{_n(radius)}"/>')

    def frame(
        self, left: float, top: float, width: float, height: float, role: str, radius: float, is_dashed: bool = False
    ) -> None:
        """An outline."""
        names = f"s-{role} hollow {'dashed' if is_dashed else 'line'}"
        place = f'x="{_n(left)}" y="{_n(top)}" width="{_n(width)}" height="{_n(height)}"'
        self._parts.append(f'<rect class="{names}" {place} rx="{_n(radius)}"/>')

    def text(
        self,
        x: float,
        y: float,
        text: str,
        role: str = "ink",
        size: float = 12,
        anchor: str = "start",
        is_mono: bool = False,
        is_bold: bool = False,
        room: float | None = None,
    ) -> None:
        """A line of text with its baseline at `y`; `room` is what it may take, by default up to the picture's edge."""
        before = {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor]
        width = width_of(text, size, is_mono, is_bold)
        if room is None:
            room = WIDTH if x - before * width >= 0 and x + (1 - before) * width <= WIDTH else 0
        assert width <= room, f"{text!r} takes {width:.0f} of {room:.0f} units"
        assert size >= SMALLEST, f"{text!r} is too small to read"
        names = [f"t-{role}", *(["mono"] if is_mono else []), *(["bold"] if is_bold else [])]
        place = f'x="{_n(x)}" y="{_n(y)}" font-size="{_n(size)}"'
        anchored = "" if anchor == "start" else f' text-anchor="{anchor}"'
        self._parts.append(f'<text class="{" ".join(names)}" {place}{anchored}>{escape(text, quote=False)}</text>')

    def lines(self, x: float, y: float, texts: Sequence[str], room: float, role: str = "ink", size: float = 12) -> None:
        """Lines of text below each other."""
        for number, text in enumerate(texts):
            self.text(x, y + number * (size + 3), text, role, size, room=room)

    def arrow(self, *points: tuple[float, float], role: str = "soft") -> None:
        """An arrow along points, its head at the last one."""
        path = "M" + " L".join(f"{_n(x)} {_n(y)}" for x, y in points)
        self._parts.append(f'<path class="s-{role} hollow line" marker-end="url(#head)" d="{path}"/>')

    def curve(self, points: Sequence[tuple[float, float]], role: str, thick: float) -> None:
        """A line along points."""
        path = "M" + " L".join(f"{_n(x)} {_n(y)}" for x, y in points)
        self._parts.append(f'<path class="s-{role} hollow" stroke-width="{_n(thick)}" d="{path}"/>')

    def mark(self, x: float, y: float, shape: str, role: str, radius: float = 3.5) -> None:
        """A filled mark: a circle, square, diamond or triangle."""
        if shape == "circle":
            self._parts.append(f'<circle class="t-{role}" cx="{_n(x)}" cy="{_n(y)}" r="{_n(radius)}"/>')
            return
        corners = {
            "square": ((-1, -1), (1, -1), (1, 1), (-1, 1)),
            "diamond": ((0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)),
            "triangle": ((0, -1.3), (1.2, 0.9), (-1.2, 0.9)),
        }[shape]
        points = " ".join(f"{_n(x + radius * dx)},{_n(y + radius * dy)}" for dx, dy in corners)
        self._parts.append(f'<polygon class="t-{role}" points="{points}"/>')

    def written(self, height: float) -> str:
        """The text of the file."""
        shown = round(height * SHOWN_WIDTH / WIDTH)
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {_n(height)}" width="{SHOWN_WIDTH}" '
            f'height="{shown}" role="img" aria-labelledby="title description">'
        )
        card = f'<rect class="f-page s-grid" x="0.5" y="0.5" width="{WIDTH - 1}" height="{_n(height - 1)}" rx="8"/>'
        body = "\n".join([card, *self._parts])
        used = [name for name in _styles() if f"{name[0]}-{name[1]}" in body or name == ("t", "soft")]
        return "\n".join(
            [
                head,
                f'<title id="title">{escape(self._title, quote=False)}</title>',
                f'<desc id="description">{escape(self._description, quote=False)}</desc>',
                "<style>",
                f"text {{ font-family: {SANS}; white-space: pre; }}",
                f".mono {{ font-family: {MONO}; }}",
                ".bold { font-weight: 600; }",
                ".hollow { fill: none; stroke-linejoin: round; stroke-linecap: round; }",
                ".line { stroke-width: 1.4; }",
                ".dashed { stroke-dasharray: 4 4; }",
                *(_rule(name, 0) for name in used),
                "@media (prefers-color-scheme: dark) {",
                *("  " + _rule(name, 1) for name in used),
                "}",
                "</style>",
                '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
                'orient="auto-start-reverse"><path class="t-soft" d="M0 0.5 L8 4 L0 7.5 z"/></marker></defs>',
                body,
                "</svg>",
                "",
            ]
        )


def _styles() -> list[tuple[str, str]]:
    """Names of the classes with a colour: kind and role."""
    return [(kind, role) for kind, roles in (("t", INKS), ("f", FILLS), ("s", STROKES)) for role in roles]


def _rule(name: tuple[str, str], scheme: int) -> str:
    kind, role = name
    colours = {"t": INKS, "f": FILLS, "s": STROKES}[kind]
    return f".{kind}-{role} {{ {'stroke' if kind == 's' else 'fill'}: {colours[role][scheme]}; }}"


def _n(number: float) -> str:
    """A number with at most two places."""
    return f"{number:.2f}".rstrip("0").rstrip(".")
