"""Reads a piece of HTML as strictly as its writers should write it.

In: HTML. Out: its texts. Cost: 1 ms.
"""

from __future__ import annotations

from html.parser import HTMLParser

HOSTILE = (
    *("<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "</pre></details>", "' onmouseover='x"),
    *("&lt;b&gt;", "<!--", "]]>", "javascript:alert(1)"),
)
ALLOWED = {"div", "b", "code", "table", "tr", "th", "td", "details", "summary", "pre", "span"}


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in ALLOWED, tag
        assert {name for name, _ in attrs} <= {"style", "title"}, attrs
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        assert self.open, data
        if data.strip():
            self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)

    def handle_decl(self, decl: str) -> None:
        raise AssertionError(decl)


def texts_of(page: str) -> list[str]:
    """The texts between tags; an AssertionError where tags are not closed, or others than views are made of."""
    reader = _Page()
    reader.feed(page)
    reader.close()
    assert not reader.open, reader.open
    return reader.texts
