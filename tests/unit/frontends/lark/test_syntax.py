"""Statements and expressions as lark's parser gives them."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import pytest

from llmask.frontends.lark.syntax import statements_of
from llmask.frontends.lark.tree import Declare, Definition, Ignore, Import, Row, Settings
from llmask.frontends.places import Source, Spot


def plain(node: Any) -> Any:
    """A tree without places, and rows of one part as that part."""
    if isinstance(node, Spot):
        return None
    if isinstance(node, Row) and len(node.parts) == 1:
        return plain(node.parts[0])
    if isinstance(node, tuple) and hasattr(node, "_fields"):
        return (
            type(node).__name__,
            *(
                plain(field)
                for name, field in zip(node._fields, node, strict=True)
                if name not in ("spot", "alias") and not (name == "condition" and field is None)
            ),
        )
    return [plain(item) for item in node] if isinstance(node, tuple) else node


def body(text: str) -> Any:
    (statement,) = statements_of(Source(text))
    assert isinstance(statement, Definition)
    return plain(statement.body)


A, B, C = ("Name", "a"), ("Name", "b"), ("Name", "c")


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("x: a", A),
        ("x:", ("Row", [])),
        ("x: a b -> c", ("Row", [A, B])),
        ("x: a | b c", ("Options", [A, ("Row", [B, C])])),
        ("x: a? b* c+", ("Row", [("Repeated", A, 0, 1), ("Repeated", B, 0, None), ("Repeated", C, 1, None)])),
        ("x: a{2} b{2,} c{,2}", ("Row", [("Repeated", A, 2, 2), ("Repeated", B, 2, None), ("Repeated", C, 0, 2)])),
        ("x: a~2 b~2..3", ("Row", [("Repeated", A, 2, 2), ("Repeated", B, 2, 3)])),
        ("x: [a b]", ("Repeated", ("Row", [A, B]), 0, 1)),
        ("x: (a | b)*", ("Repeated", ("Options", [A, B]), 0, None)),
        ("x: c{a, b}", ("Usage", "c", [A, B])),
        ("X: a & b | c", ("Options", [("Both", [A, B]), C])),
        ("X: ~a+", ("Repeated", ("Negated", A), 1, None)),
        (r'x: "a\n\"\x41\u00e9\U0001F600"i', ("Text", 'a\n"Aé😀', True)),
        (r'x: "\ud83d\ude00"', ("Text", "😀", False)),
        (r"x: /a\/b\d/is", ("Pattern", r"a\/b\d", "is")),
        ('x: "a".."f"', ("Range", "a", "f")),
        ('x: %json {"b": 1} a', ("Row", [("Json", '{"b": 1}'), A])),
        ('x: %regex {"b": 1}', ("Structured", {"b": 1})),
        ("x: <|b|>", ("Token", "<|b|>")),
    ],
)
def test_expressions(text: str, tree: Any) -> None:
    assert body(text) == tree


def test_statements() -> None:
    found = statements_of(
        Source(
            'r{a, b}.-2[lazy, suffix="x", temperature=0.5]: a\n%override T.1: "a"\n%extend r: "b"\n%ignore " "\n'
            "%import common.INT -> N\n%import .lib.sub (a, B)\n%declare C d\n%llguidance {}\n"
        )
    )
    rule, override, extend, ignore, one, several, declare, settings = found
    assert isinstance(rule, Definition)
    assert (rule.name, rule.parameters, rule.priority, rule.how) == ("r", ("a", "b"), -2, "")
    assert [plain(attribute)[1:] for attribute in rule.attributes] == [
        ("lazy", None),
        ("suffix", ("Text", "x", False)),
        ("temperature", 0.5),
    ]
    assert isinstance(override, Definition)
    assert isinstance(extend, Definition)
    assert (override.how, override.priority, extend.how) == ("override", 1, "extend")
    assert isinstance(ignore, Ignore)
    assert isinstance(one, Import)
    assert (one.path, one.is_relative, [(name.name, alias) for name, alias in one.names]) == (
        ("common",), False, [("INT", "N")],
    )  # fmt: skip
    assert isinstance(several, Import)
    assert (several.path, several.is_relative, [alias for _, alias in several.names]) == (
        ("lib", "sub"), True, ["a", "B"],
    )  # fmt: skip
    assert isinstance(declare, Declare)
    assert isinstance(settings, Settings)


@pytest.mark.parametrize("name", ["common", "unicode", "python", "lark"])
def test_the_grammars_that_come_with_lark_are_read(name: str) -> None:
    text = (files("lark") / "grammars" / f"{name}.lark").read_text(encoding="utf-8")
    found = statements_of(Source(text, name))
    assert len(found) == len([line for line in text.split("\n") if line[:1] not in ("", " ", "/", "#", "\t")])
