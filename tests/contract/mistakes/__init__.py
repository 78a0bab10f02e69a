"""Mistakes as new users make them, and all that is said of each: data of `test_mistakes.py`, one file a subject.

Every row says what is wrong (`message`), how to mend it (`help`) and, wherever there is a place, where. The pages of
`docs/messages/` are made of them, by `docs/messages.py`, which reads the sources.
"""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple, NoReturn
from unittest.mock import patch

import llmask
from llmask import errors
from llmask.cli import main
from llmask.errors import GrammarError, LimitExceeded, LlmaskError, VocabularyError

LINE = re.compile(r"(llmask[ \w-]*): error: (.*?)(?: \((see .*)\))?\n", re.DOTALL)


# the class of the errors of a subject, but for those that have another
KINDS: dict[str, type[LlmaskError]] = {
    "Call": LlmaskError,
    "command line": LlmaskError,
    "Limit": LimitExceeded,
    "Tokenizer": VocabularyError,
}


class Mistake(NamedTuple):
    """A call that fails.

    name                   what was given, a colon, what is wrong with it
    message, help, where   the error's parts, whole; the folder of the test is FOLDER
    error                  the error's class, where it is not that of the subject
    """

    name: str
    make: Callable[[World], Any]
    message: str
    help: str
    where: str | None = None
    error: type[LlmaskError] | None = None

    @property
    def kind(self) -> type[LlmaskError]:
        """The error's class."""
        return self.error or KINDS.get(self.name.split(": ")[0], GrammarError)


class Bad(NamedTuple):
    """A schema, or a text of a grammar, that is refused: what is said of it, and the name of the error's class.

    A place that is `1:22-26` is line 1, columns 22 to 26: the message shows the line and marks these.
    """

    given: Any
    message: str
    place: str
    help: str
    kind: str = "GrammarError"

    @property
    def where(self) -> str:
        """The place as the error has it, with the line and marks below it."""
        found = re.fullmatch(r"(\d+):(\d+)-(\d+)", self.place)
        if found is None:
            return self.place
        number, first, last = map(int, found.groups())
        line = self.given.split("\n")[number - 1]
        return f"line {number}, column {first}\n    {line}\n    {' ' * (first - 1)}{'^' * (last - first + 1)}"


def mistakes(subject: str, method: str, table: dict[str, Bad]) -> Iterator[Mistake]:
    """What a method of `Compiler` refuses, each by what is wrong with it."""
    for cause, bad in table.items():
        error = getattr(errors, bad.kind)
        yield Mistake(f"{subject}: {cause}", compiling(method, bad.given), bad.message, bad.help, bad.where, error)


class Warned(NamedTuple):
    """A call that compiles with a warning, in whole `message`; `is_told`: by Python's warnings, too."""

    name: str
    make: Callable[[World], Any]
    message: str
    is_told: bool = False


def compiling(method: str, *given: Any, **options: Any) -> Callable[[World], Any]:
    """A call of a method of `Compiler`."""
    return lambda world: getattr(world.compiler, method)(*given, **options)


class World:
    """What the mistakes are made with: the tiny vocabulary, whose ids are the byte + 3, and a folder for files."""

    def __init__(self, tokenizer: llmask.Tokenizer, folder: Path) -> None:
        self.tokenizer = tokenizer
        self.folder = folder
        self.compiler = llmask.Compiler(tokenizer)
        self.other_compiler = llmask.Compiler(llmask.Tokenizer.from_bytes([b"a", b"b", b"</s>"], eos=2))
        self.model = SimpleNamespace(generate=None, config=SimpleNamespace())
        self.chat_tokenizer = SimpleNamespace(chat_template=None)

    def grammar(self) -> Any:
        """Some grammar."""
        return self.compiler.regex("[ab]*c")

    def matcher(self) -> Any:
        """A matcher at its beginning."""
        return self.grammar().matcher()

    def ended(self) -> Any:
        """A matcher at its end."""
        matcher = self.matcher()
        matcher.accept_tokens([102, 1])
        return matcher

    def bitmask(self, n_rows: int = 1) -> Any:
        """A bitmask for the vocabulary."""
        return llmask.allocate_bitmask(n_rows, self.tokenizer.vocab_size)

    def file(self, name: str, text: str) -> str:
        """The path of a file with this text."""
        path = self.folder / name
        path.write_text(text, "utf-8")
        return str(path)

    @staticmethod
    def without(package: str, make: Callable[[], Any]) -> Any:
        """What a call gives where a package is not installed."""
        with patch.dict(sys.modules, {package: None}):
            return make()

    @staticmethod
    def run(*arguments: str) -> NoReturn:
        """Run a command line that is wrong, and raise what it says."""
        told = io.StringIO()
        with redirect_stderr(told), redirect_stdout(io.TextIOWrapper(io.BytesIO())):
            try:
                code: Any = main(arguments)
            except SystemExit as end:
                code = end.code
        assert code in (1, 2)
        found = LINE.fullmatch(told.getvalue())
        assert found is not None, told.getvalue()
        command, text, hint = found.groups()
        if hint is not None:
            raise LlmaskError(text, command, hint)
        message, *lines = text.split("\n  ")
        where = lines.pop(0).removeprefix("at ") if lines and lines[0].startswith("at ") else None
        raise LlmaskError(message, where, "\n  ".join(lines) or None)
