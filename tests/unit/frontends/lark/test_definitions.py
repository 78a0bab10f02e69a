"""What names mean: imports, overriding, extending, files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import llmask
from llmask.errors import GrammarError, LimitExceeded
from llmask.frontends.lark.definitions import (
    MAX_FILES,
    Definitions,
    Folder,
    Outside,
    Scope,
    SettingsOfGrammar,
    read_settings,
)
from llmask.frontends.lark.syntax import statements_of
from llmask.frontends.places import Source, Spot

Accepts = Callable[..., bool]


def loaded(text: str, directory: Path | None = None) -> Definitions:
    definitions = Definitions(None if directory is None else Folder(directory))
    definitions.load(statements_of(Source(text)))
    return definitions


def test_a_scope_gives_listed_names_and_prefixes() -> None:
    scope = Scope({"a": "b"}, "file__")
    assert [scope.name(name) for name in ("a", "c", "D")] == ["b", "file__c", "FILE__D"]


def test_imports_bring_what_they_need() -> None:
    definitions = loaded("%import common.SIGNED_INT -> N\nstart: N\n")
    assert {"N", "COMMON__INT", "COMMON__DIGIT", "start"} <= set(definitions.known)
    assert definitions.main == ["start"]


def test_libraries_of_lark_can_be_imported(accepts: Accepts) -> None:
    grammar = "%import common (NUMBER, CNAME)\n%import common.WS\n%ignore WS\nstart: CNAME '=' NUMBER\n".replace(
        "'", '"'
    )
    assert accepts(grammar, " x_1 = 1.5e3 ")
    assert not accepts(grammar, "1 = x")


def test_files_of_a_directory_can_be_imported(compiler: llmask.Compiler, tmp_path: Path, accepts: Accepts) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "base.lark").write_text('%import .sub.words.WORD\nlist: item ("," item)*\nitem: WORD\n')
    (tmp_path / "sub" / "words.lark").write_text('%import .other.LETTER\nWORD: LETTER+\n%ignore "never"\n')
    (tmp_path / "sub" / "other.lark").write_text('LETTER: "a".."f"\n')
    grammar = compiler.lark("%import .base (list)\nstart: list\n", directory=tmp_path)
    assert accepts(grammar, "a,bc,def")
    assert not accepts(grammar, "a,xyz")
    overridden = '%import .base (list, item)\n%override item: "<" WORD ">"\n%import .sub.words.WORD\nstart: list\n'
    assert accepts(compiler.lark(overridden, directory=tmp_path), "<a>,<bc>")
    assert not accepts(compiler.lark(overridden, directory=tmp_path), "a")


@pytest.mark.parametrize(
    ("text", "document"),
    [
        ('%import common.SIGNED_INT\n%override SIGNED_INT: "x"\nstart: SIGNED_INT\n', "x"),
        ('a: "x"\n%extend a: "y"\nstart: a a\n', "xy"),
        ('A: "x"\n%extend A: "y"\nstart: A A\n', "yx"),
        ('a{p}: p\n%extend a{p}: p p\nstart: a{"x"}\n', "xx"),
    ],
)
def test_definitions_are_overridden_and_extended(text: str, document: str, accepts: Accepts) -> None:
    assert accepts(text, document)


def test_files_that_import_each_other_meet_a_limit(tmp_path: Path) -> None:
    (tmp_path / "a.lark").write_text("%import .b.x\nx: y\ny: x\n")
    (tmp_path / "b.lark").write_text("%import .a.y\nx: y\n")
    with pytest.raises(LimitExceeded, match=f"more than {MAX_FILES} files"):
        loaded("%import .a.x\nstart: x\n", tmp_path)


def test_nothing_outside_the_directory_is_read(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "secret.lark").write_text('x: "secret"\n')
    (inside / "link.lark").symlink_to(tmp_path / "secret.lark")
    with pytest.raises(GrammarError, match=r'"\.link" leads out of the directory'):
        loaded("%import .link.x\nstart: x\n", inside)
    with pytest.raises(GrammarError, match=r'"\.absent" cannot be read: FileNotFoundError'):
        loaded("%import .absent.x\nstart: x\n", inside)
    (inside / "bytes.lark").write_bytes(b"\xff")
    with pytest.raises(GrammarError, match=r'"\.bytes" cannot be read: UnicodeDecodeError'):
        loaded("%import .bytes.x\nstart: x\n", inside)


def test_what_was_read_is_read_again_without_the_directory(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "one.lark").write_text("ONE")
    (tmp_path / "a" / "b" / "two.lark").write_text("TWO")
    folder = Folder(tmp_path)
    text, inner = folder.read(("a", "one"))
    assert (text, inner.read(("b", "two"))[0]) == ("ONE", "TWO")
    assert {key: tuple(read) for key, read in folder.reads.items()} == {
        ("", "a/one"): ("ONE", "a"),
        ("a", "b/two"): ("TWO", "a/b"),
    }
    again = Folder(None, folder.reads)
    text, inner = again.read(("a", "one"))
    assert (text, inner.read(("b", "two"))[0]) == ("ONE", "TWO")
    with pytest.raises(FileNotFoundError):
        again.read(("a", "b", "two"))  # nobody has asked for it from there


def test_nothing_outside_is_read(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "secret.lark").write_text("SECRET")
    (tmp_path / "in" / "link.lark").symlink_to(tmp_path / "secret.lark")
    folder = Folder(tmp_path / "in")
    with pytest.raises(Outside):
        folder.read(("link",))
    with pytest.raises(FileNotFoundError):
        folder.read(("none",))
    assert not folder.reads
    assert folder.name == "in"


def read(**settings: Any) -> SettingsOfGrammar | None:
    return read_settings({name: (value, Spot.nowhere()) for name, value in settings.items()})


def test_settings_are_read() -> None:
    assert read_settings(None) is None
    assert read() == SettingsOfGrammar()
    assert read(no_forcing=True, allow_invalid_utf8=False) == SettingsOfGrammar()
    assert read(skip_repetition="once") == SettingsOfGrammar(ignores_once=True)


@pytest.mark.parametrize(
    "settings",
    [
        {"other": 1},
        {"no_forcing": 1},
        {"allow_invalid_utf8": True},
        {"skip_repetition": "x"},
        {"allow_initial_skip": False},
    ],
)
def test_what_is_not_supported_is_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(GrammarError):
        read(**settings)
