"""What users call: schemas, ready grammars, tools, requests, errors, files, and the README's first line.

Cases are those of the tests of each part; here are some of each.
"""

from __future__ import annotations

import json
import pickle
import random
from pathlib import Path
from typing import Any

import pytest

import llmask
from bench.engines.llmask import Llmask
from bench.expected import Expected, expected, verify
from llmask.cli import main
from llmask.compiling.sources import ready_files, ready_folder
from llmask.errors import LlmaskError
from tests.contract.gbnf_grammars import GRAMMARS
from tests.contract.mistakes import Mistake, World
from tests.contract.response_formats import CASES as RESPONSE_FORMATS
from tests.contract.test_mistakes import MISTAKES
from tests.contract.tool_calls import CALLS, TOOLS
from tests.reference.definition import read_mask
from tests.unit.compiling.saved_grammars import SCHEMAS as SAVED
from tests.unit.frontends.json_schema.keyword_cases import CASES as KEYWORDS

TOKENIZER = "default_tokenizer"  # of `compiler`
OWN = expected("own", "flexible", "default")
TEXTS = [name for name, path in ready_files().items() if path.suffix != ".json"]


@pytest.fixture(scope="module")
def world(tiny_tokenizer: Any, tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(tiny_tokenizer, tmp_path_factory.mktemp("mistakes"))


@pytest.mark.parametrize("entry", OWN[::2], ids=[entry.id for entry in OWN[::2]])
def test_masks_have_the_digests_of_the_slow_twin(entry: Expected) -> None:
    assert verify(Llmask("flexible", "default"), entry)["verdict"] == "equal"


@pytest.mark.parametrize("keyword", KEYWORDS)
def test_every_keyword(compiler: llmask.Compiler, keyword: str) -> None:
    schema, valid, invalid = KEYWORDS[keyword]
    grammar = compiler.json_schema(schema, property_order="any")
    assert [value for value in valid if not grammar.accepts(json.dumps(value))] == []
    assert [value for value in invalid if grammar.accepts(json.dumps(value))] == []


@pytest.mark.parametrize("name", TEXTS)
def test_ready_grammars_judge_their_samples(compiler: llmask.Compiler, name: str) -> None:
    grammar = compiler.grammar(name)
    samples = json.loads((ready_folder() / f"{name}.samples.json").read_text(encoding="utf-8"))
    assert all(map(grammar.accepts, samples["accept"]))
    assert not any(map(grammar.accepts, samples["reject"]))


@pytest.mark.parametrize("model", CALLS)
def test_calls_of_tools(compiler: llmask.Compiler, model: str) -> None:
    grammar = compiler.tools(TOOLS, model=model, tool_choice="required")
    assert grammar.accepts(CALLS[model])
    assert not grammar.accepts(CALLS[model].replace("weather", "whether"))


@pytest.mark.parametrize("name", RESPONSE_FORMATS)
def test_response_formats(compiler: llmask.Compiler, name: str) -> None:
    document, allowed, refused = RESPONSE_FORMATS[name]
    grammar = compiler.response_format(document)
    assert grammar.accepts(allowed)
    assert refused is None or not grammar.accepts(refused)


@pytest.mark.parametrize("name", GRAMMARS)
def test_gbnf_documents_that_are_drawn_are_accepted(compiler: llmask.Compiler, name: str) -> None:
    grammar = compiler.gbnf(GRAMMARS[name])
    assert all(grammar.accepts(grammar.sample(seed)) for seed in range(2))


@pytest.mark.parametrize("mistake", MISTAKES[::12], ids=[mistake.name for mistake in MISTAKES[::12]])
def test_mistakes_are_told(world: World, mistake: Mistake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(world.folder)
    with pytest.raises(LlmaskError) as caught:
        mistake.make(world)
    assert caught.value.message.replace(str(world.folder), "FOLDER") == mistake.message


@pytest.mark.parametrize("name", list(SAVED)[::3])
def test_saved_grammars_have_the_same_masks(tiny_tokenizer: Any, name: str, rng: random.Random) -> None:
    compiler = llmask.Compiler(tiny_tokenizer)
    grammar = SAVED[name](compiler)
    copies = [grammar, pickle.loads(pickle.dumps(grammar)), compiler.load(grammar.save())]
    matchers = [copy.matcher() for copy in copies]
    for _ in range(8):
        allowed, *others = [read_mask(matcher, tiny_tokenizer.vocab_size) for matcher in matchers]
        assert all(other == allowed for other in others)
        token = rng.choice(sorted(allowed))
        if token in tiny_tokenizer.eos_ids:
            break
        for matcher in matchers:
            matcher.accept_token(token)


def test_a_tokenizer_writes_what_it_reads(default_tokenizer: Any) -> None:
    for text in ('{"name": "Ada Lovelace", "age": 36}', "日本 é 😀\n\t", ""):
        assert b"".join(map(default_tokenizer.token_bytes, default_tokenizer.encode(text))) == text.encode()


def test_the_first_line_of_the_readme_writes_a_document(
    compiler: llmask.Compiler, project_root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    schema = project_root / "grammars" / "person.schema.json"
    assert main(["generate", "--schema", str(schema)]) == 0
    assert compiler.json_schema(json.loads(schema.read_text(encoding="utf-8"))).accepts(capsys.readouterr().out.strip())
