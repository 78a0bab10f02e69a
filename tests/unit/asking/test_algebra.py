"""Grammars as values: what is put together derives what it says, and what happens where parts meet."""

from __future__ import annotations

import random
from typing import Any

import pytest

from llmask import Compiler
from llmask.asking import algebra
from llmask.compiling.compiled_grammar import CompiledGrammar
from llmask.errors import GrammarError, GrammarWarning, LimitExceeded, TokenRejected, UnsatisfiableSchema


def check(grammar: CompiledGrammar, accepted: str, rejected: str) -> None:
    """Texts are separated by a bar; an empty one is the empty text."""
    for text in accepted.split("|"):
        assert grammar.accepts(text), text
    for text in rejected.split("|"):
        assert not grammar.accepts(text), text


def test_union_of_a_schema_and_a_pattern(compiler: Compiler) -> None:
    schema = compiler.json_schema({"type": "array", "items": {"type": "integer"}})
    both = schema.union(compiler.regex(r"\[x+\]|none"))
    check(both, "[1, 2]|[ ]|[]|[xx]|none|[12 ]", "| [1]|[1] |[ x]|[x ]|nonenone|[x]none|[1,x]")
    check(compiler.regex(r"\[x+\]|none").union(schema), "[1, 2]|[]|[xx]|none", "|[ x]|[1] ")


def test_a_text_before_a_schema(compiler: Compiler) -> None:
    schema = compiler.json_schema({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]})
    answer = compiler.regex("Answer: ").concat(schema)
    check(answer, 'Answer: {"a": 1}|Answer: {"a":1 }', 'Answer:  {"a": 1}|Answer: {"a": 1} |Answer: |{"a": 1}')
    quoted = answer.concat(compiler.regex("\n(Done\\.)?"))
    check(quoted, 'Answer: {"a": 1}\n|Answer: {"a": 1}\nDone.', 'Answer: {"a": 1}|Answer: {"a": 1} \n')


def test_repeat_of_a_lark_grammar(compiler: Compiler) -> None:
    lark = compiler.lark('start: "f" NAME ";"\nNAME: /[a-z]+/\n%ignore " "')
    check(lark.repeat(2, 3), "fa;fb;| f a ; f b ;f c; |fab;fc;", "fa;|fa;fb;fc;fd;||fa;fb")
    check(lark.repeat(0, None), "|fa;| fa; fb; ", "fa")
    check(lark.optional(), "|fa;| fa; ", " ")


def test_a_greedy_lexeme_at_the_seam_takes_what_it_can(compiler: Compiler) -> None:
    name = compiler.lark("start: NAME\nNAME: /[a-z]+/")
    words = compiler.choice(["end"])
    check(name.concat(compiler.regex(r"\.[0-9]")), "a.1|end.2", "a|.1")
    with pytest.raises(UnsatisfiableSchema, match='takes the beginning of "end"'):
        name.concat(words)
    with pytest.warns(GrammarWarning, match="no document begins with 'a'"):
        lost = compiler.lark("start: NAME | /[0-9]/\nNAME: /[a-z]+/").concat(words)
    assert any("where grammars meet" in warning for warning in lost.warnings)
    assert not lost.accepts("aend")  # NAME takes all of it, as it would within one grammar
    assert lost.accepts("1end")
    exact = compiler.lark("start: NAME\nNAME: /[a-z]+/", lexer="exact").concat(words)
    check(exact, "aend|endend", "end|a")
    assert exact.warnings == []


def test_exact_parts_mean_all_that_they_derive(compiler: Compiler) -> None:
    digits, more = compiler.regex("[0-9]+"), compiler.gbnf('root ::= "1" root "1" | "0"')
    check(digits.concat(more), "50|11110111|9101", "0|11")
    check(digits.concat(digits), "12|123", "1|")
    check(compiler.choice(["ab", "a"]).concat(compiler.choice(["c", "bc"])), "ac|abc|abbc", "ab|a|abbbc")


def test_lexemes_of_schemas_are_not_split(compiler: Compiler) -> None:
    number = compiler.json_schema({"type": "integer"})
    for grammar in (compiler.regex("[0-9]"), number):
        with pytest.raises(GrammarError, match="put a separator after it"):
            number.concat(grammar)
    with pytest.raises(GrammarError, match="put a separator after it"):
        number.repeat(2, 2)
    check(number.concat(compiler.regex(" ")).repeat(2, 2), "1 2 |10 -3 ", "1 2|12 ")
    check(compiler.regex("[0-9]").concat(number), "12|10|1-5", "1|01x")


def test_counted_schemas_keep_their_counts(compiler: Compiler) -> None:
    three = compiler.json_schema({"type": "array", "items": {"enum": [1, 2]}, "minItems": 3, "maxItems": 3})
    check(three.repeat(2, 2), "[1,2,1][2,2,2]|[1, 2,1][2,2 ,2]", "[1,2,1]|[1,2][1,2,1]|[1,2,1] [1,2,1]")
    any_order = compiler.json_schema(
        {"properties": {"a": {"const": 1}, "b": {"const": 2}}, "required": ["a", "b"], "additionalProperties": False,
         "type": "object"},
        property_order="any",
    )  # fmt: skip
    check(any_order.union(any_order).concat(compiler.choice(["!"])), '{"b":2,"a":1}!|{"a":1, "b":2}!', '{"a":1}!')


def test_names_of_rules_stay_apart(compiler: Compiler) -> None:
    one = compiler.gbnf('root ::= item root | ";"\nitem ::= "a"')
    other = compiler.gbnf('root ::= item root | "."\nitem ::= "b"')
    both = one.concat(other)
    check(both, "aa;bb.|;.", "ab;.|;b;")
    check(both.union(both).concat(one), ";.;|a;b.a;", ";.|;")
    assert str(both).splitlines() == [
        "start: root root_2",
        'root: item root | ";"',
        'item: "a"',
        'root_2: item_2 root_2 | "."',
        'item_2: "b"',
    ]


def test_the_normal_form_of_every_kind(compiler: Compiler) -> None:
    assert str(compiler.regex("a/b\n")) == "start: /a\\/b\\n/"
    assert str(compiler.choice(["yes", 'n"o'])) == 'start: ("yes" | "n\\"o")'
    assert str(compiler.json_schema({"type": "null"})) == 'start: %json {"type": "null"}'
    large = compiler.json_schema('{"type": "number", "maximum": 1e400}')
    assert str(large) == 'start: %json {"type": "number", "maximum": 1E+400}'
    both = compiler.choice(["x"]).concat(compiler.json_schema(True)).optional()
    assert str(both) == 'start: ("x" %json true)?'
    assert str(compiler.lark('start: "a"?').repeat(2, 3)) == 'start: (%lark {\nstart: "a"?\n}?){2,3}'


def test_what_cannot_be_put_together(compiler: Compiler, byte_tokenizer: Any) -> None:
    yes = compiler.choice(["yes"])
    with pytest.raises(GrammarError, match="different compilers"):
        yes.concat(Compiler(byte_tokenizer).choice(["no"]))
    for bounds in ((-1, 2), (3, 2), (1.0, 2), (0, 10**10), (True, 2)):
        with pytest.raises(GrammarError, match="cannot be repeated"):
            yes.repeat(*bounds)  # type: ignore[arg-type]
    with pytest.raises(GrammarError, match="compares texts"):
        yes.union(compiler.json_schema({"type": "array", "items": {"enum": [1, 2, 3]}, "uniqueItems": True}))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('start: a "."\na[capture="x"]: /[a-z]+/', 'rule "a" has a capture, a temperature or max_tokens'),
        ('start: a "."\na[max_tokens=3]: /[a-z]+/', 'rule "a" has a capture, a temperature or max_tokens'),
        ('start: a "."\na[temperature=0.5]: /[a-z]+/', 'rule "a" has a capture, a temperature or max_tokens'),
        ('start: a::0\na::_: "a" a::incr(_) %if lt(_, 3) | "b"', 'rule "a" has a parameter'),
    ],
)
def test_what_would_be_lost_is_refused(compiler: Compiler, text: str, message: str) -> None:
    grammar = compiler.lark(text)
    for joined in (lambda: grammar.optional(), lambda: compiler.choice(["x"]).union(grammar)):
        with pytest.raises(GrammarError, match=message):
            joined()
    assert str(grammar).startswith("start: a")


def test_tokens_go_where_grammars_go(compiler: Compiler) -> None:
    thanks = compiler.lark('start: <[65]> "!"').concat(compiler.choice(["yes"]))
    matcher = thanks.matcher()
    matcher.accept_token(65)
    matcher.accept_bytes(b"!yes")
    assert matcher.is_accepting()
    with pytest.raises(TokenRejected):
        thanks.matcher().accept_token(66)


def test_a_lazy_rule_beside_others_comes_with_a_warning(compiler: Compiler) -> None:
    """It ends after one letter, and with it what the other grammar expects: `ac` is lost."""
    lazy = compiler.lark('start: a "b"\na[lazy]: /a+/')
    both = lazy.union(compiler.choice(["ac", "d"]))
    check(both, "ab|d", "aab|ac")
    assert any("a lazy rule ends where it can" in warning for warning in both.warnings)


def test_priorities_count_in_greedy_parts_only(compiler: Compiler) -> None:
    text = 'start: "[" (%lark { start: "if" "x" | NAME "y"\n NAME: /[a-z]{2}/ }) "]"\n'
    greedy, exact = (compiler.lark(text, lexer=lexer).concat(compiler.choice(["."])) for lexer in ("greedy", "exact"))
    check(greedy, "[ifx].|[aby].", "[ify].|[ifx]")
    check(exact, "[ifx].|[aby].|[ify].", "[ifx]")


def test_many_parts_in_each_other(compiler: Compiler, monkeypatch: pytest.MonkeyPatch) -> None:
    grammar = compiler.choice(["a"])
    for _ in range(6):
        grammar = grammar.union(grammar.concat(compiler.choice(["b"]))).optional()
    check(grammar, "|a|ab|" + "b" * 3, "ba|c")
    monkeypatch.setattr(algebra, "MOST_PARTS", 200)
    with pytest.raises(LimitExceeded, match="has more than 200 parts"):
        grammar.concat(grammar)


def test_random_parts_derive_what_sets_of_texts_say(compiler: Compiler, rng: random.Random, scaled: Any) -> None:
    """Finite languages as patterns, choices, GBNF, exact Lark: union and concatenation are those of sets."""

    def language() -> set[str]:
        return {"".join(rng.choice("ab") for _ in range(rng.randrange(4))) for _ in range(rng.randrange(1, 4))}

    def compiled(texts: set[str]) -> CompiledGrammar:
        quoted = [f'"{text}"' for text in sorted(texts)]
        kind = rng.randrange(4)
        if kind == 0:
            return compiler.choice(sorted(texts))
        if kind == 1:
            return compiler.regex("|".join(sorted(texts)))
        if kind == 2:
            return compiler.gbnf(f"root ::= {' | '.join(quoted)}")
        return compiler.lark(f"start: {' | '.join(quoted)}", lexer="exact")

    words = [""] + [f"{n:b}"[1:].replace("0", "a").replace("1", "b") for n in range(2, 2**8)]
    for _ in range(scaled(25)):
        one, other = language(), language()
        a, b = compiled(one), compiled(other)
        wanted = [
            (a.union(b), one | other),
            (a.concat(b), {x + y for x in one for y in other}),
            (a.union(b).concat(a).optional(), {""} | {x + y for x in one | other for y in one}),
            (b.repeat(1, 2), other | {x + y for x in other for y in other}),
        ]
        for grammar, texts in wanted:
            assert {word for word in words if grammar.accepts(word)} == {t for t in texts if len(t) < 8}, (one, other)


def test_what_says_nothing_new_adds_nothing(compiler: Compiler) -> None:
    grammar = compiler.regex("ab")
    assert str(grammar.repeat(1, 1)) == str(grammar)
    maybe, many = grammar.optional(), grammar.repeat()
    assert str(maybe.optional()) == str(maybe.repeat(0, 1)) == str(maybe)
    assert str(many.optional()) == str(many.repeat()) == str(many)
    assert str(grammar.repeat(2, 2).optional()) != str(grammar.repeat(2, 2))
    assert str(maybe.repeat(2, 2)) != str(maybe)
