"""Where the files of relative imports are: in a directory of the caller, or what was read from one before.

What is read is remembered with the place that it was asked for from, so that a grammar can be compiled again where the
directory is not.

In: a directory, or what was read. Out: texts. Cost: that of reading.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class Read(NamedTuple):
    """A file: its text, and the folder of its own relative imports."""

    text: str
    folder: str


Reads = dict[tuple[str, str], Read]  # by the folder that a path begins in, and the path


class Outside(Exception):
    """A path leads out of its folder."""


class Folder:
    """A folder of files.

    Parameters
    ----------
    directory : where it is; None: what `reads` has is all there is.
    reads : what has been read so far, from all folders of one grammar.
    place : its own name there.

    Attributes
    ----------
    name : for messages.
    """

    def __init__(self, directory: Path | None, reads: Reads | None = None, place: str = "") -> None:
        self.directory = None if directory is None else directory.resolve()
        self.reads: Reads = {} if reads is None else reads
        self.place = place
        self.name = place if self.directory is None else self.directory.name

    def read(self, path: tuple[str, ...]) -> tuple[str, Folder]:
        """The text of a file, and the folder of its own relative imports.

        Raises
        ------
        Outside : the path leads out of the folder.
        OSError, UnicodeDecodeError : the file cannot be read.
        """
        key = self.place, "/".join(path)
        if self.directory is None:
            known = self.reads.get(key)
            if known is None:
                raise FileNotFoundError
            return known.text, Folder(None, self.reads, known.folder)
        file = self.directory.joinpath(*path).with_suffix(".lark").resolve()
        if not file.is_relative_to(self.directory):
            raise Outside
        text = file.read_text(encoding="utf-8")
        inner = file.parent.relative_to(self.directory)
        place = "/".join(part for part in (self.place, *inner.parts) if part)
        self.reads[key] = Read(text, place)
        return text, Folder(file.parent, self.reads, place)
