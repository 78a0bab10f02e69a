"""Rules as expressions: what may be written, which of several terminals is taken, and what is ignored."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import llmask
from llmask.errors import LimitExceeded
from llmask.grammar.expressions import Attributes

Accepts = Callable[..., bool]
Following = Callable[..., str]
LETTERS = "abcdefghijklmnopqrstuvwxyz"


@pytest.mark.parametrize(
    ("grammar", "matched", "refused"),
    [
        ('start: "a" | "b" "c" -> alias', ["a", "bc"], ["b"]),
        ('start: ["a"] "b"? "c"', ["c", "abc"], ["ab"]),
        ('start: ("a" "b")+', ["ab", "abab"], ["", "aba"]),
        ('start: "a" ~ 2 "b"{1,2}', ["aab", "aabb"], ["ab", "aabbb"]),
        ("start:", [""], ["a"]),
        ('start: "" "a"', ["a"], [""]),
        ('?start: x\n!x.2: "x"', ["x"], [""]),
        ('start: list{"a"} ";" list{x}\nlist{item}: item ("," item)*\nx: "x"', ["a,a;x", "a;x,x"], ["x;a"]),
        ('start: pair{"a", pair{"b", "c"}}\npair{l, r}: "(" l r ")"', ["(a(bc))"], ["(abc)"]),
        ('start: "a" start "b" | "c"', ["c", "aacbb"], ["acbb"]),
        ('start: start "a" | "a"', ["a", "aaaa"], [""]),
        ('start: x | y\nx: y "a"\ny: x "b" | "c"', ["c", "ca", "cab", "caba"], ["a", "cb"]),
        ('start: "a".."c" /x+/', ["bxx"], ["dx"]),
    ],
)  # fmt: skip
def test_rules(grammar: str, matched: list[str], refused: list[str], accepts: Accepts) -> None:
    assert [text for text in matched if not accepts(grammar, text)] == []
    assert [text for text in refused if accepts(grammar, text)] == []


NAMED = "start: A ';' | B '.'\n".replace("'", '"')


@pytest.mark.parametrize(
    ("terminals", "text", "expected"),
    [
        ('A: "ab"\nB: /[a-z]+/', "ab", f";{LETTERS}"),  # a string goes before a pattern
        ('A: "ab"\nB.1: /[a-z]+/', "ab", f".{LETTERS}"),  # unless that has the higher priority
        ("A: /[a-z]{1,3}/\nB: /[a-z]+/", "ab", f".{LETTERS}"),  # what can match more
        ("A: /[a-x]+/\nB: /[a-xyz]+/", "ab", f".{LETTERS}"),  # the longer pattern
        ("A: /[a-z]+/\nB: /[a-z]+/", "ab", f".;{LETTERS}"),  # the same: both
        ('A: "=="\nB: "="', "=", ".="),  # longest match
    ],
)
def test_one_of_the_terminals_that_end_together_is_taken(
    terminals: str, text: str, expected: str, following: Following
) -> None:
    assert following(f"{NAMED}{terminals}\n", text) == expected


def test_all_of_them_are_taken_where_the_grammar_or_the_caller_says_so(
    compiler: llmask.Compiler, following: Following
) -> None:
    grammar = f'{NAMED}A: "ab"\nB: /[a-z]+/\n'
    assert following("%llguidance {}\n" + grammar, "ab") == f".;{LETTERS}"
    assert following(compiler.lark(grammar, ties="all"), "ab") == f".;{LETTERS}"
    assert following(compiler.lark("%llguidance {}\n" + grammar, ties="first"), "ab") == f";{LETTERS}"


def test_what_is_ignored_stands_anywhere_any_number_of_times(accepts: Accepts) -> None:
    grammar = 'start: "a" "b"\n%ignore " "\n%ignore COMMENT\nCOMMENT: /#[^\\n]*\\n/\n'
    assert [accepts(grammar, text) for text in ("ab", "  a #x\n # y\n b ", "a#b")] == [True, True, False]


@pytest.mark.filterwarnings("ignore::llmask.GrammarWarning")  # of "a ": a line end goes on with it, and is needed
def test_what_is_expected_goes_before_what_is_ignored(following: Following) -> None:
    grammar = 'start: "a" NL "b"\nNL: "\\n"\n%ignore /[ \\n]+/\n'
    assert following(grammar, "a\n") == "\n b"
    assert following(grammar, "a \n") == "\n "


def test_what_is_ignored_may_be_limited_to_once(following: Following) -> None:
    grammar = 'start: "a" "b"\n%ignore / {1,2}/\n'
    assert following(grammar, "a   ") == " b"
    assert following('%llguidance {"skip_repetition": "once"}\n' + grammar, "a  ") == "b"


def test_lazy_rules_end_at_the_first_place(following: Following, accepts: Accepts) -> None:
    grammar = 'start: (call | TEXT)*\nTEXT: /(.|\\n)+/\nhead[lazy]: TEXT "<f"\ncall: head "=" /[0-9]/ ">"\n'
    assert following(grammar, "hello <f") == "="
    assert following(grammar, "hello <f=1>x<f=") == "0123456789"
    assert [accepts(grammar, text) for text in ("", "a<b", "a<f=1>", "a<f=1>b", "a<f", "a<f=x>")] == [
        *(True, True, True, True, False, False),
    ]  # fmt: skip
    suffixed = 'start: x "!"\nx[suffix="</t>"]: /(.|\\n)*/\n'
    assert [accepts(suffixed, text) for text in ("</t>!", "a\n</t>!", "a</t>b</t>!", "a!")] == [
        True,
        True,
        False,
        False,
    ]


def test_rules_are_never_silently_less_than_they_say(compiler: llmask.Compiler) -> None:
    grammar = compiler.lark('start: a b\na[capture]: "x"\nb[temperature=0.5]: "y"\nc: "z"\n')
    assert grammar.warnings == ['rule "c" (line 4, column 1) is never used']
    assert str(grammar) == 'start: a b\na[capture="a"]: "x"\nb[temperature=0.5]: "y"\nc: "z"'


def test_another_rule_may_be_the_start(compiler: llmask.Compiler, accepts: Accepts) -> None:
    grammar = compiler.lark('start: "a"\nother: "b"\n', start="other")
    assert accepts(grammar, "b")
    assert not accepts(grammar, "a")


def test_templates_that_grow_for_ever_meet_a_limit(compiler: llmask.Compiler) -> None:
    with pytest.raises(LimitExceeded, match="does a template use itself with a longer argument"):
        compiler.lark('start: a{"x"}\na{x}: x a{b{x}}\nb{x}: x "y"\n')


def test_a_grammar_is_printed_in_a_normal_form(compiler: llmask.Compiler) -> None:
    text = '?start: (a | ("b"i))+ -> x\n | A~2..3\na.2: list{A}\nA: /x+/\n%ignore " "\nlist{i}: i ("," i)*\n'
    grammar = compiler.lark(text)
    assert str(grammar) == ('start: (a | "b"i)+ | A{2,3}\na: list{A}\nlist{A}: A ("," A)*\n\nA: /x+/\n%ignore " "')
    assert str(compiler.regex("a")) == "start: /a/"


def test_arguments_that_are_written_alike_are_not_the_same(accepts: Accepts) -> None:
    """The second list of arguments stood for the first one: all of `%regex` is written `%regex {...}`."""
    grammar = (
        'start: t{%regex {"substring_chars": "ab"}} ";" t{%regex {"substring_chars": "cd"}} ";" t{u}\n'
        't{x}: "<" x ">"\nu: %regex {"substring_chars": "ef"}\n'
    )
    assert [accepts(grammar, text) for text in ("<ab>;<cd>;<ef>", "<ab>;<ab>;<ef>", "<cd>;<cd>;<ef>")] == [
        *(True, False, False),
    ]  # fmt: skip
    nested = 'start: t{%lark { start: %regex {"substring_chars": "ab"} }} t{%lark { start: %regex '
    nested += '{"substring_chars": "cd"} }}\nt{x}: "<" x ">"\n'
    assert [accepts(nested, text) for text in ("<ab><cd>", "<ab><ab>")] == [True, False]


def said(compiler: llmask.Compiler, text: str) -> dict[str, Attributes]:
    lowered = compiler.lark(text)._loaded.lowered
    assert lowered is not None
    assert lowered.grammar is not None
    return {name: found._replace(ending=None) for name, found in lowered.grammar.attributes.items()}


def test_attributes_are_kept_by_rule(compiler: llmask.Compiler) -> None:
    text = 'start: a b c\na[capture]: "x" "y"\nb[capture="z", temperature=0.5]: /b+/\nc[max_tokens=3]: C\nC: /c*/'
    assert said(compiler, text) == {
        "a": Attributes(capture="a"),
        "b": Attributes(capture="z", temperature=0.5),
        "c": Attributes(max_tokens=3),
    }


def test_endings_name_body_and_suffix(compiler: llmask.Compiler) -> None:
    lowered = compiler.lark('start: a\na[suffix=END, stop_capture="e"]: /[a-z]*/\nEND: "."')._loaded.lowered
    assert lowered is not None
    assert lowered.grammar is not None
    ending = lowered.grammar.attributes["a"].ending
    assert ending is not None
    nodes = compiler._newest_store().nodes
    assert (nodes.matches(ending.body, b"abc"), nodes.matches(ending.suffix, b".")) == (True, True)
    assert ending.capture == "e"


@pytest.mark.parametrize("terminal", ["/.*/", "/(.|\\n){0,100}/", "/[a-zé]+/", "/[^<]*/"])
def test_terminals_that_may_end_everywhere_can_be_limited(compiler: llmask.Compiler, terminal: str) -> None:
    assert said(compiler, f'start: a "<"\na[max_tokens=3]: {terminal}') == {"a": Attributes(max_tokens=3)}


@pytest.mark.parametrize("terminal", ["/[a-z]{2,9}/", "/(ab)*/", '"x"? "yz"', "/é*e/"])
def test_terminals_that_must_go_on_cannot(compiler: llmask.Compiler, terminal: str) -> None:
    with pytest.raises(llmask.GrammarError, match="max_tokens"):
        compiler.lark(f"start: a\na[max_tokens=3]: A\nA: {terminal}")


@pytest.mark.parametrize("attribute", ["max_tokens=3", "temperature=0.5"])
def test_exact_lexing_knows_no_terminals(compiler: llmask.Compiler, attribute: str) -> None:
    with pytest.raises(llmask.GrammarError, match="exact lexing knows no terminals"):
        compiler.lark(f"start: a\na[{attribute}]: /a*/", lexer="exact")
