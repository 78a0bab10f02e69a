"""The pages of error messages have each mistake of tests/contract/mistakes/, as it is written there, and are found."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from tests.contract.test_mistakes import MISTAKES, WARNED

from .test_readme import ROOT, anchors, read
from .test_site import hooks, loaded

messages = loaded("messages")
ENTRIES = messages.entries()
PAGES = sorted(path.relative_to(ROOT).as_posix() for path in messages.PAGES.glob("*.md"))
PLACES = {name: page for page in PAGES for name in re.findall(r"^<!-- mistakes: (.*) -->$", read(page), re.MULTILINE)}
INDEX = "docs/messages/README.md"


def in_the_site(page: str) -> str:
    """The file of a page of docs/."""
    return hooks.place(page).replace("README.md", "index.md").replace(".md", ".html")


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_what_the_script_makes(page: str) -> None:
    assert read(page) == messages.filled(read(page), messages.tables(ENTRIES)), "run python docs/messages.py"


def test_every_mistake_is_read_with_its_words() -> None:
    errors = [entry for entry in ENTRIES if entry.kind != "GrammarWarning"]
    told = Counter((f"{entry.subject}: {entry.cause}", entry.message, entry.help, entry.kind) for entry in errors)
    assert told == Counter(
        (mistake.name, mistake.message.replace("FOLDER/", ""), mistake.help, mistake.kind.__name__)
        for mistake in MISTAKES
    )
    warned = sorted((entry.cause.replace(",", ":"), entry.message) for entry in ENTRIES if entry not in errors)
    assert warned == sorted((warning.name, warning.message) for warning in WARNED)


def test_every_mistake_is_in_one_table_of_one_page() -> None:
    names = [name for page in PAGES for name in re.findall(r"^<!-- mistakes: (.*) -->$", read(page), re.MULTILINE)]
    assert sorted(names) == sorted(messages.tables(ENTRIES))
    for entry in ENTRIES:
        rows = [row for row in read(PLACES[messages.table(entry)]).splitlines() if f"{entry.cause}: " in row]
        assert [row for row in rows if row.startswith(f"| {messages.code(entry.message)} |")], entry


def test_nothing_of_the_tests_is_shown() -> None:
    """But what a reader has: a compiler, a tokenizer, a grammar, a matcher; each piece is one line."""
    lines = [line for entry in ENTRIES for line in entry.given]
    assert [line for line in lines if re.search(r"\bw\.|\blambda\b|\bcompiling\b|\bended\b|\n", line)] == []


@pytest.mark.parametrize(
    ("source", "call", "given"),
    [
        ('compiling("json_schema", {"type": "a|b"})', "json_schema", ['{"type": "a|b"}']),
        ('compiling("json_schema", True, indent=-1)', "json_schema", ["True, indent=-1"]),
        ('compiling(\n    "tools",\n    [\n        {"name": "a"},\n    ],\n)', "tools", ['[{"name": "a"}]']),
        ('compiling("gbnf", "a\\nb")', "gbnf", ["a", "b"]),
        ('compiling("gbnf", "")', "gbnf", ['""']),
        ('compiling("lark", "a", start="b")', "lark", ['"a", start="b"']),
        ("lambda w: w.matcher().rollback(1)", "rollback", ["matcher.rollback(1)"]),
        ('lambda w: Tokenizer.load(w.file("a.txt", "Hello"))', "load", ['Tokenizer.load("a.txt")', "a.txt: Hello"]),
        ('lambda w: w.run("check", \'{"a": }\', str(w.folder))', "llmask", ["llmask check '{\"a\": }' FOLDER"]),
        ('lambda w: w.without("x", lambda: w.compiler.f(A))', "f", ["compiler.f(A)"]),
    ],
)
def test_calls_are_shown_as_a_reader_would_write_them(source: str, call: str, given: list[str]) -> None:
    text = f'Mistake("JSON Schema: cause", {source}, "message", "help")'
    (entry,) = messages.Source(text).entries()
    assert (entry.call, entry.given) == (call, given)
    assert entry[:2] + entry[4:] == ("JSON Schema", "cause", "message", "help", "GrammarError")


@pytest.mark.parametrize(
    ("text", "code", "prose"),
    [
        ("a|b", "`a\\|b`", "a\\|b"),
        ("`", "`` ` ``", "\\`"),
        ("a``b", "```a``b```", "a\\`\\`b"),
        ("a\\", "`a\\`", "a\\\\"),
        ("max_tokens, _a, *b*", "`max_tokens, _a, *b*`", "max_tokens, \\_a, \\*b\\*"),
        ("<[10]>&lt;", "`<[10]>&lt;`", "&lt;[10]>&amp;lt;"),
        ("[a](b)", "`[a](b)`", "[a]\\(b)"),
        ("[a][b]", "`[a][b]`", "[a]\\[b]"),
    ],
)
def test_signs_are_no_markdown(text: str, code: str, prose: str) -> None:
    assert messages.code(text) == code
    assert messages.prose(text) == prose


def test_what_is_often_asked_for_is_where_the_index_says() -> None:
    rows = re.findall(r"^\| `(.+)` \| .* \| (.*) \|$", read(INDEX), re.MULTILINE)
    assert len(rows) >= 10
    for words, links in rows:
        for page, heading in re.findall(r"\]\((\w+\.md)#([\w-]+)\)", links):
            text = read(f"docs/messages/{page}")
            sections = re.split(r"^## ", text, flags=re.MULTILINE)
            (section,) = [part for part in sections[1:] if heading in anchors(f"## {part}")]
            assert [row for row in section.splitlines() if row.startswith("| `") and words in row.split(" | ")[0]], (
                words
            )


def test_the_index_leads_to_every_page() -> None:
    assert {f"docs/messages/{name}" for name in re.findall(r"\]\((\w+\.md)\)", read(INDEX))} == {*PAGES} - {INDEX}


@pytest.mark.parametrize(
    ("row", "shown"),
    [
        ("| `a\\|b` | c\\|d |", "| `a|b` | c\\|d |"),
        ("| `` `\\| `` | `a\\` | `\\|` |", "| `` `| `` | `a\\` | `|` |"),
        ("a `b\\|c`", "a `b\\|c`"),
    ],
)
def test_bars_in_code_are_escaped_for_a_code_host_alone(row: str, shown: str) -> None:
    assert hooks.unescaped(row) == shown


def test_messages_are_headings_in_the_site() -> None:
    rows = "".join(
        f"<tr>\n<td><code>{text}</code></td>\n<td><code>x</code></td>\n</tr>\n" for text in ("a &lt;b", "a &lt;b")
    )
    assert re.findall(r"<h3.*?</h3>", hooks.with_headings(rows)) == [
        '<h3 id="a-b"><code>a &lt;b</code></h3>',
        '<h3 id="a-b_2"><code>a &lt;b</code></h3>',
    ]


def test_the_site_shows_every_mistake_as_it_is(site: Path) -> None:
    shown: dict[str, list[list[str]]] = {}
    for page in PAGES:
        text = (site / in_the_site(page)).read_text(encoding="utf-8")
        rows = re.findall(r"<tr>\n(.*?)</tr>", text, re.DOTALL)
        cells = [re.findall(r"<td>(.*?)</td>", row, re.DOTALL) for row in rows]
        shown[page] = [[re.sub(r"<[^>]*>", "", cell.replace("<br>", "\n")) for cell in row] for row in cells]
    for entry in ENTRIES:
        cause = f"{entry.cause}: " + "\n".join(entry.given)
        rows = [[html.unescape(cell) for cell in row] for row in shown[PLACES[messages.table(entry)]]]
        assert [
            row
            for row in rows
            if [row[:1], *row[2:]] == [[entry.message], *filter(None, [entry.help])] and cause in row[1]
        ], entry


def test_a_message_that_is_pasted_into_the_search_is_found(site: Path) -> None:
    """Alone, and at the end of a traceback: its page is nearly always the first, and else among the first three."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed, which runs the search of the site")
    places: dict[str, set[str]] = {}
    for entry in ENTRIES:
        places.setdefault(entry.message, set()).add(in_the_site(PLACES[messages.table(entry)]))
    traces = [f"Traceback\n  1 / 0\nllmask.errors.GrammarError: {message}\n  at #\n  help" for message in places]
    words = {"pattern": "grammars.html", "limits": "limits.html", "json schema": "json_schema.html"}  # before messages
    words |= {"budget": "budgets.html"}  # before what was measured
    done = subprocess.run(
        [node, str(Path(__file__).with_name("search_site.js")), str(site)],
        input=json.dumps([*places, *traces, *words]),
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    found = [[location.partition("#")[0] for location in locations] for locations in json.loads(done.stdout)]
    assert [pages[0] for pages in found[-len(words) :]] == list(words.values())
    asked = list(zip([*places, *places], found[: -len(words)], strict=True))
    first = [message for message, pages in asked if places[message] & {*pages[:1]}]
    late = [message for message, pages in asked if not places[message] & {*pages[:3]}]
    assert len(first) >= 0.9 * len(asked)
    assert len(late) <= 0.03 * len(asked), late
