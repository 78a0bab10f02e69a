"""`llmask mask`: the allowed tokens as text."""

from __future__ import annotations

import pytest

from llmask.cli import main


def test_allowed_tokens_are_printed_with_their_number_and_text(
    capfd: pytest.CaptureFixture[str], default_tokenizer: object
) -> None:
    assert main(["mask", "--regex", "(no|yes)?", "--prefix", "y"]) == 0
    header, *lines = capfd.readouterr().out.splitlines()
    texts = [line.split(maxsplit=1)[1] for line in lines]
    assert set(texts) <= {'"e"', '"es"'}
    assert '"e"' in texts
    size = default_tokenizer.vocab_size  # type: ignore[attr-defined]
    assert header == f"{len(lines)} of {size} tokens are allowed; the text may not end here"


def test_the_end_of_sequence_is_named(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["mask", "--regex", "(no|yes)?", "--prefix", "yes"]) == 0
    header, *lines = capfd.readouterr().out.splitlines()
    assert header.endswith("the text may end here")
    assert all(line.endswith("  (end of sequence)") for line in lines)


def test_only_the_first_tokens_are_printed(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["mask", "--regex", ".*", "--first", "3"]) == 0
    lines = capfd.readouterr().out.splitlines()
    n_allowed = int(lines[0].split()[0])
    assert len(lines) == 5
    assert lines[4] == f"    ...  {n_allowed - 3} more (--first 0 prints all)"
    assert main(["mask", "--regex", ".*", "--first", "0"]) == 0
    assert len(capfd.readouterr().out.splitlines()) == n_allowed + 1


def test_bytes_that_are_no_text_are_printed_as_bytes(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["mask", "--regex", "é", "--first", "0"]) == 0
    texts = {line.split(maxsplit=1)[1] for line in capfd.readouterr().out.splitlines()[1:]}
    assert "<0xC3>" in texts


def test_a_refused_prefix_is_an_error_without_a_traceback(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["mask", "--regex", "(no|yes)?", "--prefix", "maybe"]) == 1
    captured = capfd.readouterr()
    assert captured.out == ""
    assert captured.err == (
        "llmask: error: --prefix is refused at byte 0 (line 1, column 1), after '': found 'm', "
        "expected 'n', 'y', the end\n"
        "  the rules there:\n"
        '    start: • /(no|yes)?/ | ""\n'
    )


def test_a_refused_prefix_is_one_message_about_its_bytes(capfd: pytest.CaptureFixture[str]) -> None:
    schema = '{"type": "object", "properties": {"name": {}}, "additionalProperties": false}'
    assert main(["mask", "--schema", schema, "--whitespace", "compact", "--prefix", '{"x']) == 1
    assert capfd.readouterr().err == (
        "llmask: error: --prefix is refused at byte 2 (line 1, column 3), after '{\"': found 'x', expected \"name\"\n"
        "  the document: a key that is not declared (additionalProperties false), #/additionalProperties\n"
    )


def test_warnings_of_the_grammar_are_printed(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["mask", "--schema", ' {"type": "string", "format": "odd"}', "--first", "1"]) == 0
    assert capfd.readouterr().err.startswith('llmask: warning: "format" at #/format is not enforced: ')
