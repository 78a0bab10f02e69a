"""Servers bound grammars of strangers, unless their environment says otherwise."""

from __future__ import annotations

import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import llmask
from llmask import Compiler, GrammarError, LimitExceeded, Limits, LlmaskError
from llmask.integrations.limits import (
    LIMITS_VARIABLE,
    Room,
    check_least_length,
    check_room,
    compile_text,
    compiler_of_server,
    limits_of_process,
    notation_of,
    read_tokenizer,
    takes_budget,
    wants_budget,
)
from tests.contract.gbnf_grammars import GRAMMARS
from tests.contract.lark_grammars import GRAMMARS as LARK_GRAMMARS


def test_the_environment_chooses_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(LIMITS_VARIABLE, raising=False)
    assert limits_of_process() == Limits.for_untrusted()
    monkeypatch.setenv(LIMITS_VARIABLE, "default")
    assert limits_of_process() == Limits()
    monkeypatch.setenv(LIMITS_VARIABLE, "none")
    with pytest.raises(LlmaskError, match="LLMASK_LIMITS"):
        limits_of_process()


@pytest.mark.parametrize("limits", ["untrusted", "default"])
def test_warnings_of_a_new_grammar_are_logged_once_and_warn_nobody(
    byte_tokenizer: Any, limits: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv(LIMITS_VARIABLE, limits)
    compiler = compiler_of_server(byte_tokenizer)
    schema = {"properties": {f"p{n}": {"type": "string", "format": "x" * 2000} for n in range(50)}, "requird": []}
    with warnings.catch_warnings(), caplog.at_level("INFO"):
        warnings.simplefilter("error")
        for _ in range(2):
            compiler.json_schema(schema)
        compiler.json_schema({"type": "object"})
    (record,) = caplog.records
    told = record.getMessage()
    assert told.startswith('a grammar compiles with 51 warnings: "format" at #/properties/p0/format is not enforced')
    assert len(told) < 1100


class Encoding:
    """What of a `tiktoken.Encoding` is looked at: the bytes, two merges, an end."""

    n_vocab = 260

    def __init__(self) -> None:
        self._mergeable_ranks = {**{bytes([byte]): byte for byte in range(256)}, b"ab": 256, b"abc": 257}
        self._special_tokens = {"[EOS]": 258, "<|im_end|>": 259}
        self._pat_str = r"\p{L}+|[^\p{L}]"


@pytest.mark.parametrize("name", ["model", "tokenizer", "_tokenizer"])
def test_an_encoding_in_a_class_of_a_model_is_found(name: str) -> None:
    """Kimi-K2 has it as `model`, Qwen as `tokenizer`."""
    tokenizer = read_tokenizer(SimpleNamespace(**{name: Encoding()}), [259, 5000, None], 270)
    assert tokenizer.encode("abcab") == [257, 256]
    assert set(tokenizer.eos_ids) == {259}
    assert tokenizer.vocab_size == 270
    assert read_tokenizer(Encoding(), [258], 10).vocab_size == 260


class Slow:
    """What of a slow tokenizer of SentencePiece is looked at; two tokens were added behind the pieces."""

    eos_token_id = 2

    def __init__(self, path: Path, pieces: list[str], shift: int = 0) -> None:
        self.vocab_file = str(path)
        self.pieces = pieces
        self.shift = shift
        self.sp_model = SimpleNamespace(get_piece_size=lambda: len(pieces), id_to_piece=pieces.__getitem__)

    def get_vocab(self) -> dict[str, int]:
        return {**{piece: id for id, piece in enumerate(self.pieces)}, "<tool>": len(self.pieces)}

    def convert_ids_to_tokens(self, ids: list[int]) -> list[str]:
        return [self.pieces[id - self.shift] for id in ids]


@pytest.fixture(scope="module")
def model(tmp_path_factory: Any) -> tuple[Path, list[str]]:
    """A small file, and its pieces."""
    sentencepiece = pytest.importorskip("sentencepiece", reason="sentencepiece is not installed")
    folder = tmp_path_factory.mktemp("pieces")
    (folder / "text").write_text("\n".join(f"the {word} of {word}s" for word in ("apple", "river", "mountain")) * 9)
    prefix = folder / "small"
    sentencepiece.SentencePieceTrainer.train(
        input=str(folder / "text"), model_prefix=str(prefix), vocab_size=300, model_type="bpe", byte_fallback=True,
        hard_vocab_limit=False, minloglevel=2,
    )  # fmt: skip
    path = prefix.with_suffix(".model")
    found = sentencepiece.SentencePieceProcessor(model_file=str(path))
    return path, [found.id_to_piece(id) for id in range(found.get_piece_size())]


def test_a_slow_tokenizer_is_read_from_its_file(model: Any) -> None:
    path, pieces = model
    tokenizer = read_tokenizer(Slow(path, pieces), [2], len(pieces))
    assert tokenizer.encode("the apple") == llmask.Tokenizer.from_sentencepiece(path).encode("the apple")
    assert tokenizer.vocab_size == len(pieces) + 1
    assert tokenizer.token_bytes(len(pieces)) == b""


def test_one_whose_ids_are_others_is_refused(model: Any) -> None:
    path, pieces = model
    with pytest.raises(llmask.VocabularyError, match="are not the ids of its SentencePiece file"):
        read_tokenizer(Slow(path, pieces, shift=1), [2], len(pieces))


def test_what_is_no_tokenizer_is_refused() -> None:
    with pytest.raises(llmask.VocabularyError, match="neither a path nor a fast tokenizer"):
        read_tokenizer(SimpleNamespace(model=None), None, 10)


END = 256  # of byte_tokenizer
A, C = ord("a"), ord("c")


class Request:
    """Counts what it has written, and follows it with a grammar from `begin` on."""

    def __init__(self, matcher: Any, most: int, n_drafts: int = 0) -> None:
        self.matcher = matcher
        self.n_written = 0
        self.room = Room(matcher, most, lambda: self.n_written, n_drafts)

    def write(self, token: int) -> None:
        self.n_written += 1
        self.draft(token)

    def draft(self, token: int) -> None:
        self.matcher.accept_token(token)
        self.room.look(len(self.matcher._sequence.history))

    def allowed(self) -> set[int]:
        mask = llmask.allocate_bitmask(1, self.matcher.grammar.tokenizer.vocab_size)
        if self.room.is_near:
            self.room.fill(mask, 0, len(self.matcher._sequence.history))
        else:
            self.matcher.fill_bitmask(mask)
        return {token for token in (A, C, END) if mask[0, token // 32] >> (token % 32) & 1}


def test_the_last_token_is_the_end(compiler: llmask.Compiler) -> None:
    request = Request(compiler.regex("a*").matcher(), 3)
    assert request.allowed() == {A, END}
    for _ in range(2):
        request.write(A)
    assert request.allowed() == {END}


def test_a_budget_that_is_far_is_not_looked_at(compiler: llmask.Compiler) -> None:
    request = Request(compiler.regex("[ac]*").matcher(), 100_000)
    request.room.look(0)
    assert not request.room.is_near
    seen: list[int] = []
    request.room.matcher = None  # type: ignore[assignment]  # whoever looks fails
    for _ in range(50):
        request.n_written += 1
        request.room.look(request.n_written)
        seen.append(request.n_written)
    assert len(seen) == 50


def test_what_was_thought_is_taken_of_it(compiler: llmask.Compiler) -> None:
    request = Request(compiler.regex("a*").matcher(), 10)
    request.n_written = 7
    assert request.allowed() == {A, END}
    request.write(A)
    request.write(A)
    assert request.allowed() == {END}


@pytest.mark.parametrize("n_thought", [9, 10, 500])
def test_too_little_left_is_the_shortest_end(compiler: llmask.Compiler, n_thought: int) -> None:
    request = Request(compiler.regex("a{3}c*").matcher(), 10)
    request.n_written = n_thought
    for _ in range(3):
        assert request.allowed() == {A}
        request.write(A)
    assert request.allowed() == {END}


def test_drafts_count_though_they_are_not_written(compiler: llmask.Compiler) -> None:
    request = Request(compiler.regex("a*").matcher(), 4)
    request.write(A)
    request.draft(A)
    assert request.allowed() == {A, END}
    request.draft(A)
    assert request.allowed() == {END}
    request.matcher.rollback(2)
    request.room.look(1)
    assert request.allowed() == {A, END}
    request.write(A)
    request.write(A)
    assert request.allowed() == {END}


def test_a_thought_may_end_among_drafts(compiler: llmask.Compiler) -> None:
    """How many drafts came before the grammar is not known, so all that there can be are taken off at first."""
    request = Request(compiler.regex("a*").matcher(), 10, n_drafts=3)
    request.n_written = 5  # two drafts end the thought, the third is the grammar's
    assert request.room.left(0) == 2
    request.draft(A)
    assert request.room.left(1) == 1
    assert request.allowed() == {END}
    request.matcher.rollback(1)
    request.n_written = 7
    request.write(A)
    assert request.allowed() == {A, END}


def test_without_a_known_end_there_is_no_budget(compiler: llmask.Compiler, monkeypatch: Any) -> None:
    request = Request(compiler.regex("a*").matcher(), 2)
    right = llmask.Matcher.fill_bitmask

    def fails(self: Any, bitmask: Any, row: int = 0, budget: int | None = None) -> bool:
        if budget is not None:
            raise llmask.LimitExceeded("no end is known")
        return right(self, bitmask, row)

    monkeypatch.setattr(llmask.Matcher, "fill_bitmask", fails)
    assert request.allowed() == {A, END}


def test_what_a_request_says_of_its_budget() -> None:
    assert wants_budget(None)
    assert wants_budget({"other": 1})
    assert wants_budget({"budget": True})
    assert not wants_budget({"budget": False})
    assert not wants_budget({"budget": 0})  # as servers read it that know numbers and texts only
    for wrong in ("no", 2, []):
        with pytest.raises(llmask.GrammarError, match="true or false"):
            wants_budget({"budget": wrong})


def test_grammars_without_known_ways_take_none(compiler: llmask.Compiler) -> None:
    assert takes_budget(compiler.regex("a").matcher())
    assert not takes_budget(compiler.regex("a").matcher(stop_tokens=[C]))
    assert not takes_budget(compiler.lark("start: t\nt[max_tokens=3]: /a+/").matcher())


def test_too_few_tokens_are_refused_with_the_least(compiler: llmask.Compiler) -> None:
    matcher = compiler.regex("a{4}").matcher()
    for most in (None, 1, 5, 6):
        check_room(matcher, most, "max_tokens")
    for most in (2, 4):
        with pytest.raises(llmask.BudgetError, match=f"max_tokens is {most}.*takes 5 tokens") as caught:
            check_room(matcher, most, "max_tokens")
        assert caught.value.least == 5


def test_an_end_that_is_forbidden_where_nothing_else_may_come_is_refused(compiler: llmask.Compiler) -> None:
    for pattern, least in (("a{4}", 4), ("a{4}", 0), ("a+", 9), ("a*", 9)):
        check_least_length(compiler.regex(pattern).matcher(), least, "min_tokens")
    with pytest.raises(llmask.GrammarError, match=r"min_tokens is 5.*complete after 4 tokens"):
        check_least_length(compiler.regex("a{4}").matcher(), 5, "min_tokens")


# what users of vLLM write, from its documentation and examples
SQL_EBNF = """
root ::= select_statement
select_statement ::= "SELECT " column " from " table " where " condition
column ::= "col_1 " | "col_2 "
table ::= "table_1 " | "table_2 "
condition ::= column "= " number
number ::= "1 " | "2 "
"""
SQL_LARK = """
start: select_statement
select_statement: "SELECT" column "from" table "where" condition
column: "col_1" | "col_2"
table: "table_1" | "table_2"
condition: column "=" number
number: "1" | "2"
%ignore " "
"""
ONE_EACH = {
    "lark": [
        SQL_LARK,
        'start: "a::=b"',
        '?start: /x ::= y/ "::="\n',
        '%llguidance {}\nstart: <|tool|> "a"',
        'start[capture]: "a"',
        'start: name\nNAME.2: /[a-z]+/\nname: NAME // x ::= "y"',
        '# root ::= "a"\nstart: "a"',
        "start{x}: x",
    ],
    "ebnf": [
        SQL_EBNF,
        'root ::= "a" | "b: c"',
        'a.b_c ::= "x"\nroot ::= a.b_c',
        'root ::= "a.b" [.<|] "<|end|>" # . | | <[4]>',
        'root ::= "\\\'" ""',
        'root ::= ("a" | "b")\n| "c"',
        'root::="a"',
        '# start: "a"\nroot ::= "x"',
    ],
    "gbnf": [
        "root ::= .",
        'root ::= "a" .* "b"',
        'root ::= <|end|> "a"',
        'root ::= !<[42]> "a"',
        'root ::= ws "a"\nws ::= | " "',
        'root ::= "a" | \nws ::= "b"',
        'root ::= ("a" |)',
        'root ::= "\\[a\\]"',
    ],
}


@pytest.mark.parametrize(("notation", "text"), [(name, text) for name, texts in ONE_EACH.items() for text in texts])
def test_signs_of_each_notation(notation: str, text: str) -> None:
    assert notation_of(text) == notation


def test_ready_grammars_and_those_of_the_contract_tests_are_lark(project_root: Path) -> None:
    found = {path.name: notation_of(path.read_text("utf-8")) for path in (project_root / "grammars").glob("*.lark")}
    assert len(found) > 20
    assert set(found.values()) == {"lark"}
    assert {notation_of(text) for text, _, _ in LARK_GRAMMARS.values()} == {"lark"}


@pytest.mark.parametrize("name", GRAMMARS)
def test_a_backus_naur_form_is_read_by_the_notation_that_is_guessed(compiler: Compiler, name: str) -> None:
    text = GRAMMARS[name]
    notation = notation_of(text)
    assert notation in ("ebnf", "gbnf")
    assert str(compile_text(compiler, text)) == str(getattr(compiler, notation)(text))
    if notation == "gbnf":  # and not because the other one would do as well
        with pytest.raises(LlmaskError):
            compiler.ebnf(text)


@pytest.mark.parametrize(
    ("text", "notation"),
    [
        ('# notation: gbnf\nroot ::= "a"', "gbnf"),
        ('\n // Notation: EBNF \r\nroot ::= "a"', "ebnf"),
        ('#notation:lark\nstart: "a"', "lark"),
    ],
)
def test_the_first_line_may_say_it(compiler: Compiler, text: str, notation: str) -> None:
    assert notation_of(text) == notation
    assert compile_text(compiler, text).accepts(b"a")


def test_a_wrong_guess_names_what_was_guessed_and_what_to_do(compiler: Compiler) -> None:
    text = 'root ::= a\na ::= "x"\na ::= "y"'  # in GBNF the last definition counts, in EBNF there may be one
    with pytest.raises(GrammarError) as caught:
        compile_text(compiler, text)
    assert "the grammar was read as EBNF" in caught.value.message
    assert 'if it is Lark or GBNF, begin it with a line that says so: "# notation: ..."' in (caught.value.help or "")
    assert "line 3" in (caught.value.where or "")
    assert compile_text(compiler, "# notation: gbnf\n" + text).shortest() == b"y"


@pytest.mark.parametrize("text", ["", "  \n", "hello", "# only a comment", '"a" ::= "b"'])
def test_what_defines_nothing_is_no_grammar(text: str) -> None:
    with pytest.raises(GrammarError, match="defines nothing"):
        notation_of(text)


def test_a_notation_that_is_none(compiler: Compiler) -> None:
    with pytest.raises(GrammarError, match='its notation is "peg"'):
        notation_of('# notation: peg\nroot ::= "a"')
    with pytest.raises(GrammarError, match="not int"):
        compile_text(compiler, 3)  # type: ignore[arg-type]


def test_hostile_texts_are_read_once(scaled: Any) -> None:
    n = scaled(20_000)
    for text in (
        "(" * n,
        "a" * n,
        "[" * n,
        '"' * n,
        "a ::= |" * n,
        "| " * n,
        "<" * n,
        "\\" * n,
        " " * n + ":",
        "a\n" * n,
        '"\\' * n,
        "[\\" * n,
    ):
        try:
            notation_of('root ::= "a"\n' + text)
            notation_of(text)
        except GrammarError:
            pass


def test_limits_hold(compiler: Compiler) -> None:
    small = Compiler(compiler.tokenizer, limits=Limits(max_schema_bytes=20))
    with pytest.raises(LimitExceeded):
        compile_text(small, 'root ::= "a" "b" "c" "d" "e"')
