"""`llmask tokenize`: ids, pieces, counts, chunks; texts from everywhere; what is refused."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from llmask import Tokenizer
from llmask.cli import main
from llmask.cli.tokenize import as_table, compare, methods_of, words_differing

TEXT = "Hello wörld 😀\n"


@pytest.fixture
def tok(default_tokenizer: Tokenizer) -> Tokenizer:
    return default_tokenizer


def lines(capfd: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    """What the command prints."""
    assert main(["tokenize", *arguments]) == 0
    return capfd.readouterr().out.splitlines()


def test_ids_of_each_text_on_a_line(capfd: pytest.CaptureFixture[str], tok: Tokenizer, tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_text(TEXT, "utf-8")
    found = lines(capfd, "a b", "", "--file", str(path))
    assert [[int(word) for word in line.split()] for line in found] == [tok.encode("a b"), [], tok.encode(TEXT)]


def test_standard_input_is_read_where_nothing_is_named(
    capfd: pytest.CaptureFixture[str], tok: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for arguments in ([], ["--file", "-"]):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode())))
        assert lines(capfd, *arguments) == [" ".join(map(str, tok.encode(TEXT)))]


def test_pieces_are_shown_as_strings_bytes_or_names(capfd: pytest.CaptureFixture[str], tok: Tokenizer) -> None:
    (line,) = lines(capfd, "--pieces", 'a" 😀')
    assert line.startswith('"a"')
    assert "<0xF0>" in line or '"😀"' in line or '" 😀"' in line
    name = tok.token_name(tok.eos_ids[0])
    assert lines(capfd, "--pieces", "--parse-special", name) == [name]
    assert lines(capfd, "--count", "--parse-special", name) == ["1"]
    assert int(lines(capfd, "--count", name)[0]) > 1


def test_counts_have_a_total(capfd: pytest.CaptureFixture[str], tok: Tokenizer) -> None:
    counts = [tok.count("a b"), tok.count(TEXT)]
    found = [line.split() for line in lines(capfd, "--count", "a b", TEXT)]
    assert found == [[str(counts[0]), "argument", "1"], [str(counts[1]), "argument", "2"], [str(sum(counts)), "total"]]


def test_chunks_are_the_text(capfd: pytest.CaptureFixture[str], tok: Tokenizer) -> None:
    found = [line.split(maxsplit=1) for line in lines(capfd, "--split", "4", TEXT * 5)]
    chunks = [json.loads(text) for _, text in found]
    assert "".join(chunks) == TEXT * 5
    assert [int(count) for count, _ in found] == [tok.count(chunk) for chunk in chunks]
    assert max(int(count) for count, _ in found) <= 4


def test_everything_can_be_had_as_json(capfd: pytest.CaptureFixture[str], tok: Tokenizer) -> None:
    ids = tok.encode(TEXT)
    base = {"name": "argument 1", "n_tokens": len(ids)}
    for option, extra in ((["--ids"], {"ids": ids}), ([], {"ids": ids}), (["--count"], {})):
        assert json.loads("".join(lines(capfd, *option, "--json", TEXT))) == [{**base, **extra}]
    (report,) = json.loads("".join(lines(capfd, "--pieces", "--json", TEXT)))
    assert len(report["pieces"]) == len(ids)
    (report,) = json.loads("".join(lines(capfd, "--split", "4", "--json", TEXT)))
    assert "".join(chunk["text"] for chunk in report["chunks"]) == TEXT
    methods = json.loads("".join(lines(capfd, "--compare", "--json", TEXT)))
    assert [row["method"] for row in methods] == ["exact", "greedy", "minimal", "table", "heap", "dropout"]


def test_methods_are_compared(capfd: pytest.CaptureFixture[str], tok: Tokenizer) -> None:
    header, exact, greedy, *_ = lines(capfd, "--compare", TEXT * 20)
    assert header.split() == ["method", "tokens", "words", "that", "differ", "MB/s"]
    assert exact.split()[:2] == ["exact", str(tok.count(TEXT * 20))]
    assert greedy.split()[:2] == ["greedy", str(len(tok.encode(TEXT * 20, method="greedy")))]


def test_another_method_gives_its_ids(capfd: pytest.CaptureFixture[str], tok: Tokenizer) -> None:
    text = "unbelievable words, abababab"
    assert lines(capfd, "--method", "greedy", text) == [" ".join(map(str, tok.encode(text, method="greedy")))]
    assert main(["tokenize", "--method", "fast", text]) == 1
    assert 'method "fast" is not known' in capfd.readouterr().err


def test_bytes_that_are_no_text_are_named(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "latin1"
    path.write_bytes(b"caf\xe9\nb")
    message = (
        "llmask: error: byte 0xE9 at byte 3 is not UTF-8, and tokenizers encode characters\n"
        "  at {}, line 1\n  convert it: iconv -f latin1 -t utf-8\n"
    )
    assert main(["tokenize", "--file", str(path)]) == 1
    assert capfd.readouterr() == ("", message.format(path))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"caf\xe9")))
    assert main(["tokenize"]) == 1
    assert capfd.readouterr().err == message.format("standard input")
    assert main(["tokenize", "caf\udce9"]) == 1
    assert capfd.readouterr().err == message.format("an argument")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--file", "-", "--file", "-"], "standard input can be read once only"),
        (["--split", "0", "a"], "a chunk has at least one token"),
        (["--compare", "--method", "greedy", "a"], "--method and --parse-special cannot be combined"),
        (["--split", "3", "--parse-special", "a"], "--method and --parse-special cannot be combined"),
        (["--ids", "--count", "a"], "not allowed with argument"),
    ],
)
def test_what_cannot_be_combined_is_refused(
    arguments: list[str], message: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["tokenize", *arguments])
    assert caught.value.code == 2
    assert message in capfd.readouterr().err


@pytest.fixture
def small() -> Tokenizer:
    return Tokenizer.from_bytes([b"a", b"b", b" ", b"ab", b" a", b"ba", b"<end>"], eos=6)


def test_a_word_differs_when_one_of_its_tokens_is_missing(small: Tokenizer) -> None:
    a, b, space, ab, space_a, ba = range(6)
    exact = [ab, a, space_a, b, space, ba]  # "aba", " ab", " ba"
    assert words_differing(small, exact, exact) == 0.0
    assert words_differing(small, exact, [a, ba, space_a, b, space, ba]) == pytest.approx(1 / 3)
    assert words_differing(small, exact, [ab, a, space, ab, space, b, a]) == pytest.approx(2 / 3)
    assert words_differing(small, [space, space, ab], [space, space, a, b]) == 1.0
    assert words_differing(small, [], []) == 0.0


def test_other_texts_cannot_be_compared(small: Tokenizer) -> None:
    assert words_differing(small, [0], [1]) is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "methods"),
    [
        ("llama-bpe", ["exact", "greedy", "minimal", "table", "heap", "dropout"]),
        ("llama-spm", ["exact", "greedy", "minimal"]),
        ("nomic-bert-moe", ["exact", "greedy", "minimal"]),
        ("bert-bge", ["exact"]),
    ],
)
def test_every_kind_of_vocabulary_can_be_compared(shared_dir, name: str, methods: list[str]) -> None:
    tok = Tokenizer.from_gguf(shared_dir / "data" / "vocab" / f"{name}.gguf")
    assert methods_of(tok) == methods
    rows = compare(tok, "The quick brown fox ﬁnds unbelievable words, twice.\n" * 20)
    exact = rows[0]
    assert [row.method for row in rows] == methods
    assert (exact.more_tokens, exact.words_differing) == (0.0, 0.0)
    for row in rows:
        assert row.n_tokens > 0 < row.mb_per_second
        assert row.words_differing is not None
        assert row.method not in ("table", "heap") or row.words_differing == 0.0
        assert row.method != "minimal" or row.n_tokens <= exact.n_tokens
    assert len(as_table(rows)) == len(methods) + 1
