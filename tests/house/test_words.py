"""One word for one idea: what the glossary of llmask/README.md says not to use is in no kernel; and plain English."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

from .test_kernels import modules

STAGES = ("regex/", "lexer/", "lexeme_masks/", "parser/", "values/", "mask/", "finish/")
NARROW = {"link": ("parser/",), "point": ("parser/", "mask/")}  # elsewhere chains have links, and numbers points
OTHER_MEANINGS = re.compile(
    r"So many tokens, so little|\bin place\b|\b(code|fixed|decimal) points?\b|\bfloating point\b", re.IGNORECASE
)
# English that slows a reader down, and what to write: after, is, the rules of, no, whose, as many
FILLERS = ("behind", "stands", "those of", "is none", "are none", "of which", "so many")


def glossary(project_root: Path) -> dict[str, str]:
    """Words of the first column, and the words of the last one instead of them."""
    page = (project_root / "llmask" / "README.md").read_text(encoding="utf-8").split("## Words of the code")[1]
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if line.startswith("| *")
    ]
    return {row[0]: row[2] for row in rows}


def prose_and_names(path: Path) -> Iterator[tuple[int, str]]:
    """Docstrings and comments, and identifiers in words, each with its line."""
    text = path.read_text(encoding="utf-8")
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.STRING, tokenize.COMMENT):
            yield token.start[0], OTHER_MEANINGS.sub("", re.sub(r"\s+", " ", token.string))
        elif token.type == tokenize.NAME:
            yield token.start[0], OTHER_MEANINGS.sub("", token.string.replace("_", " "))


def uses(project_root: Path, words: list[str], folders: tuple[str, ...] = ("",)) -> list[str]:
    pattern = re.compile(r"\b(" + "|".join(map(re.escape, words)) + r")s?\b", re.IGNORECASE)
    return [
        f"{name}:{line}: {found}"
        for name, path in modules(project_root).items()
        if name.startswith(folders)
        for line, text in prose_and_names(path)
        for found in pattern.findall(text)
    ]


def test_the_glossary_is_whole(project_root: Path) -> None:
    words = glossary(project_root)
    assert len(words) >= 30
    code = " ".join(path.read_text(encoding="utf-8") for path in (project_root / "llmask").rglob("*.py")).lower()
    for named in words:
        for word in re.findall(r"\*([^*]+)\*", named):
            assert word.lower().replace(" ", "_") in code or word.lower() in code, word


def test_no_kernel_has_another_word_for_what_the_glossary_names(project_root: Path) -> None:
    others = [word.strip() for instead in glossary(project_root).values() for word in instead.split(",") if word]
    assert len(others) >= 8
    assert uses(project_root, [word for word in others if word not in NARROW], STAGES) == []
    for word, folders in NARROW.items():
        assert word in others
        assert uses(project_root, [word], folders) == []


def test_the_english_of_the_package_is_plain(project_root: Path) -> None:
    """Case tells `is None` of Python from English; a sentence may begin with a filler."""
    pattern = re.compile(
        r"\b(" + "|".join(word for filler in FILLERS for word in (filler, filler.capitalize())) + r")\b"
    )
    package = project_root / "llmask"
    found = [
        f"{path.relative_to(package).as_posix()}:{line}: {filler}"
        for path in sorted(package.rglob("*.py"))
        for line, text in prose_and_names(path)
        for filler in pattern.findall(text)
    ]
    assert found == []
