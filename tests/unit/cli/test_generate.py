"""`llmask generate`: valid documents, the same for the same seed, and clear failures."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from llmask.cli import main

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}, "likes": {"type": "array"}},
    "required": ["name", "age"],
    "additionalProperties": False,
}


@pytest.fixture
def schema_file(tmp_path: Path) -> str:
    path = tmp_path / "schema.json"
    schema = {**SCHEMA, "properties": {**SCHEMA["properties"], "likes": {"type": "array", "items": {"type": "string"}}}}
    path.write_text(json.dumps(schema))
    return str(path)


def generate(capfd: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[str], str]:
    code = main(["generate", *arguments])
    captured = capfd.readouterr()
    return code, captured.out.splitlines(), captured.err


@pytest.mark.long
def test_documents_are_valid_one_a_line_and_follow_the_seed(
    capfd: pytest.CaptureFixture[str], schema_file: str
) -> None:
    code, lines, _ = generate(capfd, "--schema", schema_file, "--n", "10", "--seed", "3")
    assert code == 0
    assert len(lines) == 10
    for line in lines:
        jsonschema.validate(json.loads(line), SCHEMA)
    assert len(set(lines)) == 10
    assert generate(capfd, "--schema", schema_file, "--n", "10", "--seed", "3")[1] == lines
    assert generate(capfd, "--schema", schema_file, "--n", "1", "--seed", "4")[1][0] not in lines


def test_temperature_0_does_not_depend_on_the_seed(capfd: pytest.CaptureFixture[str], schema_file: str) -> None:
    runs = [generate(capfd, "--schema", schema_file, "--temperature", "0", "--seed", seed)[1] for seed in "12"]
    assert runs[0] == runs[1]


def test_a_response_format_writes_the_documents_of_its_schema(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, schema_file: str
) -> None:
    path = tmp_path / "format.json"
    form = {
        "type": "json_schema",
        "json_schema": {"name": "person", "schema": json.loads(Path(schema_file).read_text())},
    }
    path.write_text(json.dumps(form))
    code, lines, _ = generate(capfd, "--response-format", str(path), "--n", "3", "--seed", "3")
    assert code == 0
    assert lines == generate(capfd, "--schema", schema_file, "--n", "3", "--seed", "3")[1]
    path.write_text('{"type": "json_schema"}')
    code, lines, error = generate(capfd, "--response-format", str(path))
    assert (code, lines) == (1, [])
    assert error == f'llmask: error: a schema with its name needs the field "schema"\n  at {path}: #\n  add it\n'


def test_a_regex_is_matched(capfd: pytest.CaptureFixture[str]) -> None:
    code, lines, _ = generate(capfd, "--regex", r"\d{4}-[a-f]+!", "--n", "5", "--seed", "0")
    assert code == 0
    assert all(re.fullmatch(r"\d{4}-[a-f]+!", line) for line in lines)


def test_show_draws_the_tokens_on_standard_error(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    _, lines, errors = generate(capfd, "--regex", "no", "--show", "--seed", "0")
    assert lines == ["no"]
    drawn = errors.splitlines()[-1]
    assert drawn in ("[no]2 [<end>]1", "[n]2 [o]1 [<end>]1")


def test_every_document_ends_within_max_tokens(capfd: pytest.CaptureFixture[str]) -> None:
    code, lines, _ = generate(capfd, "--regex", "x|(ab){500}", "--n", "9", "--seed", "0", "--max-tokens", "30")
    assert code == 0
    assert lines == ["x"] * 9
    code, lines, errors = generate(capfd, "--regex", "(a|b){300}", "--n", "2", "--seed", "0", "--max-tokens", "300")
    told = [line for line in errors.splitlines() if not line.startswith("llmask: document ")]  # on a busy machine
    assert (code, [len(line) for line in lines], told) == (0, [300, 300], [])


@pytest.mark.slow
def test_any_order_with_unique_keys_ends_within_max_tokens(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Every such call failed: no end was found where a free key was taken to give what a required one gives."""
    path = tmp_path / "open.json"
    schema = {**SCHEMA, "additionalProperties": {"type": "integer"}}
    path.write_text(json.dumps(schema))
    options = ("--property-order", "any", "--unique-keys", "--n", "3", "--seed", "0", "--max-tokens", "60")
    code, lines, _ = generate(capfd, "--schema", str(path), *options)
    assert (code, len(lines)) == (0, 3)
    for line in lines:
        jsonschema.validate(json.loads(line), schema)


def test_a_document_without_end_fails_and_the_others_are_written(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "closed.lark"  # a rule with max_tokens takes no budget
    path.write_text('start: "x" | a "y"{400}\na[max_tokens=2]: /a/\n')
    code, lines, errors = generate(capfd, "--lark", str(path), "--n", "9", "--seed", "0", "--max-tokens", "30")
    assert code == 1
    assert 0 < len(lines) < 9
    assert set(lines) == {"x"}
    assert "(seed 0): the document is not finished after 30 tokens" in errors
    assert "allow more with --max-tokens" in errors
    assert "Traceback" not in errors


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--seed", "-1"), "argument --seed: must be at least 0, not -1"),
        (("--seed", "x"), "argument --seed: invalid integer value: 'x'"),
        (("--temperature", "nan"), "argument --temperature: must be a number that is not negative, not nan"),
        (("--model", "a", "--eos", "1"), "--model brings its own tokenizer; leave --tokenizer and --eos out"),
    ],
)
def test_wrong_arguments_are_explained(
    capfd: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["generate", "--regex", "a", *arguments])
    assert caught.value.code == 2
    assert capfd.readouterr().err == f"llmask generate: error: {message} (see llmask generate --help)\n"


@pytest.mark.parametrize("name", [None, "llama-bpe.gguf", "llama-spm.gguf"])
def test_the_person_of_the_readme_is_valid_for_many_seeds(
    capfd: pytest.CaptureFixture[str],
    project_root: Path,
    request: pytest.FixtureRequest,
    costly: Callable[[int], int],
    name: str | None,
) -> None:
    n, tokenizer = costly(50), []
    if name is not None:
        tokenizer = ["--tokenizer", str(request.getfixturevalue("shared_dir") / "data" / "vocab" / name)]
    path = project_root / "grammars" / "person.schema.json"
    validator = jsonschema.Draft202012Validator(json.loads(path.read_text()))
    code, lines, errors = generate(capfd, "--schema", str(path), "--n", str(n), "--seed", "0", *tokenizer)
    assert (code, len(lines)) == (0, n), errors
    for line in lines:
        validator.validate(json.loads(line))
    assert len(set(lines)) > n // 2


def test_a_prompt_needs_a_model(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["generate", "--regex", "a", "--prompt", ""])
    assert caught.value.code == 2
    assert capsys.readouterr().err.startswith("llmask generate: error: --prompt is for a model")
