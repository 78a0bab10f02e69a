"""Keys of SGLang's requests."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from llmask import Compiler, Limits, Tokenizer
from llmask.errors import GrammarError, LlmaskError, VocabularyError
from llmask.integrations.limits import LIMITS_VARIABLE
from llmask.integrations.sglang.requests import KINDS, compile_key, compiler_for, format_of, json_options, without_text

TOKENIZER = "default_tokenizer"  # of `compiler`
FLEXIBLE = {"whitespace": "flexible"}


def serving(pattern: str | None = None, is_compact: bool = False, most: int | None = None) -> Any:
    return SimpleNamespace(
        constrained_json_whitespace_pattern=pattern,
        constrained_json_disable_any_whitespace=is_compact,
        constrained_json_max_whitespace_cnt=most,
    )


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        ((), FLEXIBLE),
        ((None, True), {"whitespace": "compact"}),
        (("[ ]?", True), {"whitespace": "[ ]?"}),
        ((None, False, 3), {"whitespace": "flexible", "max_whitespace": 3}),
    ],
)
def test_arguments_of_the_server_become_options(arguments: tuple[Any, ...], options: dict[str, Any]) -> None:
    assert json_options(serving(*arguments)) == options


@pytest.mark.parametrize(
    ("kind", "text", "shortest"),
    [
        ("json", '{"const": "a"}', b'"a"'),
        ("json", "$$ANY$$", b"0"),
        ("regex", "a{3}", b"aaa"),
        ("ebnf", 'root ::= "ab"', b"ab"),
        ("ebnf", 'start: "ab"', b"ab"),
        ("full_assistant_ebnf", 'root ::= "ab"', b"ab"),
        ("structural_tag", '{"type": "structural_tag", "format": {"type": "const_string", "value": "x"}}', b"x"),
    ],
)
def test_each_kind_has_its_grammar(compiler: Compiler, kind: str, text: str, shortest: bytes) -> None:
    assert kind in KINDS
    assert len(compile_key(compiler, kind, text, FLEXIBLE).shortest()) == len(shortest)


def test_options_are_those_of_json(compiler: Compiler) -> None:
    text = '{"properties": {"a": {"const": 1}}, "required": ["a"], "additionalProperties": false}'
    for whitespace, is_accepted in (("flexible", True), ("compact", False)):
        matcher = compile_key(compiler, "json", text, {"whitespace": whitespace}).matcher()
        tokens = compiler.tokenizer.encode('{"a": 1}')
        assert (matcher.validate_tokens(tokens) == len(tokens)) == is_accepted


@pytest.mark.parametrize(
    "form",
    [
        {"structures": [{"begin": "<a>", "schema": None, "end": "</a>"}], "triggers": ["<a>"], "at_least_one": True},
        {
            "format": {
                "type": "tag",
                "begin": "<a>",
                "content": {"type": "json_schema", "json_schema": None},
                "end": "</a>",
            }
        },
        {"format": {"type": "sequence", "elements": [{"type": "json_schema"}]}},
        {"format": {"type": "qwen_xml_parameter", "json_schema": None}},
    ],
)
def test_a_tool_without_parameters_takes_what_it_gets(compiler: Compiler, form: dict[str, Any]) -> None:
    text = json.dumps(form)
    grammar = compile_key(compiler, "structural_tag", text, FLEXIBLE)
    assert grammar.shortest().removeprefix(b"<a>").removesuffix(b"</a>") in (b"0", b"1", b'""', b"{}", b"[]", b"")


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "null",
        '"a"',
        "{}",
        '{"structures": null}',
        '{"format": [null]}',
        '{"structures": [null], "triggers": ["a"]}',
    ],
)
def test_odd_tags_are_refused(compiler: Compiler, text: str) -> None:
    with pytest.raises(LlmaskError):
        compile_key(compiler, "structural_tag", text, FLEXIBLE)


def test_other_kinds_are_refused(compiler: Compiler) -> None:
    with pytest.raises(GrammarError, match='no request of kind "choice"'):
        compile_key(compiler, "choice", "[]", FLEXIBLE)


def test_keys_have_a_form_within_a_tag(compiler: Compiler) -> None:
    for kind, text, options in (
        ("json", '{"const": "ab"}', FLEXIBLE),
        ("json", "$$ANY$$", {"whitespace": "compact"}),
        ("json", "{}", {"whitespace": "flexible", "max_whitespace": 2}),
        ("regex", "a{3}", FLEXIBLE),
        ("ebnf", 'root ::= "ab"', FLEXIBLE),
    ):
        form = {"format": format_of(kind, text, options)}
        inside, alone = compiler.structural_tag(form), compile_key(compiler, kind, text, options)
        for seed in range(5):
            for one, other in ((inside, alone), (alone, inside)):
                document = one.sample(seed, max_bytes=2000)
                assert other.accepts(document)


@pytest.mark.parametrize(
    ("kind", "text", "options"),
    [
        ("json", "{}", {"whitespace": "[ ]?"}),
        ("ebnf", 'start: "a"', FLEXIBLE),
        ("ebnf", "root ::= .", FLEXIBLE),
        ("structural_tag", "{}", FLEXIBLE),
        ("full_assistant_ebnf", 'root ::= "a"', FLEXIBLE),
    ],
)
def test_others_have_none(kind: str, text: str, options: dict[str, Any]) -> None:
    assert format_of(kind, text, options) is None


def fast_tokenizer(**attributes: Any) -> Any:
    """What transformers has: an object around one of the package tokenizers."""
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    inner = tokenizers.ByteLevelBPETokenizer()
    inner.train_from_iterator(["ab ab"], vocab_size=260, special_tokens=["<s>", "</s>", "<|x|>"], show_progress=False)
    backend = inner._tokenizer
    return SimpleNamespace(backend_tokenizer=backend, get_vocab=backend.get_vocab, **attributes)


def test_ends_are_those_of_the_model_and_of_the_tokenizer() -> None:
    for eos_token_ids, attributes, ends in (
        ({1}, {}, [1]),
        ({1}, {"eos_token_id": 0}, [0, 1]),
        (None, {"eos_token_id": 0, "additional_stop_token_ids": {2}}, [0, 2]),
        ([1, 2, 10**9, -1], {"eos_token_id": None, "additional_stop_token_ids": None}, [1, 2]),
    ):
        compiler = compiler_for(fast_tokenizer(**attributes), 300, eos_token_ids)
        assert list(compiler.tokenizer.eos_ids) == ends


def test_there_are_as_many_ids_as_logits_or_as_tokens() -> None:
    n_tokens = len(fast_tokenizer().get_vocab())
    for n_logits, n_ids in ((1000, 1000), (10, n_tokens)):
        assert compiler_for(fast_tokenizer(), n_logits, {1}).tokenizer.vocab_size == n_ids


def test_tokenizers_of_tiktoken_are_read() -> None:
    tiktoken = pytest.importorskip("tiktoken", reason="tiktoken is not installed")
    encoding = tiktoken.Encoding(
        "small",
        pat_str=r"\S+|\s+",
        mergeable_ranks={**{bytes([byte]): byte for byte in range(256)}, b"ab": 256},
        special_tokens={"<end>": 257},
    )
    compiler = compiler_for(SimpleNamespace(tokenizer=encoding, eos_token_id=257), 270, None)
    assert (compiler.tokenizer.vocab_size, list(compiler.tokenizer.eos_ids)) == (270, [257])
    assert compiler.tokenizer.token_bytes(256) == b"ab"


@pytest.mark.parametrize("tokenizer", [None, object(), SimpleNamespace(tokenizer=3)])
def test_other_tokenizers_are_refused(tokenizer: Any) -> None:
    with pytest.raises(VocabularyError, match="fast tokenizer"):
        compiler_for(tokenizer, 100, {1})


def test_the_environment_says_whose_grammars_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(LIMITS_VARIABLE, raising=False)
    assert compiler_for(fast_tokenizer(), 300, {1}).limits == Limits.for_untrusted()
    monkeypatch.setenv(LIMITS_VARIABLE, "default")
    assert compiler_for(fast_tokenizer(), 300, {1}).limits == Limits()
    monkeypatch.setenv(LIMITS_VARIABLE, "none")
    with pytest.raises(LlmaskError, match=LIMITS_VARIABLE):
        compiler_for(fast_tokenizer(), 300, {1})


def test_tokens_are_kept_out_of_text() -> None:
    tokens = [b"a", b"b", b"ab", b"<s>", b""]
    compiler = Compiler(Tokenizer.from_bytes(tokens, eos=4, special=[3]), limits=Limits(max_rows=1000))
    assert without_text(compiler, [3, 4]) is compiler
    other = without_text(compiler, [2, 3])
    assert other.limits == compiler.limits
    assert [other.tokenizer.token_bytes(token) for token in range(5)] == [b"a", b"b", b"", b"", b""]
    assert [compiler.regex("ab").matcher().accept(2), other.regex("ab").matcher().accept(2)] == [True, False]
    named = other.structural_tag({"format": {"type": "token", "token": "<s>"}}).matcher()
    assert named.accept(3)
