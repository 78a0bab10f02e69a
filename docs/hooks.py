"""Makes a site of docs/ and of what its pages link to outside of it, so that every link works there and on a code host.

The README is the first page. Files outside of docs/ that a page links to are in the site, too, under repository/:
Markdown as pages, anything else as it is. Links are written anew for these places, and each page's Markdown lies beside
it, for programs that read llms.txt.

In: the pages, by mkdocs, which calls the functions `on_...`. Out: files and text of the site. Cost: a second.
"""

from __future__ import annotations

import html
import posixpath
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
LINK = re.compile(r"^ *```.*?^ *```$|`[^`\n]*`|(?<=\]\()(?P<target>[^)\s]+)(?=\))", re.DOTALL | re.MULTILINE)
ROW = re.compile(r"^\|.*$", re.MULTILINE)  # of a table
CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)")
MESSAGE = re.compile(r"(?<=<tr>\n<td>)<code>(.*?)</code>(?=</td>)")  # of an error: the first cell of a row
OF_MESSAGES = "<!-- mistakes: "  # in pages of error messages
OUTSIDE = "repository/"  # the folder of the site with what is not in docs/

_written: dict[str, str] = {}  # Markdown of each page, by its place in the site


def anchor(heading: str, separator: str) -> str:
    """The name that a code host gives a heading: lower case, blanks as hyphens, punctuation dropped."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", separator)


def place(path: str) -> str:
    """Where a file of the repository is in the site."""
    if path == "README.md":
        return "index.md"
    return path.removeprefix("docs/") if path.startswith("docs/") else OUTSIDE + path


def origin(place: str) -> str:
    """Which file of the repository is at a place of the site."""
    if place == "index.md":
        return "README.md"
    return place.removeprefix(OUTSIDE) if place.startswith(OUTSIDE) else f"docs/{place}"


def each_link(text: str, change: Callable[[str], str]) -> str:
    """The text with `change` of the target of each link to a file; code is left alone."""

    def changed(found: re.Match[str]) -> str:
        target = found["target"]
        return found[0] if target is None or re.match(r"[a-z]+:|#", target) else change(target)

    return LINK.sub(changed, text)


def linked(path: str) -> list[str]:
    """Files of the repository that a page links to."""
    found: list[str] = []

    def look(target: str) -> str:
        found.append(posixpath.normpath(posixpath.join(posixpath.dirname(path), target.partition("#")[0])))
        return target

    each_link((ROOT / path).read_text(encoding="utf-8"), look)
    return found


def outside(pages: Iterable[str]) -> list[str]:
    """What these pages, and those that they lead to, link to outside of docs/."""
    known = dict.fromkeys(pages)
    pending = list(known)
    while pending:
        path = pending.pop()
        if path.endswith(".md"):
            pending += [target for target in linked(path) if target not in known and (ROOT / target).is_file()]
            known.update(dict.fromkeys(pending))
    return sorted(path for path in known if not path.startswith("docs/"))


def rewritten(text: str, path: str) -> str:
    """The text of a file of the repository, with links for its place in the site."""
    folder = posixpath.dirname(path)
    here = posixpath.dirname(place(path)) or "."

    def moved(target: str) -> str:
        file, sign, heading = target.partition("#")
        there = posixpath.normpath(posixpath.join(folder, file))
        return posixpath.relpath(place(there), here) + sign + heading

    return each_link(text, moved)


def unescaped(text: str) -> str:
    """The text without the escapes of bars in the code of tables: a code host needs them, and the site shows them."""
    return ROW.sub(lambda row: CODE.sub(lambda code: code[0].replace("\\|", "|"), row[0]), text)


def on_config(config: Any) -> Any:
    """Headings get the names that they have on a code host."""
    config.mdx_configs.setdefault("toc", {})["slugify"] = anchor
    return config


def on_files(files: Any, config: Any) -> Any:
    """The README and the files outside of docs/ join those inside."""
    from mkdocs.structure.files import File, InclusionLevel

    pages = [origin(file.src_uri) for file in files.documentation_pages()]
    for path in outside(["README.md", *pages]):
        level = InclusionLevel.INCLUDED if path == "README.md" else InclusionLevel.NOT_IN_NAV
        files.append(File.generated(config, place(path), abs_src_path=str(ROOT / path), inclusion=level))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Links for the site, and code in tables; where a word is searched for, pages about it come before messages and
    before what was measured.
    """
    uri = page.file.src_uri
    if uri.startswith("measured/"):
        page.meta["search"] = {"boost": 0.5}
    elif OF_MESSAGES in markdown:
        page.meta["search"] = {"boost": 0.85}
    _written[uri] = rewritten(markdown, origin(uri))
    return unescaped(_written[uri])


def with_headings(content: str) -> str:
    """The tables of a page with each message as a heading: the search knows it by itself, and links can name it."""
    seen: dict[str, int] = {}

    def heading(message: re.Match[str]) -> str:
        name = anchor(html.unescape(message[1]), "-")
        seen[name] = seen.get(name, 0) + 1
        number = f"_{seen[name]}" if seen[name] > 1 else ""
        return f'<h3 id="{name}{number}">{message[0]}</h3>'

    return MESSAGE.sub(heading, content)


def on_page_content(content: str, page: Any, **_: Any) -> str:
    """Headings for the messages of errors."""
    return with_headings(content) if OF_MESSAGES in page.markdown else content


def on_post_build(config: Any) -> None:
    """Writes the Markdown of the pages beside them, and the links of llms.txt for where it is."""
    folder = Path(config.site_dir)
    for uri, text in _written.items():
        (folder / uri).write_text(text, encoding="utf-8")
    overview = (ROOT / "docs" / "llms.txt").read_text(encoding="utf-8")
    (folder / "llms.txt").write_text(rewritten(overview, "docs/llms.txt"), encoding="utf-8")
