"""A checkout of MaskBench becomes the data of the figures: the same schemas, in the same order, and it says so."""

from __future__ import annotations

import gzip
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from bench import fetch, vocabularies
from bench.data import MASKBENCH
from llmask.errors import LlmaskError
from llmask.tokenizer.token_sources import DEFAULT_FILE
from tests.processes import fresh_python

COUNTED = ["BFCL_java_12", "Github_easy---o79477", "JME_0"]  # in the order of their files
OTHERS = ["BFCL_java_1", "BFCL_java_4"]
SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
TESTS = [
    {"description": "sample", "valid": True, "data": {"name": "Zoë"}},
    {"description": "not valid", "valid": False, "data": {"name": 1}},
]


def write_upstream(checkout: Path, name: str, **changes: Any) -> Path:
    """A file as upstream writes it."""
    folder = checkout / "maskbench" / "data"
    folder.mkdir(parents=True, exist_ok=True)
    entry = {
        "description": f"sample {name}.json",
        "meta": {"full_size": 99, "features": ["format"], "raw_features": []},
    }
    path = folder / f"{name}.json"
    path.write_text(json.dumps({**entry, "schema": SCHEMA, "tests": TESTS, **changes}, indent=2, ensure_ascii=False))
    return path


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name in [*reversed(COUNTED), *OTHERS]:
        write_upstream(tmp_path / "upstream", name)
    (tmp_path / "upstream" / "maskbench" / "README.md").write_text("# MaskBench\n")
    return tmp_path / "upstream"


def read_rows(folder: Path) -> list[dict[str, Any]]:
    with gzip.open(folder / fetch.MASKBENCH_FILE, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def test_files_are_counted_by_their_names_in_the_order_of_their_names(checkout: Path) -> None:
    assert [fetch.is_counted(f"{name}.json") for name in [*COUNTED, *OTHERS]] == [True] * 3 + [False] * 2
    rows = list(fetch.read_checkout(checkout))
    assert [row["id"] for row in rows] == COUNTED
    tests = [{"valid": True, "data": {"name": "Zoë"}}, {"valid": False, "data": {"name": 1}}]
    assert rows[0] == {"id": COUNTED[0], "schema": SCHEMA, "tests": tests, "features": ["format"]}


def test_the_files_of_a_tiny_checkout_say_what_they_are(checkout: Path, tmp_path: Path) -> None:
    (checkout / "maskbench" / "data" / "JME_0.json").write_text(json.dumps({"schema": True, "tests": []}))
    said = fetch.fetch(checkout, None, tmp_path / "out").splitlines()
    assert said == [
        f"{tmp_path / 'out' / fetch.MASKBENCH_FILE}: 3 schemas, 4 documents",
        "They are not those of the recorded figures (4,435 schemas): upstream has changed since.",
        "Llama 3's vocabulary is not there: give a file of it with --vocabulary, as the figures are of it.",
        f"The benchmark reads {vocabularies.SHARED}: LLMASK_SHARED={tmp_path / 'out'} has it read these data.",
    ]
    rows = read_rows(tmp_path / "out")
    assert rows == list(fetch.read_checkout(checkout))
    assert rows[2] == {"id": "JME_0", "schema": True, "tests": [], "features": []}
    before = (tmp_path / "out" / fetch.MASKBENCH_FILE).read_bytes()
    fetch.fetch(checkout, None, tmp_path / "out")
    assert (tmp_path / "out" / fetch.MASKBENCH_FILE).read_bytes() == before


@pytest.mark.slow
def test_the_data_of_the_figures_come_from_a_checkout(
    maskbench_rows: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for row in maskbench_rows:
        tests = [{"description": "", **test} for test in row["tests"]]
        meta = {"full_size": 0, "stripped_size": 0, "features": row["features"], "raw_features": []}
        write_upstream(tmp_path / "upstream", row["id"], schema=row["schema"], tests=tests, meta=meta)
    for name in OTHERS:
        write_upstream(tmp_path / "upstream", name)
    monkeypatch.setattr(fetch, "SHARED", tmp_path / "out")
    assert fetch.fetch(tmp_path / "upstream", None, tmp_path / "out").splitlines() == [
        f"{tmp_path / 'out' / fetch.MASKBENCH_FILE}: {fetch.N_SCHEMAS:,} schemas, 14,206 documents",
        "They are those of the recorded figures.",
        "Llama 3's vocabulary is not there: give a file of it with --vocabulary, as the figures are of it.",
    ]
    assert read_rows(tmp_path / "out") == maskbench_rows
    assert MASKBENCH.relative_to(vocabularies.SHARED) == fetch.MASKBENCH_FILE


def test_what_is_no_checkout_says_how_to_get_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(LlmaskError) as caught:
        fetch.fetch(tmp_path, None, tmp_path / "out")
    assert str(caught.value) == (
        f"{tmp_path} is no checkout of guidance-ai/jsonschemabench\n"
        f"  at {tmp_path / 'maskbench' / 'data'} is not there\n"
        "  git clone https://github.com/guidance-ai/jsonschemabench, and give its folder"
    )
    write_upstream(tmp_path, OTHERS[0])
    with pytest.raises(LlmaskError, match="no schema of the checkout is counted"):
        fetch.fetch(tmp_path, None, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "text", ["{", "[]", "{}", '{"schema": {}}', '{"schema": {}, "tests": [{"valid": true}]}', "\xff"]
)
def test_a_damaged_file_is_named(checkout: Path, text: str) -> None:
    path = checkout / "maskbench" / "data" / f"{COUNTED[1]}.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(LlmaskError, match="not a schema of MaskBench") as caught:
        list(fetch.read_checkout(checkout))
    assert caught.value.where == str(path)


@pytest.mark.long
def test_the_vocabulary_of_the_figures_is_written(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = vocabularies.vocabulary("default")
    monkeypatch.setattr(fetch, "VOCABULARY_DIGEST", fetch.vocabulary_digest(own))
    said = fetch.fetch(checkout, DEFAULT_FILE, tmp_path / "out")
    assert "Llama 3's vocabulary is not there" not in said
    written = vocabularies.SOURCES["default"]._replace(path=tmp_path / "out" / fetch.VOCABULARY_FILE)
    assert vocabularies.read_vocabulary(written).tokens == own.tokens
    assert vocabularies.SOURCES["llama3"].path.relative_to(vocabularies.SHARED) == fetch.VOCABULARY_FILE


def test_the_digest_of_the_vocabulary_is_that_of_llama_3(shared_dir: Path) -> None:
    assert fetch.vocabulary_digest(vocabularies.vocabulary("llama3")) == fetch.VOCABULARY_DIGEST


def test_data_are_looked_for_where_they_were_written(tmp_path: Path) -> None:
    assert vocabularies.shared_folder("/somewhere", tmp_path) == Path("/somewhere")
    assert (
        vocabularies.shared_folder(None, tmp_path) == vocabularies.shared_folder("", tmp_path) == vocabularies.FETCHED
    )
    (tmp_path / "data").mkdir()
    assert vocabularies.shared_folder(None, tmp_path) == tmp_path


@pytest.mark.slow
def test_the_benchmark_runs_on_what_was_fetched(checkout: Path, tmp_path: Path) -> None:
    pytest.importorskip("tiktoken", reason="documents are tokenized by tiktoken: pip install '.[test]'")

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return fresh_python("-m", *arguments, LLMASK_SHARED=str(tmp_path / "out"))

    fetched = run("bench.fetch", str(checkout), "--output", str(tmp_path / "out"))
    assert fetched.returncode == 0, fetched.stderr
    assert "LLMASK_SHARED" not in fetched.stdout  # it is what the benchmark reads
    measured = run("llmask", "bench", "--against", "", "--limit", "2", "--repeat", "1")
    assert measured.returncode == 0, measured.stderr
    assert "Llama 3's vocabulary is not there: the package's own is measured" in measured.stderr
    assert "2 of 3 schemas of MaskBench, vocabulary default, whitespace flexible" in measured.stdout
    missing = run("llmask", "bench", "--against", "", "--vocabulary", "llama3")
    assert "the vocabulary llama3 is not there" in missing.stderr
    assert run("bench.fetch", str(tmp_path)).stderr.startswith(f"error: {tmp_path} is no checkout")
