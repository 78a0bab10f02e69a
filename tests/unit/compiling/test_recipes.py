"""Grammars as bytes: every kind and option comes back, and whatever else is loaded is refused in our own words."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import llmask
from llmask.compiling.made_grammar import MadeGrammar
from llmask.compiling.recipes import MOST_GRAMMARS, Recipe
from tests.unit.compiling.saved_grammars import KINDS, OBJECT, imported, registry, same

pytestmark = pytest.mark.filterwarnings("ignore::llmask.GrammarWarning")


@pytest.fixture(scope="module")
def compiler(tiny_tokenizer: Any) -> llmask.Compiler:
    return llmask.Compiler(tiny_tokenizer, cache_bytes=0)


@pytest.fixture(scope="module")
def elsewhere(tiny_tokenizer: Any) -> llmask.Compiler:
    """A compiler of an equal tokenizer, made in another way."""
    vocabulary = tiny_tokenizer._parts.vocabulary
    names = list(vocabulary.texts.strings())
    return llmask.Compiler(llmask.Tokenizer.from_bytes(names, tiny_tokenizer.eos_ids, tiny_tokenizer.special_ids))


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_loaded_is_the_same_grammar(compiler: Any, elsewhere: Any, kind: str) -> None:
    grammar = KINDS[kind](compiler)
    data = grammar.save()
    there = elsewhere.load(data)
    same(grammar, there)
    assert there.save() == data
    assert grammar.save() == data
    assert elsewhere.load(bytearray(data)) is there  # from the cache


def test_files_of_imports_travel(compiler: Any, elsewhere: Any, tmp_path: Path) -> None:
    grammar = imported(compiler, tmp_path)
    there = elsewhere.load(grammar.save())
    same(grammar, there)
    assert str(tmp_path) not in grammar.save().decode()
    assert elsewhere.load(there.save()).save() == grammar.save()


def test_documents_of_a_registry_travel_that_are_needed(compiler: Any, elsewhere: Any) -> None:
    data = compiler.json_schema({"$ref": "urn:inner"}, registry=registry()).save()
    assert b"urn:seven" in data
    assert b"urn:never" not in data
    assert elsewhere.load(data).accepts(b'{"n": 0.30000000000000000001}')


def test_it_is_hardly_longer_than_its_source(compiler: Any) -> None:
    many = {f"property {n}": {"type": "string", "description": 'a "quoted" \\ text\n' * 20} for n in range(60)}
    schema = {"type": "object", "properties": many}
    text = 'root ::= "a" | "b"\n# ' + '\\"\n# ' * 5000
    calls = [{"name": f"f{n}", "parameters": {"properties": {"a": many["property 1"]}}} for n in range(60)]
    sources = {
        len(json.dumps(schema)): compiler.json_schema(schema),
        len(text): compiler.gbnf(text),
        len(json.dumps(calls)): compiler.tools(calls, model="kimi-k2", tool_choice="required"),
    }
    for size, grammar in sources.items():
        assert len(grammar.save()) <= size + 2048
    assert len(compiler.regex("a").save()) < 300


def test_limits_and_slices_are_those_of_the_compiler_that_loads(compiler: Any, tiny_tokenizer: Any) -> None:
    data = compiler.json_schema({"oneOf": [{"required": [f"k{i}"]} for i in range(40)]}).save()
    strict = llmask.Compiler(tiny_tokenizer, limits=llmask.Limits(max_compile_work=500))
    with pytest.raises(llmask.LimitExceeded, match="max_compile_work"):
        strict.load(data)
    assert strict.load(compiler.regex("a").save())._loaded.store.limits.max_compile_work == 500


def test_all_that_is_put_together_is_one_compilation(tiny_tokenizer: Any, compiler: Any) -> None:
    # each part within the limit, and a thousand of them: loading would take as long as the data is long
    grammar = compiler.regex("a{1,50}b")
    for number in range(40):
        grammar = grammar.union(compiler.regex(f"{number}[a-z]{{1,50}}x"))
    work = compiler.statistics()["work"]
    compiler.load(grammar.save())
    work = compiler.statistics()["work"] - work
    strict = llmask.Compiler(tiny_tokenizer, limits=llmask.Limits(max_compile_work=work // 2))
    with pytest.raises(llmask.LimitExceeded, match="max_compile_work"):
        strict.load(grammar.save())


@pytest.mark.parametrize("n_doubled", [8, 12])
def test_short_data_that_multiplies_meets_the_limit(tiny_tokenizer: Any, compiler: Any, n_doubled: int) -> None:
    # 40 KB put a thousand grammars of some thousand lexemes together, half a minute that nobody had counted
    strict = llmask.Compiler(tiny_tokenizer, limits=llmask.Limits.for_untrusted())
    chain = [{"kind": "concat", "parts": [number, number]} for number in range(n_doubled)]
    chain += [{"kind": "optional", "parts": [number]} for number in range(n_doubled, 900)]
    with pytest.raises(llmask.LimitExceeded, match="max_compile_work"):
        strict.load(edited(compiler.regex("a").save(), lambda head: head["grammars"].extend(chain)))


@pytest.mark.parametrize("bounds", [(0, 3), (2, 2)])
def test_grammars_in_each_other_are_counted(tiny_tokenizer: Any, compiler: Any, bounds: tuple[int, int]) -> None:
    # 24 KB took 2.4 s, and three times as much eight times as long: each level was looked through from every other
    strict = llmask.Compiler(tiny_tokenizer, limits=llmask.Limits.for_untrusted())
    low, high = bounds
    options = [{"low": low, "high": high}, {"low": 0, "high": 2}]
    chain = [{"kind": "repeat", "parts": [n], "options": options[n % 2]} for n in range(400)]
    with pytest.raises(llmask.LimitExceeded, match="max_compile_work"):
        strict.load(edited(compiler.regex("a").save(), lambda head: head["grammars"].extend(chain)))


def test_rules_of_greedy_parts_are_counted(tiny_tokenizer: Any, compiler: Any) -> None:
    strict = llmask.Compiler(tiny_tokenizer, limits=llmask.Limits.for_untrusted())
    rules = "".join(f'r{n}: "x{n}"\n' for n in range(100))
    grammar = compiler.lark(f"start: {' '.join(f'r{n}' for n in range(100))}\n{rules}")
    chain = [{"kind": "optional", "parts": [n]} for n in range(60)]
    with pytest.raises(llmask.LimitExceeded, match="max_compile_work"):
        strict.load(edited(grammar.save(), lambda head: head["grammars"].extend(chain)))


def test_another_tokenizer_is_refused(compiler: Any, byte_tokenizer: Any) -> None:
    data = compiler.regex("a").save()
    with pytest.raises(llmask.LlmaskError, match="saved for another tokenizer: the digest of its tokens is") as caught:
        llmask.Compiler(byte_tokenizer).load(data)
    assert compiler.tokenizer.digest in str(caught.value)
    assert byte_tokenizer.digest in str(caught.value)


def test_canonical_masks_are_not_taken_for_others(default_tokenizer: Any) -> None:
    plain, canonical = (llmask.Compiler(default_tokenizer, canonical=flag) for flag in (False, True))
    for one, other in ((plain, canonical), (canonical, plain)):
        grammar = one.json_schema(OBJECT)
        same(grammar, one.load(grammar.save()))
        with pytest.raises(llmask.LlmaskError, match="the grammar was saved with canonical="):
            other.load(grammar.save())
    behind = llmask.CompiledGrammar(canonical.regex("[a-z]+").matcher(prefix=b"\xffna").grammar)
    assert str(canonical.load(behind.save())) == str(behind)


def test_a_grammar_that_nobody_compiled_cannot_be_saved(compiler: Any) -> None:
    grammar = llmask.CompiledGrammar(MadeGrammar(compiler._newest_store(), compiler.regex("a")._loaded.own_rules))
    for one in (grammar, grammar.optional()):
        with pytest.raises(llmask.LlmaskError, match="made of rules of this process"):
            one.save()


def test_what_json_has_no_form_for_is_named(compiler: Any) -> None:
    cases: list[tuple[Any, str]] = [
        ({"type": "string", "default": print}, "the schema holds what JSON has no form for.*: a builtin_function"),
        ({"type": "string", "examples": [float("nan")]}, "the schema holds what JSON has no form for"),
    ]
    for schema, message in cases:
        with pytest.raises(llmask.LlmaskError, match=message):
            compiler.json_schema(schema).save()
    with pytest.raises(llmask.LlmaskError, match=r"the grammar @b holds what JSON has no form for.*: a object"):
        compiler.lark("start: @a", grammars={"a": True, "b": object()}).save()


def test_a_schema_that_is_much_larger_as_text_is_refused(compiler: Any) -> None:
    part: Any = {"type": "integer"}
    for _ in range(20):
        part = {"anyOf": [part, part], "title": "x"}
    grammar = compiler.json_schema({"default": part})
    with pytest.raises(llmask.LimitExceeded, match="the schema holds itself, or the same part in too many places"):
        grammar.save()


def test_too_many_grammars_are_refused(compiler: Any) -> None:
    grammar = compiler.regex("a")
    recipe = grammar._loaded.recipe
    for _ in range(MOST_GRAMMARS):
        recipe = recipe._replace(kind="optional", source=None, options=None, parts=(recipe,))
    grammar._loaded.recipe = recipe
    with pytest.raises(llmask.LimitExceeded, match="from more than 1000 grammars"):
        grammar.save()


# --- what nobody saved


def edited(data: bytes, edit: Callable[[dict[str, Any]], None], body: bytes | None = None) -> bytes:
    line, _, rest = data.partition(b"\n")
    head = json.loads(line)
    edit(head)
    return json.dumps(head).encode() + b"\n" + (rest if body is None else body)


def entry(**fields: Any) -> Callable[[dict[str, Any]], None]:
    return lambda head: head["grammars"].__setitem__(0, fields)


def options(**fields: Any) -> Callable[[dict[str, Any]], None]:
    return lambda head: head["grammars"][0].__setitem__("options", fields)


def compiled(*names: Any, parts: list[int] | None = None) -> Callable[[dict[str, Any]], None]:
    """Other names for the compiled grammars of one in Lark's notation, and other parts."""

    def edit(head: dict[str, Any]) -> None:
        whole = head["grammars"][-1]
        whole["options"]["compiled"] = list(names)
        whole["parts"] = whole["parts"] if parts is None else parts

    return edit


DAMAGED: dict[str, tuple[str, Callable[[dict[str, Any]], None], bytes | None]] = {
    "version": ("regex", lambda head: head.update(version=2), None),
    "version of a kind": ("regex", lambda head: head.update(version=[1] * 9999), None),
    "version true": ("regex", lambda head: head.update(version=True), None),
    "no mark": ("regex", lambda head: head.pop("llmask"), None),
    "no tokenizer": ("regex", lambda head: head.pop("tokenizer"), None),
    "tokenizer": ("regex", lambda head: head.update(tokenizer={"a": 1}), None),
    "canonical": ("regex", lambda head: head.update(canonical=0), None),
    "no grammars": ("regex", lambda head: head.pop("grammars"), None),
    "grammars": ("regex", lambda head: head.update(grammars=[]), None),
    "grammars, an object": ("regex", lambda head: head.update(grammars={"a": 1}), None),
    "too many": ("regex", lambda head: head.update(grammars=head["grammars"] * (MOST_GRAMMARS + 1)), None),
    "null": ("regex", lambda head: head.update(grammars=[None]), None),
    "kind": ("regex", entry(kind="pickle", texts=[1]), None),
    "kind of a kind": ("regex", entry(kind=["regex"], texts=[1]), None),
    "a field more": ("regex", entry(kind="gbnf", texts=[1], more=1), b"a"),
    "no texts": ("gbnf", entry(kind="gbnf"), b""),
    "two texts": ("gbnf", entry(kind="gbnf", texts=[0, 1]), b"a"),
    "lengths": ("gbnf", entry(kind="gbnf", texts=["1"]), b"a"),
    "lengths below 0": ("gbnf", entry(kind="gbnf", texts=[-1]), b"a"),
    "lengths true": ("gbnf", entry(kind="gbnf", texts=[True]), b"a"),
    "lengths that end early": ("gbnf", entry(kind="gbnf", texts=[99]), b"a"),
    "more text": ("gbnf", entry(kind="gbnf", texts=[1]), b"ab"),
    "no UTF-8": ("gbnf", entry(kind="gbnf", texts=[1]), b"\xff"),
    "parts": ("regex", entry(kind="optional", parts=[0]), b""),
    "parts ahead": ("regex", entry(kind="optional", parts=[1]), b""),
    "parts below 0": ("regex", entry(kind="optional", parts=[-1]), b""),
    "no parts": ("regex", entry(kind="union"), b""),
    "parts of a text": ("concat", lambda head: head["grammars"][1].update(parts=[0]), None),
    "too few parts": ("concat", lambda head: head["grammars"][2].update(parts=[0]), None),
    "bounds": ("repeat", lambda head: head["grammars"][1].update(options={"low": -1, "high": 1}), None),
    "bounds true": ("repeat", lambda head: head["grammars"][1].update(options={"low": True, "high": 1}), None),
    "large bounds": ("repeat", lambda head: head["grammars"][1].update(options={"low": 1, "high": 10**30}), None),
    "no bounds": ("repeat", lambda head: head["grammars"][1].pop("options"), None),
    "options": ("regex", lambda head: head["grammars"][0].update(options=[]), None),
    "an option more": ("regex", options(method="search", limits=1), None),
    "method": ("regex", options(method="eval"), None),
    "method of a kind": ("regex", options(method=["search"]), None),
    "schema options": ("schema", options(limits={}), None),
    "schema registry": ("schema", options(registry={}), None),
    "schema whitespace": ("schema", options(whitespace="("), None),
    "schema max_whitespace": ("schema", options(max_whitespace=10**30), None),
    "schema indent": ("schema", options(indent=[1]), None),
    "schema formats": ("schema", options(formats=["zip"]), None),
    "schema escapes": ("schema", options(escapes={"n": 1, "xx": 2}), None),
    "schema dialect": ("schema", options(dialect={}), None),
    "schema documents": ("schema", options(documents=[1]), None),
    "schema documents, none": ("schema", options(documents={"a": 1}), None),
    "schema document": ("schema", options(documents=[{"uri": 1, "specification": "DRAFT4"}]), None),
    "schema document within": ("schema", options(documents=[{"uri": "a", "specification": "", "inside": 0}]), None),
    "schema document below": ("schema", options(documents=[{"uri": "a", "specification": "", "inside": -1}]), None),
    "schema specification": ("registry", lambda head: head["grammars"][0]["options"]["documents"][0].update(
        specification="Registry"), None),
    "schema, not JSON": ("schema", entry(kind="json_schema", texts=[1]), b"{"),
    "schema, nan": ("schema", entry(kind="json_schema", texts=[13]), b'{"const":NaN}'),
    "schema, a list": ("schema", entry(kind="json_schema", texts=[2]), b"[]"),
    "schema, deep": ("schema", entry(kind="json_schema", texts=[200_000]), b"[" * 200_000),
    "choices": ("choice", entry(kind="choice", texts=[4]), b'{"a"'),
    "choices, none": ("choice", entry(kind="choice", texts=[2]), b"[]"),
    "choices, numbers": ("choice", entry(kind="choice", texts=[3]), b"[1]"),
    "choices, surrogates": ("choice", entry(kind="choice", texts=[10]), b'["\\ud800"]'),
    "choices, a text": ("choice", entry(kind="choice", texts=[3]), b'"a"'),
    "lark": ("lark", entry(kind="lark", texts=[6]), b"start;"),
    "lark lexer": ("lark", options(lexer="dynamic"), None),
    "lark ties": ("lark", options(ties=1), None),
    "lark start": ("lark", options(start=7), None),
    "lark start, none": ("lark", options(start=""), None),
    "lark grammars": ("lark", options(grammars=[["a"]]), None),
    "lark grammars without text": ("lark", options(grammars=[["a", False]]), None),
    "lark parts without names": ("lark, compiled", compiled(), None),
    "lark names without parts": ("lark, compiled", lambda head: head["grammars"][-1].pop("parts"), None),
    "lark names": ("lark, compiled", compiled(1), None),
    "lark names, others": ("lark, compiled", compiled("x"), None),
    "lark names, too many": ("lark, compiled", compiled("pair", "x"), None),
    "lark names, a text's": ("lark, compiled", compiled("text"), None),
    "lark names, equal": ("lark, compiled", compiled("pair", "pair", parts=[0, 0]), None),
    "lark names, no list": ("lark", options(compiled="pair"), None),
    "lark files": ("lark", options(files=[[1, 2, 3]]), None),
    "lark file that is not there": ("lark", entry(kind="lark", texts=[30]), b"%import .etc.passwd.A\nstart: A"),
    "tag": ("structural tag", entry(kind="structural_tag", texts=[2]), b"{}"),
    "tools": ("tools, auto", entry(kind="tools", texts=[2]), b"{}"),
    "tools model": ("tools, auto", options(model="x", tool_choice="auto", parallel=True, reasoning=False), None),
    "tools parallel": ("tools, auto", options(model="qwen-3", tool_choice="auto", parallel=1, reasoning=False), None),
    "literal": ("regex", entry(kind="literal", texts=[2]), b"xy"),
    "literal, half": ("regex", entry(kind="literal", texts=[1]), b"a"),
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_data_is_refused_in_our_own_words(compiler: Any, name: str) -> None:
    kind, edit, body = DAMAGED[name]
    data = edited(KINDS[kind](compiler).save(), edit, body)
    with pytest.raises(llmask.LlmaskError) as caught:
        compiler.load(data)
    assert len(str(caught.value)) < 2000


@pytest.mark.parametrize(
    "data",
    [b"", b"\n", b"{}", b"[]", b"null\n", b"\x80\x04.", b"{" * 100_000, b"[" * 100_000, b'{"llmask":"grammar"}',
     b"\xff\n", b'{"llmask":"grammar","version":NaN}', b'{"llmask":"grammar","version":' + b"1" * 5000 + b"}"],
)  # fmt: skip
def test_what_is_no_saved_grammar_is_refused(compiler: Any, data: bytes) -> None:
    with pytest.raises(llmask.LlmaskError):
        compiler.load(data)


@pytest.mark.parametrize("depth", [15, 700, 900, 960])
def test_what_nests_deep_is_refused_and_not_shown(compiler: Any, depth: int) -> None:
    # a message that shows the value ended in a RecursionError
    for field in ("version", "tokenizer", "grammars"):
        for deep in ("[" * depth + "]" * depth, '{"a":' * depth + "1" + "}" * depth):
            line = compiler.regex("a").save().partition(b"\n")[0]
            head = {**json.loads(line), field: "DEEP"}
            data = json.dumps(head).replace('"DEEP"', deep).encode() + b"\na"
            with pytest.raises(llmask.LlmaskError):
                compiler.load(data)


def test_data_that_is_too_long_is_not_read(tiny_tokenizer: Any, compiler: Any) -> None:
    strict = llmask.Compiler(tiny_tokenizer, limits=llmask.Limits(max_schema_bytes=1000))
    with pytest.raises(llmask.LimitExceeded, match=r"limits\.max_schema_bytes"):
        strict.load(compiler.choice(["a" * 2000]).save())


def test_no_change_of_a_byte_gives_an_error_of_python(compiler: Any, rng: random.Random, scaled: Any) -> None:
    saved = [make(compiler).save() for make in KINDS.values()]
    for _ in range(scaled(1500)):
        data = bytearray(rng.choice(saved))
        for _ in range(rng.choice((1, 1, 2, 5))):
            at = rng.randrange(len(data))
            how = rng.randrange(4)
            if how == 0:
                data[at] = rng.choice(b'0123456789[]{}",:-\\ \n\xff\xc3eE.tfn')
            elif how == 1:
                del data[at : at + rng.randrange(1, 9)]
            elif how == 2:
                data[at:at] = rng.choice((b"[", b"}", b"null", b'"', b"9" * 40, b"true", b"\\ud800", b"1e999"))
            else:
                other = rng.choice(saved)
                begin = rng.randrange(len(other))
                data[at : at + 12] = other[begin : begin + 12]
            if not data:
                break
        try:
            grammar = compiler.load(bytes(data))
            grammar.save()
            grammar.matcher().is_accepting()
        except llmask.LlmaskError:
            pass


def test_texts_like_marks_of_numbers_are_written_twice_at_most(compiler: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # a mark grew by one letter until no text held it: the whole was written once for each
    texts = ["\0number " + "\0" * n for n in range(60)]
    schema = {"enum": texts, "maximum": Decimal("0.1000000000000000000001")}
    grammar = compiler.json_schema(schema)
    dumps, n_calls = json.dumps, 0

    def noted(value: Any, *given: Any, **others: Any) -> str:
        nonlocal n_calls
        n_calls += value == schema
        return dumps(value, *given, **others)

    monkeypatch.setattr(json, "dumps", noted)
    data = grammar.save()
    assert 0 < n_calls <= 2
    assert compiler.load(data).accepts(dumps(texts[7]))
    assert b"0.1000000000000000000001" in data


def test_parts_come_once_and_before_what_they_are_in() -> None:
    one, other = Recipe("regex", "a"), Recipe("regex", "a")  # equal, and two
    both = Recipe("union", parts=(one, other))
    whole = Recipe("concat", parts=(both, Recipe("optional", parts=(both,))))
    order = whole.in_order()
    assert [id(recipe) for recipe in order].count(id(both)) == 1
    assert len(order) == 5
    assert order[-1] is whole
    for place, recipe in enumerate(order):
        assert all(any(part is before for before in order[:place]) for part in recipe.parts)


def test_long_chains_take_no_recursion_and_doubled_ones_no_time() -> None:
    recipe = Recipe("regex", "a")
    for _ in range(5000):
        recipe = Recipe("concat", parts=(recipe, recipe))
    assert len(recipe.in_order()) == 5001
