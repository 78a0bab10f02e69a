"""What every test may use: the folder of shared data, tokenizers, seeds and one dial for effort.

    LLMASK_TEST_EFFORT   multiplies the number of random cases (default 1; 0.1 for a quick look, 20 for a night);
                         tests marked slow run at 4 and above
    LLMASK_TEST_SEED     seed of all random tests (default 20261121); each test prints the one that it used
    LLMASK_SHARED        folder of shared data (default: `shared` beside the project's folder)

Tests that read shared data skip, with the reason, where the folder is absent; where it is present they fail.
"""

from __future__ import annotations

import gc
import gzip
import json
import os
import random
import re
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
EFFORT = float(os.environ.get("LLMASK_TEST_EFFORT", "1"))
FULL = 4  # the effort at which `.ci/run night` repeats what is costly or slow
SEED = int(os.environ.get("LLMASK_TEST_SEED", "20261121"))
SHARED = Path(os.environ.get("LLMASK_SHARED", ROOT.parent / "shared"))

# What a small vocabulary must have to be nasty: every byte, pieces that cross the ends of JSON lexemes, tokens that
# end inside a code point, two ids with the same bytes, an empty token and special ones in the middle.
TINY_PIECES = (
    '{"', '"}', '":', '": ', '",', '", "', '"]', "[]", "{}", "},", "}]", "], ", '\\"', "\\u", "\\n",
    "00", "12", "-1", ".5", "e+", "true", "tru", "false", "null", "nul", "name", '"name"', '"na', "me", "age",
    "aa", "ab", "ba", "abc", "  ", "\n  ", " \n", "é", "😀", "日本",
)  # fmt: skip


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Run all tests on all CPUs where pytest-xdist is installed; `-n 0`, or naming files or tests: in one process."""
    is_worker = "PYTEST_XDIST_WORKER" in os.environ  # it comes here, too, and would have workers of its own
    if not is_worker and _is_everything(config) and getattr(config.option, "numprocesses", 0) is None:
        config.option.numprocesses, config.option.dist = "auto", "worksteal"


def _is_everything(config: pytest.Config) -> bool:
    """Whether no file or test is named."""
    if hasattr(config, "workerinput"):
        return bool(config.workerinput["is_everything"])
    return config.args_source is not pytest.Config.ArgsSource.ARGS


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker of pytest-xdist what its own arguments do not say."""
    node.workerinput["is_everything"] = _is_everything(node.config)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out of a run of everything what repeats cases of the other tests."""
    return True if collection_path.name == "smoke" and _is_everything(config) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark tests that are costly or need shared data, and leave slow ones to the full effort, long ones to who asks."""
    for item in items:
        fixtures = getattr(item, "fixturenames", ())
        for name, fixture in (("costly", "costly"), ("shared", "shared_dir")):
            if fixture in fixtures:
                item.add_marker(name)
    if EFFORT < FULL:
        asks = bool(config.option.markexpr or config.option.keyword) or not _is_everything(config)
        left_out = ("slow",) if asks else ("slow", "long")
        others = [item for item in items if any(map(item.get_closest_marker, left_out))]
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if not any(map(item.get_closest_marker, left_out))]
    else:
        items.sort(key=lambda item: item.get_closest_marker("slow") is None)  # last, one would keep others waiting


def pytest_collection_finish() -> None:
    """Leave what has been imported and collected, millions of objects, out of the garbage collector's rounds."""
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say in one line why tests were skipped, where `-rs` does not list them."""
    counts = Counter(_need_of(str(report.longrepr)) for report in terminalreporter.stats.get("skipped", ()))
    told = ", ".join(f"{n_skipped} {need}" for need, n_skipped in counts.most_common())
    if told and "s" not in terminalreporter.reportchars:
        terminalreporter.write_line(f"skipped, as they need: {told} (-rs lists them)")


def _need_of(reason: str) -> str:
    if "no shared data at" in reason:
        return "model vocabularies or schemas, which docs/measured.md#data-of-the-tests says how to get"
    return (
        "an optional package" if re.search("not installed|could not import|pip install", reason) else "another setting"
    )


def pytest_report_header() -> str:
    return f"llmask: effort {EFFORT:g} (LLMASK_TEST_EFFORT), seed {SEED} (LLMASK_TEST_SEED), shared data {SHARED}"


@pytest.fixture(scope="session")
def effort() -> float:
    """Multiplier of the number of random cases."""
    return EFFORT


@pytest.fixture(scope="session")
def scaled() -> Callable[[float], int]:
    """scaled(n): number of random cases at the effort asked for, at least one."""
    return lambda n_cases: max(1, round(n_cases * EFFORT))


@pytest.fixture(scope="session")
def costly(scaled: Callable[[float], int]) -> Callable[[int], int]:
    """As `scaled`, for tests that take long with the cases that they are worth: a quarter of them below effort 4."""
    return scaled if EFFORT >= FULL else lambda n_cases: scaled(n_cases / 4)


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> random.Random:
    """Random numbers of one test: the same in every run with the same LLMASK_TEST_SEED."""
    sys.stdout.write(f"LLMASK_TEST_SEED={SEED}\n")  # pytest shows it when the test fails
    return random.Random(f"{SEED} {request.node.name}")


@pytest.fixture(scope="session")
def project_root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def shared_dir() -> Path:
    """Folder of the shared data (vocabularies, schemas); never copied into the project."""
    if not SHARED.is_dir():
        pytest.skip(f"no shared data at {SHARED}; LLMASK_SHARED names another place")
    return SHARED


@pytest.fixture(scope="session")
def maskbench_rows(shared_dir: Path) -> list[dict[str, Any]]:
    """All rows of MaskBench's part: id, schema, tests (valid, data), features."""
    with gzip.open(shared_dir / "data" / "maskbench" / "maskbench.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@pytest.fixture(scope="session")
def default_tokenizer() -> Any:
    """The tokenizer shipped in the package."""
    from llmask import Tokenizer

    return Tokenizer.default()


@pytest.fixture(scope="session")
def llama3_tokenizer(shared_dir: Path) -> Any:
    """Llama 3: byte-level BPE, 128,256 tokens."""
    from llmask import Tokenizer

    return Tokenizer.from_gguf(str(shared_dir / "data" / "vocab" / "llama-bpe.gguf"))


@pytest.fixture(scope="session")
def llama_spm_tokenizer(shared_dir: Path) -> Any:
    """Llama 2: SentencePiece BPE, 32,000 tokens, bytes as `<0xNN>`."""
    from llmask import Tokenizer

    return Tokenizer.from_gguf(str(shared_dir / "data" / "vocab" / "llama-spm.gguf"))


def tiny_vocabulary() -> tuple[list[bytes], int, list[int]]:
    """Tokens, end of sequence and special ids of `tiny_tokenizer`."""
    tokens = [b"<s>", b"</s>", b""] + [bytes([byte]) for byte in range(256)]
    tokens += [piece.encode() for piece in TINY_PIECES]
    tokens += [b"<|tool|>", b"aa", b'"\xc3', b"\xf0\x9f\x98", b"\x9f\x98\x80"]
    return tokens, 1, [0, tokens.index(b"<|tool|>")]


@pytest.fixture(scope="session")
def tiny_tokenizer() -> Any:
    """About 300 tokens: all bytes, awkward pieces, duplicates, an empty and a special token (see TINY_PIECES)."""
    from llmask import Tokenizer

    tokens, eos, special = tiny_vocabulary()
    return Tokenizer.from_bytes(tokens, eos=eos, special=special)


@pytest.fixture(scope="session")
def byte_tokenizer() -> Any:
    """One token a byte (token id = byte), end of sequence 256."""
    from llmask import Tokenizer

    return Tokenizer.from_bytes([bytes([byte]) for byte in range(256)] + [b""], eos=256, special=[])


def _tokenizer_of(request: pytest.FixtureRequest) -> Any:
    """`byte_tokenizer`, or the fixture that a module names by its constant TOKENIZER."""
    return request.getfixturevalue(getattr(request.module, "TOKENIZER", "byte_tokenizer"))


@pytest.fixture(scope="module")
def compiler(request: pytest.FixtureRequest) -> Any:
    """A compiler of bytes, or of the module's TOKENIZER."""
    from llmask import Compiler

    return Compiler(_tokenizer_of(request))


@pytest.fixture(scope="module")
def store(request: pytest.FixtureRequest) -> Any:
    """What grammars of bytes, or of the module's TOKENIZER, share: for tests of rules that no compiler wrote."""
    from llmask import Limits
    from llmask.store.store import Store

    return Store(_tokenizer_of(request), Limits())
