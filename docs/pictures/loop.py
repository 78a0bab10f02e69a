"""The loop of every sampler: logits, mask, sample, accept. The numbers are those of the model in the package.

In: llmask, its tokenizer and its n-gram model. Out: the picture. Cost: half a second, most of it the model's file.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import llmask
from llmask.defaults import NgramModel

from .svg import MARGIN, WIDTH, Picture, width_of

TEXT = '{"color": "'
COLOURS = ["red", "green", "blue"]
SCHEMA = {
    "type": "object",
    "properties": {"color": {"enum": COLOURS}},
    "required": ["color"],
    "additionalProperties": False,
}
N_LIKELIEST, N_ALLOWED = 4, 2
PANEL = 212  # width; two of them side by side
GAP = WIDTH - 2 * MARGIN - 2 * PANEL
HEAD = 26
ROW = 18
HEIGHT = HEAD + (N_LIKELIEST + N_ALLOWED) * ROW + 8
BAR = 74  # of the largest logit, or of all of the probability


class Candidate(NamedTuple):
    """A token that might come next, and what each step of the loop knows of it."""

    text: str
    logit: float
    is_allowed: bool
    probability: float
    is_sampled: bool


class Loop(NamedTuple):
    """One turn of the loop."""

    candidates: list[Candidate]
    n_allowed: int
    vocab_size: int
    after: str


def one_turn() -> Loop:
    """What happens after TEXT: the likeliest tokens, then the likeliest of those that are allowed."""
    tokenizer = llmask.Tokenizer.default()
    matcher = llmask.Compiler(tokenizer).json_schema(SCHEMA).matcher()
    ids = tokenizer.encode(TEXT)
    matcher.accept_tokens(ids)
    logits = NgramModel.load_default().logits(ids)
    mask = llmask.allocate_bitmask(1, tokenizer.vocab_size)
    matcher.fill_bitmask(mask)
    masked = logits.copy()
    llmask.apply_bitmask(masked, mask)
    allowed = np.isfinite(masked)
    weights = np.exp(masked.astype(np.float64) - masked.max())
    weights /= weights.sum()
    sampled = int(masked.argmax())
    likeliest = np.argsort(-logits, kind="stable")[:N_LIKELIEST].tolist()
    best = [one for one in np.argsort(-masked, kind="stable").tolist() if one not in likeliest][:N_ALLOWED]
    matcher.accept_token(sampled)
    candidates = [
        Candidate(
            "<end>" if one in tokenizer.eos_ids else tokenizer.token_bytes(one).decode(),
            float(logits[one]),
            bool(allowed[one]),
            float(weights[one]),
            one == sampled,
        )
        for one in (*likeliest, *best)
    ]
    return Loop(candidates, int(allowed.sum()), tokenizer.vocab_size, matcher.text().decode())


def drawn() -> str:
    """The picture."""
    loop = one_turn()
    sampled = next(one for one in loop.candidates if one.is_sampled)
    picture = Picture(
        "The loop: logits, mask, sample, accept",
        f"Four steps in a circle, after the text {TEXT}. The model gives logits. fill_bitmask and apply_bitmask make "
        f"the logits of refused tokens minus infinity: {loop.n_allowed} of {loop.vocab_size} tokens are left, those "
        f"that begin {' or '.join(COLOURS)}. One of them is sampled, here {sampled.text!r}. accept_token tells llmask, "
        f"and the text is {loop.after}. Then the model gives the next logits.",
    )
    picture.text(MARGIN, 28, TEXT, size=13, is_mono=True, is_bold=True)
    picture.text(MARGIN + 102, 28, f"so far; the schema wants {', '.join(COLOURS[:-1])} or {COLOURS[-1]}", "soft")
    right = MARGIN + PANEL + GAP
    top, below = 42, 42 + HEIGHT + GAP
    _panel(picture, MARGIN, top, "1", "the model: logits", "given")
    _panel(picture, right, top, "2", "fill_bitmask, apply_bitmask", "mask")
    _panel(picture, right, below, "3", "sample", "given")
    _panel(picture, MARGIN, below, "4", "accept_token", "mask")
    least = min(one.logit for one in loop.candidates)
    for number, one in enumerate(loop.candidates):
        y = HEAD + 13 + number * ROW
        share = (one.logit - least + 1) / (max(other.logit for other in loop.candidates) - least + 1)
        _candidate(picture, MARGIN, top + y, one.text, f"{one.logit:.1f}".replace("-", "−"), share, "given")
        shown = f"{one.logit:.1f}".replace("-", "−") if one.is_allowed else "−∞"
        _candidate(picture, right, top + y, one.text, shown, share if one.is_allowed else 0, "mask")
        role = "mask" if one.is_sampled else "given"
        percent = f"{100 * one.probability:.0f} %" if one.is_allowed else "0"
        _candidate(picture, right, below + y, one.text, percent, one.probability, role)
    moves = ("the matcher moves on to the", "next configuration: a row and", "a lexer state. The next mask")
    picture.lines(MARGIN + 10, below + HEAD + 14, (*moves, "is a function of it."), PANEL - 16)
    picture.box(MARGIN + 10, below + HEIGHT - 34, PANEL - 20, 24, "empty", radius=4)
    picture.text(MARGIN + 18, below + HEIGHT - 18, loop.after, is_mono=True, is_bold=True, room=PANEL - 30)
    middle = HEIGHT / 2
    picture.arrow((MARGIN + PANEL, top + middle), (right - 2, top + middle))
    picture.arrow((right + PANEL / 2, top + HEIGHT), (right + PANEL / 2, below - 2))
    picture.arrow((right, below + middle), (MARGIN + PANEL + 2, below + middle))
    picture.arrow((MARGIN + PANEL / 2, below), (MARGIN + PANEL / 2, top + HEIGHT + 2))
    return picture.written(below + HEIGHT + MARGIN)


def _panel(picture: Picture, left: float, top: float, number: str, title: str, role: str) -> None:
    picture.box(left, top, PANEL, HEIGHT, role, role)
    picture.text(left + 10, top + 18, f"{number}  {title}", size=11.5, is_bold=True, room=PANEL - 12)


def _candidate(picture: Picture, left: float, y: float, text: str, value: str, share: float, role: str) -> None:
    """A token, a bar and its value."""
    width = width_of(text, 12, is_mono=True)
    picture.box(left + 10, y - 11, width + 6, 15, "empty", radius=2)
    picture.text(left + 13, y, text, is_mono=True, room=90)
    if share > 0:
        picture.box(left + 92, y - 9, max(2.0, BAR * share), 10, "bar" if role == "mask" else "level", radius=2)
    picture.text(left + PANEL - 10, y, value, "ink" if share > 0 else "soft", anchor="end", room=40)
