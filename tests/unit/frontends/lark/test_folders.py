"""Files of relative imports, read and remembered."""

from __future__ import annotations

from pathlib import Path

import pytest

from llmask.frontends.lark.folders import Folder, Outside


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
