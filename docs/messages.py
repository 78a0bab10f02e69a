"""Fills the tables of docs/messages/: what an error says, what brings it and what to do, from tests/contract/mistakes/.

A table is between `<!-- mistakes: NAME -->` and `<!-- end -->`, and is made anew by `python docs/messages.py`; the rest
of a page is written by hand. The mistakes are read and not run: a page has the words that the tests compare, and the
calls as they are written there.

In: the sources of the mistakes, the pages. Out: the pages with their tables. Cost: a tenth of a second.
"""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "docs" / "messages"
TABLE = re.compile(r"^(<!-- mistakes: ([^\n]*) -->)\n.*?^(<!-- end -->)$", re.DOTALL | re.MULTILINE)
HEAD = "| the message | what brings it | what to do |\n|---|---|---|\n"
HEAD_OF_WARNINGS = "| the warning | what brings it |\n|---|---|\n"
WARNINGS = "warnings"
NOTATIONS = ("regex", "gbnf", "ebnf", "lark")  # methods that are given a text, which is shown as it is
KIND = "GrammarError"  # the class of the errors of a subject, but for those that have another
KINDS = {"Call": "LlmaskError", "command line": "LlmaskError", "Limit": "LimitExceeded", "Tokenizer": "VocabularyError"}


class Entry(NamedTuple):
    """A mistake, and what is said of it.

    subject, cause   the halves of its name: what was given, and what is wrong with it
    call             the method or function that was called
    given            pieces of code, a line each: the text of a grammar, or a call, or its arguments
    message, help    the error's parts; a warning has no help of its own
    kind             its class
    """

    subject: str
    cause: str
    call: str
    given: list[str]
    message: str
    help: str
    kind: str


def calling(*calls: str) -> Callable[[Entry], bool]:
    """Whether one of these was called."""
    return lambda entry: entry.call in calls


def saying(*texts: str) -> Callable[[Entry], bool]:
    """Whether one of these is in the message."""
    return lambda entry: any(text in entry.message for text in texts)


def raising(kind: str) -> Callable[[Entry], bool]:
    """Whether it is an error of this class."""
    return lambda entry: entry.kind == kind


# Tables of a part of a subject: a mistake is in the first where it belongs, and else in that of its subject's name.
PARTS: dict[str, dict[str, Callable[[Entry], bool]]] = {
    "JSON Schema": {
        "schemas without documents": raising("UnsatisfiableSchema"),
        "references": saying('"$ref"', "refers to itself"),
        "what a schema is": saying("is not JSON", "is not a JSON value", "a schema must be", "is no path"),
        "options": saying("the option", "formats are"),
    },
    "Tokenizer": {
        "vocabularies": calling("from_bytes"),
        "texts and ids": calling("encode", "encode_batch", "decode"),
    },
    "Call": {
        "refused tokens": raising("TokenRejected"),
        "matchers": calling("accept_token", "accept_bytes", "rollback", "matcher"),
        "bitmasks": calling("fill_bitmask", "fill", "allocate_bitmask", "apply_bitmask"),
        "processors": calling("GrammarLogitsProcessor", "generate", "Reasoning"),
    },
    "command line": {"options of commands": lambda entry: entry.help.startswith("see llmask")},
}


def table(entry: Entry) -> str:
    """The name of the table that has this mistake."""
    if not entry.help:
        return WARNINGS
    parts = PARTS.get(entry.subject, {})
    return next((name for name, belongs in parts.items() if belongs(entry)), entry.subject)


class Source:
    """The source of a file of mistakes."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._lines = text.encode().splitlines(keepends=True)

    def entries(self) -> list[Entry]:
        """All that it has of `Mistake`, `Warned` and tables of `Bad`."""
        tree = ast.parse(self.text)
        tables = {node.target.id: node.value for node in tree.body if isinstance(node, ast.AnnAssign)}
        calls = {"Mistake": [], "Warned": [], "mistakes": []}
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                calls.get(ast.unparse(node.func), []).append(node)
        found = [self.entry(call) for call in [*calls["Mistake"], *calls["Warned"]]]
        for call in calls["mistakes"]:
            found += self.of_table(*map(ast.literal_eval, call.args[:2]), tables[call.args[2].id])
        return found

    def of_table(self, subject: str, method: str, table: ast.Dict) -> Iterator[Entry]:
        """What a table of `Bad` has: a method of `Compiler` is given each of them."""
        for cause, bad in zip(table.keys, table.values, strict=True):
            given, message, _, remedy, *kind = bad.args
            shown = self.compiled([given], [], method, subject)
            told = map(ast.literal_eval, (message, remedy, *(kind or [ast.Constant(KIND)])))
            yield Entry(subject, ast.literal_eval(cause), method, shown, *told)

    def entry(self, mistake: ast.Call) -> Entry:
        """A mistake, by its arguments."""
        name, make, message, *rest = mistake.args
        subject, cause = ast.literal_eval(name).split(": ", 1)
        if isinstance(make, ast.Lambda):
            call, given = self.called(make.body)
        else:
            call = ast.literal_eval(make.args[0])
            given = self.compiled(make.args[1:], make.keywords, call, subject)
        told = ast.literal_eval(message).replace("FOLDER/", "")
        if ast.unparse(mistake.func) == "Warned":
            return Entry(subject, f"{subject}, {cause}", call, given, told, "", "GrammarWarning")
        kinds = [ast.unparse(option.value) for option in mistake.keywords if option.arg == "error"]
        return Entry(
            subject, cause, call, given, told, ast.literal_eval(rest[0]), *(kinds or [KINDS.get(subject, KIND)])
        )

    def compiled(self, arguments: list[ast.expr], keywords: list[ast.keyword], call: str, subject: str) -> list[str]:
        """With what a method of `Compiler` is called."""
        options = [f"{option.arg}={self.shown(option.value)}" for option in keywords]
        code = ", ".join([*map(self.shown, arguments), *options])
        if subject in ("Call", "Limit"):  # of many methods
            return [f"compiler.{call}({code})"]
        if call in NOTATIONS and not options and len(arguments) == 1 and isinstance(arguments[0], ast.Constant):
            text = arguments[0].value
            return [line.strip() for line in text.splitlines()] if isinstance(text, str) and text else [code]
        return [code]

    def called(self, body: ast.Call) -> tuple[str, list[str]]:
        """What the body of a lambda calls, how, and what is in files that it makes."""
        call = ast.unparse(body.func).rpartition(".")[2]
        if call == "without":  # of a package: what is called then
            return self.called(body.args[1].body)
        files = [[ast.literal_eval(part) for part in file.args] for file in self.files(body)]
        texts = [f"{name}: {text.strip()}" for name, text in files if text and text.isprintable()]
        if call == "run":
            return "llmask", [shlex.join(["llmask", *map(self.word, body.args)]), *texts]
        return call, [self.shown(body), *texts]

    def files(self, node: ast.expr) -> list[ast.Call]:
        """The files that an expression makes."""
        return [part for part in ast.walk(node) if isinstance(part, ast.Call) and self.code(part.func) == "w.file"]

    def word(self, node: ast.expr) -> str:
        """A word of a command line: a text, or the name of a file or of the folder."""
        text = self.shown(node)
        return "FOLDER" if text == "str(folder)" else ast.literal_eval(text)

    def code(self, node: ast.expr) -> str:
        """The source of an expression; `ast.get_source_segment` would take the file apart for each."""
        lines = self._lines[node.lineno - 1 : node.end_lineno]
        n_after = len(lines[-1]) - node.end_col_offset
        whole = b"".join(lines)
        return whole[node.col_offset : len(whole) - n_after].decode()

    def shown(self, node: ast.expr) -> str:
        """The source in one line without the `World` of the tests: `matcher` for `w.matcher()`, and names of files."""
        text = self.code(node)
        for file in self.files(node):
            text = text.replace(self.code(file), self.code(file.args[0]))
        text = re.sub(r"\n\s*", " ", re.sub(r",?\n\s*(?=[\])}])|(?<=[\[({])\n\s*", "", text))
        return re.sub(r"\bw\.(\w+)\(\)|\bw\.", r"\1", text).replace("ended.", "matcher.")


def code(text: str) -> str:
    """A line of code for a cell of a table; a bar in it is escaped, which hooks.py takes back for the site."""
    fence = "`"
    while fence in text:
        fence += "`"
    edge = " " if text[:1] == "`" or text[-1:] == "`" else ""
    return f"{fence}{edge}{text}{edge}{fence}".replace("|", "\\|")


def prose(text: str) -> str:
    """A text for a cell of a table: what Markdown would take for its own is escaped, but no _ within a name."""
    text = re.sub(r"[\\`*|]|(?<!\w)_|_(?!\w)|(?<=\])[(\[]", r"\\\g<0>", text)
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("\n", "<br>")


def entries() -> list[Entry]:
    """The mistakes of all files, those with the same message beside each other: by their letters."""
    files = sorted((ROOT / "tests" / "contract" / "mistakes").glob("[!_]*.py"))
    found = [entry for file in files for entry in Source(file.read_text(encoding="utf-8")).entries()]
    return sorted(found, key=lambda entry: re.sub(r"[^\w ]", "", entry.message).lower())


def tables(mistakes: Iterable[Entry]) -> dict[str, str]:
    """All tables, by their names. What is said of several mistakes in the same words is one row."""
    causes: dict[tuple[str, str, str], list[str]] = {}
    for entry in mistakes:
        cause = f"{entry.cause}: {'<br>'.join(map(code, entry.given))}"
        causes.setdefault((table(entry), entry.message, entry.help), []).append(cause)
    found: dict[str, str] = {}
    for (name, message, remedy), told in causes.items():
        row = f"| {code(message)} | {'<br>'.join(told)} |" + (f" {prose(remedy)} |\n" if remedy else "\n")
        found[name] = found.get(name, HEAD if remedy else HEAD_OF_WARNINGS) + row
    return found


def filled(page: str, made: dict[str, str]) -> str:
    """The page with its tables."""
    return TABLE.sub(lambda there: f"{there[1]}\n\n{made[there[2]]}\n{there[3]}", page)


def main() -> None:
    """Fill all pages."""
    made = tables(entries())
    for page in PAGES.glob("*.md"):
        page.write_text(filled(page.read_text(encoding="utf-8"), made), encoding="utf-8")


if __name__ == "__main__":
    main()
