"""SGLang's own consumers over llmask's backend: plug-ins, the command line, batches, its manager."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.servers.sglang_here import (
    N_BEYOND,
    BaseGrammarObject,
    GrammarRow,
    InvalidGrammarObject,
    allowed,
    batch_of,
    bits,
    compiled,
    get_resources,
    hf_tokenizer,
    manager_of,
    request,
    served,
    torch,
)

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 5},
        "age": {"type": "integer", "minimum": 0, "maximum": 150, "multipleOf": 3},
        "tags": {"type": "array", "items": {"enum": ["red", "blue", "green"]}, "uniqueItems": True, "maxItems": 2},
    },
    "required": ["name", "age"],
    "additionalProperties": False,
    "not": {"required": ["tags"], "properties": {"age": {"const": 3}}},
}
KINDS = {
    "json": (json.dumps(SCHEMA), '{"name": "ann", "age": 9}'),
    "regex": ("[a-f]{2,4}(-[0-9]+)?", "abc-12"),
    "ebnf": ('root ::= "yes" | "no" " thanks"?', "no thanks"),
    "full_assistant_ebnf": ('root ::= "a" root | "b"', "aab"),
    "structural_tag": (
        json.dumps(
            {
                "type": "structural_tag",
                "structures": [{"begin": "<f=a>", "schema": None, "end": "</f>"}],
                "triggers": ["<f="],
                "at_least_one": True,
            }
        ),
        '<f=a>{"b": 1}</f> so',
    ),
}


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return hf_tokenizer()


# --- plug-in and command line

ASK = """
import tests.servers.sglang_here
from sglang.srt.plugins import load_plugins
load_plugins()
load_plugins()
from argparse import ArgumentParser
from sglang.srt.arg_groups.choices import GRAMMAR_BACKEND_CHOICES
from sglang.srt.constrained.base_grammar_backend import GRAMMAR_BACKEND_REGISTRY
from sglang.srt.server_args import ServerArgs
parser = ArgumentParser()
ServerArgs.add_cli_args(parser)
read = parser.parse_args(["--model-path", "dummy", "--grammar-backend", "llmask"])
print(read.grammar_backend, GRAMMAR_BACKEND_CHOICES.count("llmask"), GRAMMAR_BACKEND_REGISTRY["llmask"].__module__)
"""


def installed(folder: Path, target: str) -> dict[str, str]:
    """An environment in which a distribution `llmask` is installed whose plug-in is `target`."""
    metadata = folder / "llmask-0.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: llmask\nVersion: 0.0\n")
    (metadata / "entry_points.txt").write_text(f"[sglang.srt.plugins]\nllmask = {target}\n")
    root = Path(__file__).parents[2]
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(root)])}


def entry_point(project_root: Path) -> str:
    """What pyproject.toml says."""
    tomllib = pytest.importorskip("tomllib", reason="Python 3.10 does not read TOML")
    project = tomllib.loads((project_root / "pyproject.toml").read_text("utf-8"))["project"]
    target: str = project["entry-points"]["sglang.srt.plugins"]["llmask"]
    return target


def test_the_plugin_makes_the_backend_a_choice_of_the_command_line(tmp_path: Path, project_root: Path) -> None:
    environment = installed(tmp_path, entry_point(project_root))
    done = subprocess.run([sys.executable, "-c", ASK], env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1:] == ["llmask 1 llmask.integrations.sglang"], done.stderr


def test_a_plugin_that_fails_leaves_sglang_alone(tmp_path: Path, project_root: Path) -> None:
    """A stand-in for a version of SGLang that has no such module: it says so, and knows the backends that it knew."""
    environment = installed(tmp_path, entry_point(project_root))
    gone = 'import sys; sys.modules["sglang.srt.arg_groups.choices"] = None\n'
    lines = ASK.split("from argparse")[0].replace("\nfrom", f"\n{gone}from", 1)
    lines += "from sglang.srt.constrained.base_grammar_backend import GRAMMAR_BACKEND_REGISTRY\n"
    lines += "print(sorted(GRAMMAR_BACKEND_REGISTRY))"
    done = subprocess.run([sys.executable, "-c", lines], env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1:] == ["[]"], done.stderr
    assert "Failed to execute general plugin: llmask" in done.stderr


# --- keys


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_key_is_compiled(tokenizer: Any, kind: str) -> None:
    source, text = KINDS[kind]
    with served(tokenizer) as backend:
        grammar = compiled(backend, kind, source)
        assert isinstance(grammar, BaseGrammarObject)
        assert grammar.grammar_stats.compilation_time > 0
        for token in [*tokenizer.encode(text), tokenizer.eos_token_id]:
            assert token in allowed(grammar, len(tokenizer) + N_BEYOND)
            grammar.accept_token(token)
        assert grammar.is_terminated()
        known, is_known = backend.get_cached_or_future_value((kind, source), False)
        assert is_known
        assert known is not grammar
        assert not known.is_terminated()
        assert known.grammar_stats.is_cache_hit


@pytest.mark.parametrize(
    ("kind", "source", "place"),
    [
        ("json", '{"properties": {"a": {"type": "strong"}}}', "#/properties/a/type"),
        ("json", '{"type": ', "line 1"),
        ("json", '{"$ref": "https://example.org/x.json"}', "#/$ref"),
        ("regex", "(a", ""),
        ("ebnf", "root ::= item", "line 1, column 10"),
        ("ebnf", "", "defines nothing"),
        ("full_assistant_ebnf", "start: item", "line 1, column 8"),
        (
            "structural_tag",
            '{"format": {"type": "json_schema", "json_schema": {"type": 3}}}',
            "#/format/json_schema/type",
        ),
        (
            "structural_tag",
            '{"structures": [{"begin": "a", "schema": {"type": 3}, "end": "b"}], "triggers": ["a"]}',
            "#/structures/0/schema/type",
        ),
        ("structural_tag", "[]", ""),
        ("something", "x", "something"),
        (
            "json",
            json.dumps({"oneOf": [{"required": [f"k{n}"], "maxProperties": 99} for n in range(80)]}),
            "max_compile_work",
        ),
        ("regex", "(a{500}){500}b|" * 20 + "".join(f"(?=.*{c})" for c in "xyzwvu") + "(a|b){5000}", "limit"),
        ("json", '{"const": "\\u0000"}', "NUL"),  # refused by SGLang itself, for a reason of XGrammar's
    ],
)
def test_a_refused_key_says_what_and_where(tokenizer: Any, kind: str, source: str, place: str) -> None:
    with served(tokenizer) as backend:
        refused = compiled(backend, kind, source)
        assert isinstance(refused, InvalidGrammarObject)
        assert place in refused.error_message
        assert backend.get_cached_or_future_value((kind, source), False) == (refused, True)


def test_any_json_has_a_name(tokenizer: Any) -> None:
    with served(tokenizer) as backend:
        for text in ('[1, {"a": null}]', "true", '"x"', "{}"):
            grammar = compiled(backend, "json", "$$ANY$$")
            for token in tokenizer.encode(text):
                grammar.accept_token(token)
            assert tokenizer.eos_token_id in allowed(grammar, len(tokenizer))


@pytest.mark.parametrize(
    ("arguments", "accepted", "refused"),
    [
        ({}, '{ "a":\n\n1}', "{ a"),
        ({"constrained_json_disable_any_whitespace": True}, '{"a":1}', '{"a": 1}'),
        ({"constrained_json_whitespace_pattern": "[ ]?"}, '{"a": 1}', '{"a":  1}'),
        ({"constrained_json_max_whitespace_cnt": 1}, '{"a": 1}', '{"a":  1}'),
    ],
)
def test_arguments_of_the_server_say_how_json_is_spaced(
    tokenizer: Any, arguments: dict[str, Any], accepted: str, refused: str
) -> None:
    with served(tokenizer, **arguments) as backend:
        for text, is_accepted in ((accepted, True), (refused, False)):
            grammar = compiled(backend, "json", '{"properties": {"a": {"const": 1}}, "required": ["a"]}')
            tokens = tokenizer.encode(text)
            assert (grammar.matcher.validate_tokens(tokens) == len(tokens)) == is_accepted


def test_many_keys_are_compiled_at_the_same_time(tokenizer: Any) -> None:
    with served(tokenizer) as backend:
        keys = [("regex", f"a{{{n % 40 + 1}}}") for n in range(200)]
        for (_, text), (future, _) in zip(
            keys, [backend.get_cached_or_future_value(key, False) for key in keys], strict=True
        ):
            assert future.result().grammar.shortest() == b"a" * int(text[2:-1])


@pytest.mark.parametrize("arguments", [{}, {"reasoning_parser": "qwen3"}])
def test_what_is_remembered_is_bounded(
    tokenizer: Any, monkeypatch: pytest.MonkeyPatch, arguments: dict[str, Any]
) -> None:
    monkeypatch.setattr("llmask.integrations.sglang.backend.MOST_REMEMBERED", 3)
    with served(tokenizer, **arguments) as backend:
        for n in range(9):
            compiled(backend, "regex", f"a{{{n}}}b")
        assert [text for _, text in backend.cache] == ["a{6}b", "a{7}b", "a{8}b"]
        backend.reset()
        assert not backend.cache


# --- sequences


def test_the_end_is_the_models_and_the_tokenizers(tokenizer: Any) -> None:
    """A model may end a turn with a token that its tokenizer does not call an end."""
    call = tokenizer.convert_tokens_to_ids("<|call|>")
    with served(tokenizer, eos={call, 10_000_000}) as backend:
        grammar = compiled(backend, "regex", "a")
        assert allowed(grammar, len(tokenizer)).isdisjoint({call, tokenizer.eos_token_id})
        grammar.accept_token(tokenizer.encode("a")[0])
        assert allowed(grammar, len(tokenizer)) == {call, tokenizer.eos_token_id}
        grammar.accept_token(call)
        assert grammar.is_terminated()
        grammar.rollback(1)
        assert not grammar.is_terminated()


def test_a_text_does_not_end_before_its_end_of_sequence(tokenizer: Any) -> None:
    """SGLang takes the last token of a text that ended off, whatever it is."""
    with served(tokenizer) as backend:
        grammar = compiled(backend, "ebnf", 'root ::= "a"')
        grammar.accept_token(tokenizer.encode("a")[0])
        assert not grammar.is_terminated()


def test_documents_of_random_tokens_are_valid(tokenizer: Any, rng: random.Random) -> None:
    """Batches of SGLang's, in which rows end one after the other; the judge is jsonschema."""
    judge = jsonschema.Draft202012Validator(SCHEMA)
    n_logits = len(tokenizer) + N_BEYOND
    generator = torch.Generator().manual_seed(rng.randrange(2**31))
    with served(tokenizer) as backend:
        documents = []
        for _ in range(4):
            grammars = [compiled(backend, "json", json.dumps(SCHEMA)) for _ in range(50)]
            rows: list[list[int]] = [[] for _ in grammars]
            while not all(grammar.is_terminated() for grammar in grammars):
                info = batch_of([None, *grammars], n_logits)
                info.update_regex_vocab_mask()
                logits = torch.randn(1 + len(grammars), n_logits, generator=generator)
                free = logits[0].clone()
                info.apply_logits_bias(logits)
                assert torch.equal(logits[0], free)
                for grammar, row, token in zip(grammars, rows, logits[1:].argmax(-1).tolist(), strict=True):
                    if not grammar.is_terminated():
                        grammar.accept_token(token)
                        row.append(token)
            documents += [json.loads(tokenizer.decode(row, skip_special_tokens=True)) for row in rows]
        assert len(documents) == 200
        for document in documents:
            judge.validate(document)
        assert any("tags" in document for document in documents)


def test_grammars_are_compiled_while_batches_are_stepped(tokenizer: Any, rng: random.Random) -> None:
    """The scheduler's thread fills and accepts; threads of the pool build in the same tables."""
    n_logits = len(tokenizer) + N_BEYOND
    judge = jsonschema.Draft202012Validator(SCHEMA)
    with served(tokenizer) as backend:
        source = json.dumps(SCHEMA)
        grammars = [compiled(backend, "json", source) for _ in range(20)]
        futures, n_steps = [], 0
        rows: list[list[int]] = [[] for _ in grammars]
        while not all(grammar.is_terminated() for grammar in grammars):
            key = ("json", source.replace("name", f"name{n_steps}"))
            futures += [
                backend.get_cached_or_future_value(key, False)[0],
                backend.get_cached_or_future_value(key, False)[0],
            ]
            info = batch_of(grammars, n_logits)
            info.update_regex_vocab_mask()
            logits = torch.rand(len(grammars), n_logits)
            info.apply_logits_bias(logits)
            for grammar, row, token in zip(grammars, rows, logits.argmax(-1).tolist(), strict=True):
                if not grammar.is_terminated():
                    grammar.accept_token(token)
                    row.append(token)
            n_steps += 1
        for row in rows:
            judge.validate(json.loads(tokenizer.decode(row, skip_special_tokens=True)))
        for future in futures:
            grammar = future.result()
            grammar.matcher.accept_bytes(b'{"name')
            assert all(tokenizer.decode([token])[0].isdigit() for token in allowed(grammar, n_logits))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_masks_reach_logits_of_any_dtype(tokenizer: Any, dtype: Any) -> None:
    n_logits = len(tokenizer) + N_BEYOND
    with served(tokenizer) as backend:
        grammar = compiled(backend, "regex", "[ab]+")
        info = batch_of([grammar], n_logits)
        info.update_regex_vocab_mask()
        logits = torch.zeros(1, n_logits, dtype=dtype)
        info.grammar_mask.apply(logits)
        found = set(torch.nonzero(logits[0] == 0)[:, 0].tolist())
        assert found == allowed(grammar, n_logits)
        assert tokenizer.encode("a")[0] in found


def test_masks_cover_logits_and_tokens_whichever_are_more(tokenizer: Any) -> None:
    with served(tokenizer) as backend:
        grammar = compiled(backend, "regex", "[ab]+")
        n_tokens = len(tokenizer) + N_BEYOND
        for n_logits in (100, n_tokens, 5000):
            mask = grammar.allocate_vocab_mask(n_logits, 1, "cpu")
            assert mask.dtype == torch.int32
            assert mask.shape == (1, -(-max(n_logits, n_tokens) // 32))
            assert (mask == -1).all()
            grammar.fill_vocab_mask(mask, 0)
            logits = torch.zeros(1, n_logits)
            grammar.apply_vocab_mask(logits=logits, vocab_mask=grammar.move_vocab_mask(mask, "cpu"))
            assert bits(mask[0]) == allowed(grammar, n_tokens)
            grammar.reset_vocab_mask(mask)
            assert (mask == -1).all()


def test_a_buffer_of_masks_is_made_once(tokenizer: Any) -> None:
    with served(tokenizer) as backend:
        try:
            first = backend.initialize_vocab_mask_buffer("llmask_test", len(tokenizer), 4, "cpu")
            assert first.shape[0] == 4
            assert backend.initialize_vocab_mask_buffer("llmask_test", len(tokenizer), 4, "cpu") is first
        finally:
            get_resources().buffers.pop("llmask_test", None)


def test_rows_that_are_not_listed_stay_as_they_are(tokenizer: Any) -> None:
    with served(tokenizer) as backend:
        grammars = [compiled(backend, "regex", "[ab]+") for _ in range(200)]
        mask = grammars[0].allocate_vocab_mask(len(tokenizer), 400, "cpu")
        grammars[0].fill_vocab_mask_batched([], mask)
        grammars[0].fill_vocab_mask_batched(
            [GrammarRow(row=2 * n + 1, grammar=grammar) for n, grammar in enumerate(grammars)], mask
        )
        assert (mask[::2] == -1).all()
        assert (mask[1::2] == mask[1]).all()
        assert bits(mask[1]) == allowed(grammars[0], len(tokenizer))


# --- tools


def test_the_tool_calls_of_every_model_are_compiled(tokenizer: Any) -> None:
    """What SGLang's parsers of tool calls ask for, with two tools, one of them without parameters."""
    pytest.importorskip("xgrammar", reason="xgrammar is not installed, whose tags SGLang's parsers fill in")
    from sglang.srt.entrypoints.openai.protocol import Function, Tool
    from sglang.srt.function_call.function_call_parser import FunctionCallParser

    properties = {"a": {"type": "integer"}, "b": {"type": "string"}}
    parameters = {"type": "object", "properties": properties, "required": ["a"], "additionalProperties": False}
    tools = [
        Tool(type="function", function=Function(name="add", parameters=parameters, strict=True)),
        Tool(type="function", function=Function(name="now", parameters=None, strict=True)),
    ]
    names = sorted(FunctionCallParser.ToolCallParserEnum.keys() - {"response_template"})  # it is its user's own
    n_compiled = 0
    with served(tokenizer) as backend:
        for name in names:
            for choice in ("auto", "required"):
                constraint = FunctionCallParser(tools, name, tokenizer=tokenizer).get_structure_constraint(choice)
                if constraint is None:
                    continue
                kind, value = constraint
                value = value.model_dump(by_alias=True) if hasattr(value, "model_dump") else value
                source = value if isinstance(value, str) else json.dumps(value)
                found = compiled(backend, kind.replace("json_schema", "json"), source)
                assert not isinstance(found, InvalidGrammarObject), (name, choice, found)
                n_compiled += 1
    assert n_compiled > 60


# --- the manager


def test_the_manager_brings_requests_from_their_key_to_a_grammar(tokenizer: Any) -> None:
    with manager_of(tokenizer) as manager:
        good = [request(kind, source) for kind, (source, _) in KINDS.items()]
        bad = request("json", '{"properties": {"a": {"type": "strong"}}}')
        assert all(manager.process_req_with_grammar(one) for one in (*good, bad))
        ready = []
        while manager.has_waiting_grammars():
            ready += manager.get_ready_grammar_requests()
        assert {one.rid for one in ready} == {one.rid for one in (*good, bad)}
        assert all(isinstance(one.grammar, BaseGrammarObject) and one.error is None for one in good)
        assert bad.error.startswith("Failed to compile json grammar: ")
        assert "#/properties/a/type" in bad.error
        again, bad_again = request("json", KINDS["json"][0]), request("json", bad.rid)
        assert not manager.process_req_with_grammar(again)
        assert not manager.process_req_with_grammar(bad_again)
        assert again.grammar is not good[0].grammar
        assert bad_again.error == bad.error


# --- documentation


def test_the_code_of_the_page_runs(tokenizer: Any, tmp_path: Path, project_root: Path) -> None:
    page = (project_root / "docs" / "integrations" / "sglang.md").read_text("utf-8")
    (code,) = re.findall(r"^```py\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    code, n_named = re.subn(r'^name = ".*"$', f"name = {str(tmp_path)!r}", code, flags=re.MULTILINE)
    assert n_named == 1
    tokenizer.save_pretrained(tmp_path)
    values: dict[str, Any] = {}
    exec(code, values)
    found = bits(values["mask"][0])
    assert tokenizer.encode("2")[0] in found
    assert tokenizer.encode("]")[0] not in found


# --- tokenizers


def test_a_tokenizer_of_a_model_file_is_read(shared_dir: Path) -> None:
    """Qwen 2: 151,936 logits for 151,646 tokens."""
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    tokenizer = transformers.PreTrainedTokenizerFast.from_pretrained(
        shared_dir / "data" / "vocab", gguf_file="qwen2.gguf"
    )
    with served(tokenizer, eos={151_645, 151_643}) as backend:
        assert backend.compiler.tokenizer.eos_ids == [151_643, 151_645]
        grammar = compiled(backend, "json", json.dumps(SCHEMA))
        for token in tokenizer.encode('{"name": "ann", "age": 9}'):
            grammar.accept_token(token)
        assert allowed(grammar, 151_936) >= {151_643, 151_645}


def test_a_tokenizer_that_cannot_be_read_ends_the_start() -> None:
    class Other:
        eos_token_id = 0

    with pytest.raises(ValueError, match="fast tokenizer"), served(Other(), eos={0}, n_logits=9):
        pass
