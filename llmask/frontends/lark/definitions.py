"""What a grammar's names mean: its own definitions, and those that it imports.

An imported file has names of its own. Those that the import lists are known under the names that they get there; all
others begin with the file's name and two underscores, so nothing clashes (`common.SIGNED_INT` brings
`COMMON__INT` along). A definition that is listed is the same for the imported file, so `%override` and `%extend`
reach what that file makes of it. `%ignore` in an imported file is for that file alone.

A file is one of the grammars that come with lark (`%import common.NUMBER`) or, where the path begins with a dot, a file
in the directory that the caller gives; nothing outside of it is ever read.
What is read is remembered with the place that it was asked for from, so that a grammar can be compiled again where the
directory is not. Settings (`%llguidance {...}`) change which texts a grammar has, or masks.
Source: lark 1.3, load_grammar.py, `GrammarBuilder`; its documentation, "Grammar Reference"; llguidance, docs/syntax.md,
"Grammar options", and `LLGuidanceOptions` in parser/src/api.rs.

In: statements. Out: definitions by name. Cost: that of reading the files, each once an import.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from llmask.errors import GrammarError, LimitExceeded
from llmask.frontends.lark.syntax import statements_of
from llmask.frontends.lark.tree import (
    Declare,
    Definition,
    Ignore,
    Import,
    Name,
    Node,
    Options,
    Settings,
    Statement,
    is_terminal,
)
from llmask.frontends.places import Source, Spot, similar

MAX_FILES = 64  # files read for one grammar
MAX_FILE_CHARACTERS = 2**20
# terminals of `%import common`, which grammars often use without it
OF_COMMON = frozenset((
    "CNAME", "DECIMAL", "DIGIT", "ESCAPED_STRING", "FLOAT", "HEXDIGIT", "INT", "LETTER", "NEWLINE", "NUMBER",
    "SIGNED_FLOAT", "SIGNED_INT", "SIGNED_NUMBER", "WORD", "WS", "WS_INLINE",
))  # fmt: skip
CHARACTER_RANGE = re.compile(r"[a-z0-9]-[a-z0-9]")  # what is a class in other notations


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
        try:
            self.directory = None if directory is None else directory.resolve()
        except ValueError as error:  # a NUL, or half of a surrogate pair
            raise GrammarError(f"the directory {str(directory)!r} is no path: {error}", None, "name a folder") from None
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


class SettingsOfGrammar(NamedTuple):
    """What settings say.

    ignores_once   `%ignore` describes all that may come between two lexemes
    """

    ignores_once: bool = False


MEANINGLESS = {  # settings that ask for what holds anyway
    "no_forcing": (None, ""),
    "allow_initial_skip": (True, "what is ignored may stand at the beginning"),
    "allow_invalid_utf8": (False, "texts are UTF-8"),
}
KNOWN = (*MEANINGLESS, "skip_repetition")


def read_settings(settings: dict[str, tuple[object, Spot]] | None) -> SettingsOfGrammar | None:
    """Read the settings of a grammar; None where there is no line with settings.

    Raises
    ------
    GrammarError : one is not known, or has a value that is not supported.
    """
    if settings is None:
        return None
    ignores_once = False
    for name, (value, spot) in settings.items():
        if name == "skip_repetition":
            if value not in ("once", "repeat"):
                spot.refuse(f'skip_repetition is "repeat" or "once", not {value!r}', 'write "once"')
            ignores_once = value == "once"
        elif name in MEANINGLESS:
            wanted, reason = MEANINGLESS[name]
            if not isinstance(value, bool) or (wanted is not None and value is not wanted):
                values = "true or false" if wanted is None else f"{str(wanted).lower()} only, as {reason}"
                spot.refuse(f"{name} can be {values}", "take it out")
        else:
            spot.refuse(f'the setting "{name}" is not known', similar(name, KNOWN, f"known are {', '.join(KNOWN)}"))
    return SettingsOfGrammar(ignores_once)


@dataclass(frozen=True)
class Scope:
    """How the names of one file are written elsewhere: as listed, else after the prefix."""

    listed: dict[str, str] = field(default_factory=dict)
    prefix: str = ""

    def name(self, written: str) -> str:
        """The name, for everyone, of what is called `written` in this file."""
        prefix = self.prefix.upper() if is_terminal(written) else self.prefix
        return self.listed.get(written) or prefix + written


class Defined(NamedTuple):
    """A definition and the scope of the names in it; `body` is None for what `%declare` declares."""

    spot: Spot
    body: Node | None
    scope: Scope
    definition: Definition | None


class Definitions:
    """The names of one grammar.

    Parameters
    ----------
    directory : where files of relative imports lie, or None.

    Attributes
    ----------
    known : the definitions, by the names that are for everyone.
    ignored : what may come anywhere.
    settings : all settings of `%llguidance`, each with its place; None where there is no such line.
    main : names that are defined in the grammar's own text, in their order.
    """

    def __init__(self, directory: Folder | None) -> None:
        self.directory = directory
        self.known: dict[str, Defined] = {}
        self.ignored: list[tuple[Spot, Node, Scope]] = []
        self.settings: dict[str, tuple[object, Spot]] | None = None
        self.main: list[str] = []
        self.n_files = 0

    def load(self, statements: tuple[Statement, ...]) -> None:
        """Load the grammar's own text."""
        self._load(statements, Scope(), self.directory, True)
        self.main = [name for name, defined in self.known.items() if defined.scope == Scope()]

    def _load(self, statements: tuple[Statement, ...], scope: Scope, directory: Folder | None, is_main: bool) -> None:
        imports: dict[tuple[bool, tuple[str, ...]], tuple[Spot, list[tuple[Name, str]]]] = {}
        for statement in statements:  # what is imported comes first, so that it can be overridden in any order
            if isinstance(statement, Import):
                key = (statement.is_relative, statement.path)
                imports.setdefault(key, (statement.spot, []))[1].extend(statement.names)
        imported: set[str] = set()
        for (is_relative, path), (spot, names) in imports.items():
            imported |= self._import(spot, is_relative, path, names, scope, directory)
        for statement in statements:
            if isinstance(statement, Definition):
                self._define(statement, scope, imported)
            elif isinstance(statement, Declare):
                for name in statement.names:
                    self._add(scope.name(name.name), Defined(name.spot, None, scope, None), imported)
            elif isinstance(statement, Ignore) and is_main:
                self.ignored.append((statement.spot, statement.body, scope))
            elif isinstance(statement, Settings):
                self._set(statement)

    # --- definitions

    def _define(self, definition: Definition, scope: Scope, imported: set[str]) -> None:
        name = scope.name(definition.name)
        found = Defined(definition.spot, definition.body, scope, definition)
        if not definition.how:
            self._add(name, found, imported)
            return
        before = self.known.get(name)
        if before is None or before.definition is None:
            definition.spot.refuse(
                f'there is no "{definition.name}" to {definition.how}',
                similar(name, self.known, "import or define it before"),
            )
        if before.definition.parameters != definition.parameters:
            definition.spot.refuse(
                f'the template "{definition.name}" has other parameters',
                f"they are {{{', '.join(before.definition.parameters)}}} where it is defined",
            )
        if definition.how == "extend":
            if before.scope != scope:
                definition.spot.refuse(
                    f'"{definition.name}" comes from another file and cannot be extended',
                    f"import it under another name and write {definition.name}: that_name | ...",
                )
            assert before.body is not None
            body = Options(definition.spot, (before.body, definition.body))
            found = Defined(before.spot, body, scope, before.definition)
        self.known[name] = found

    def _add(self, name: str, found: Defined, imported: set[str]) -> None:
        before = self.known.get(name)
        if before is not None and name in imported:
            found.spot.refuse(
                f'"{name}" is imported already', f"write %override {name}: ..., or import it under another name"
            )
        if before is not None:
            found.spot.refuse(
                f'"{name}" is defined twice', f"the other one is at {before.spot.short()}; rename one of them"
            )
        self.known[name] = found

    def _set(self, statement: Settings) -> None:
        self.settings = {} if self.settings is None else self.settings
        if not isinstance(statement.value, dict):
            statement.spot.refuse("%llguidance needs a JSON object after it", "for example %llguidance {}")
        self.settings.update((key, (value, statement.spot)) for key, value in statement.value.items())

    # --- files

    def _import(
        self,
        spot: Spot,
        is_relative: bool,
        path: tuple[str, ...],
        names: list[tuple[Name, str]],
        scope: Scope,
        directory: Folder | None,
    ) -> set[str]:
        """Load a file, and return the names that it got here."""
        source, inner_directory = self._read(spot, is_relative, path, directory)
        statements = statements_of(source)
        inside = {found.name for found in _declared(statements)}
        listed: dict[str, str] = {}
        for name, alias in names:
            if name.name not in inside:
                name.spot.refuse(
                    f'"{".".join(path)}" has no "{name.name}"', similar(name.name, inside, "look what it defines")
                )
            if listed.setdefault(name.name, scope.name(alias)) != scope.name(alias):
                name.spot.refuse(f'"{name.name}" is imported twice under two names', f"write {alias}: {name.name}")
        clash = next((alias for alias in listed.values() if alias in self.known), None)
        if clash is not None:
            spot.refuse(f'"{clash}" is imported from two files', "import one of them under another name: -> NAME")
        inner = Scope(listed, f"{scope.prefix}{'__'.join(path)}__")
        if any(inner.name(name) in self.known for name in inside):
            spot.refuse(f'"{".".join(path)}" is imported in two ways', "rename one of the files")
        self._load(statements, inner, inner_directory, False)
        return set(listed.values())

    def _read(
        self, spot: Spot, is_relative: bool, path: tuple[str, ...], directory: Folder | None
    ) -> tuple[Source, Folder | None]:
        """The text of a file, and the directory of its own relative imports."""
        self.n_files += 1
        if self.n_files > MAX_FILES:
            raise LimitExceeded(f"more than {MAX_FILES} files are imported", spot.shown(), "do they import each other?")
        shown = f"{'.' * is_relative}{'.'.join(path)}"
        if not is_relative:
            library = files("lark") / "grammars"
            known = sorted(file.name[:-5] for file in library.iterdir() if file.name.endswith(".lark"))
            if len(path) > 1 or path[0] not in known:
                spot.refuse(
                    f'there is no library "{shown}"',
                    f"there are {', '.join(known)}; for a file of your own write %import .{'.'.join(path)}.name",
                )
            return Source((library / f"{path[0]}.lark").read_text(encoding="utf-8"), f"{path[0]}.lark"), None
        if directory is None:
            spot.refuse(
                f'"{shown}" is a file, and it is not known where files are',
                "give the directory: lark(text, directory=...)",
            )
        try:
            text, inner = directory.read(path)
        except Outside:
            spot.refuse(f'"{shown}" leads out of the directory', f"put the file under {directory.name}")
        except (OSError, UnicodeDecodeError) as error:
            spot.refuse(
                f'"{shown}" cannot be read: {type(error).__name__}', f"it is looked for as {'/'.join(path)}.lark"
            )
        if len(text) > MAX_FILE_CHARACTERS:
            raise LimitExceeded(f'"{shown}" has more than {MAX_FILE_CHARACTERS} characters', spot.shown(), "split it")
        return Source(text, "/".join(path) + ".lark"), inner

    # --- questions

    def find(self, name: Name, scope: Scope) -> tuple[str, Defined]:
        """What a name in a file means: its name for everyone, and the definition.

        Raises
        ------
        GrammarError : it is not defined, or only declared.
        """
        full = scope.name(name.name)
        found = self.known.get(full)
        if found is None:
            kind = "terminal" if name.is_terminal else "rule"
            similar_names = [known for known in self.known if is_terminal(known) == name.is_terminal]
            otherwise = "define it"
            if name.name in OF_COMMON:
                otherwise = f"import it: %import common.{name.name}"
            elif CHARACTER_RANGE.fullmatch(name.name):
                otherwise = f"for one of the characters write /[{name.name}]/"
            name.spot.refuse(f'the {kind} "{name.name}" is not defined', similar(name.name, similar_names, otherwise))
        if found.body is None:
            name.spot.refuse(
                f'"{name.name}" is only declared, and nothing but a program can make it',
                f"define it ({name.name}: ...) or take it out",
            )
        return full, found


def _declared(statements: tuple[Statement, ...]) -> list[Name]:
    """Names that a file has, those that it imports included."""
    found: list[Name] = []
    for statement in statements:
        if isinstance(statement, Definition):
            found.append(Name(statement.spot, statement.name))
        elif isinstance(statement, Declare):
            found += statement.names
        elif isinstance(statement, Import):
            found += [Name(name.spot, alias) for name, alias in statement.names]
    return found
