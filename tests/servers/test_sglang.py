"""SGLang's own consumers over llmask's backend: plug-ins, the command line, batches, trees of drafts, its manager."""

from __future__ import annotations

import itertools
import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

from llmask import Compiler, Tokenizer
from llmask.integrations.sglang.backend import backend_class
from tests.servers.sglang_here import (
    N_BEYOND,
    BaseGrammarObject,
    GrammarRow,
    InvalidGrammarObject,
    ReasonerGrammarBackend,
    ReasonerGrammarObject,
    batch_of,
    generate_token_bitmask,
    get_resources,
    hf_tokenizer,
    manager_of,
    request,
    served,
    torch,
    traverse_tree,
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
KINDS_IN_NO_FRAME = ("structural_tag", KINDS["structural_tag"][0])


def compiled(backend: Any, kind: str, text: str, is_thinking: bool = False) -> Any:
    """A grammar by way of SGLang's pool of threads and its cache."""
    key = (kind, text)
    value, is_known = backend.get_cached_or_future_value(key, is_thinking)
    if not is_known:
        value = value.result()
        backend.set_cache(key, value.copy())
    return value


def allowed(grammar: Any, n_logits: int) -> set[int]:
    """What one row of a mask allows."""
    mask = grammar.allocate_vocab_mask(n_logits, 2, "cpu")
    grammar.fill_vocab_mask(mask, 1)
    assert (mask[0] == -1).all()
    return bits(mask[1])


def bits(row: Any) -> set[int]:
    return set(np.flatnonzero(np.unpackbits(row.numpy().view(np.uint8), bitorder="little")).tolist())


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


# --- drafts


def chain(*tokens: int) -> tuple[Any, Any, Any]:
    """A tree without a branch, as SGLang writes it; node 0 is the last accepted token."""
    n = len(tokens) + 1
    next_token = torch.tensor([*range(1, n), -1])
    return next_token, torch.full((n,), -1), torch.tensor([0, *tokens])


def test_a_tree_of_drafts_is_walked_and_leaves_no_trace(tokenizer: Any) -> None:
    n_logits = len(tokenizer) + N_BEYOND
    a, b, c = (tokenizer.encode(letter)[0] for letter in "abc")
    #         0 -> a -> b (sibling c) ; a's sibling is c, which is refused, with b after it
    next_token = torch.tensor([1, 2, -1, -1, 5, -1])
    next_sibling = torch.tensor([-1, 4, 3, -1, -1, -1])
    drafts = torch.tensor([0, a, b, c, c, b])
    with served(tokenizer) as backend:
        grammar = compiled(backend, "regex", "a[bc]d|bd")
        mask = grammar.allocate_vocab_mask(n_logits, 6, "cpu")
        traverse_tree(next_token, next_sibling, drafts, grammar, mask, vocab_size=n_logits)
        assert bits(mask[0]) == allowed(grammar, n_logits)
        for node, path in ((1, [a]), (2, [a, b]), (3, [a, c])):
            walked = grammar.copy()
            for token in path:
                walked.accept_token(token)
            assert bits(mask[node]) == allowed(walked, n_logits)
        assert (mask[4:] == -1).all()


def test_drafts_go_beyond_the_end_of_sequence(tokenizer: Any) -> None:
    n_logits = len(tokenizer) + N_BEYOND
    end = tokenizer.eos_token_id
    a = tokenizer.encode("a")[0]
    with served(tokenizer) as backend:
        grammar = compiled(backend, "regex", "a")
        requests = [request("regex", None), request("regex", "a")]
        requests[1].grammar = grammar
        trees = [chain(a, end, a), chain(a, end, a)]
        masks, of = generate_token_bitmask(
            requests, *(torch.stack([tree[part] for tree in trees]) for part in range(3)), vocab_size=n_logits
        )
        assert of is grammar
        assert (masks[:4] == -1).all()
        assert a in bits(masks[4])
        assert bits(masks[5]) == {end}
        assert (masks[6:] == -1).all()  # the text has ended there
        assert not grammar.is_terminated()
        assert a in allowed(grammar, n_logits)


def random_tree(rng: random.Random, n_nodes: int) -> tuple[list[int], Any, Any]:
    """The parent of each node, and the links of the tree as SGLang writes them."""
    parents = [-1, *(rng.randrange(node) for node in range(1, n_nodes))]
    next_token, next_sibling = torch.full((n_nodes,), -1), torch.full((n_nodes,), -1)
    for parent in range(n_nodes):
        children = [node for node in range(n_nodes) if parents[node] == parent]
        next_token[parent] = children[0] if children else -1
        for one, other in itertools.pairwise(children):
            next_sibling[one] = other
    return parents, next_token, next_sibling


def mask_after(grammar: Any, tokens: list[int], n_logits: int) -> set[int] | None:
    """What may follow some tokens; None where one is refused, or comes after the end, or the text has ended."""
    for token in tokens:
        if grammar.is_terminated() or token not in allowed(grammar, n_logits):
            return None
        grammar.accept_token(token)
    return None if grammar.is_terminated() else allowed(grammar, n_logits)


@pytest.mark.parametrize("is_thinking", [False, True])
def test_random_trees_of_drafts_have_the_masks_of_their_paths(
    tokenizer: Any, rng: random.Random, is_thinking: bool
) -> None:
    """Rows of other nodes keep their ones. In some trees the thinking ends, in some the text."""
    n_nodes, n_logits = 12, len(tokenizer) + N_BEYOND
    think_end = tokenizer.encode("</think>", add_special_tokens=False)
    likely = [*think_end, tokenizer.eos_token_id, *tokenizer.encode('["a",12]')] * 2
    key = ("json", '{"items": {"enum": ["a", 12]}, "type": "array"}')
    with served(tokenizer, think_end_ids=think_end, reasoning_parser="qwen3") as backend:
        n_free = n_bound = 0
        for _ in range(60):
            before = [*(think_end if is_thinking else []), *tokenizer.encode("[")][: rng.randrange(3)]
            grammar = compiled(backend, *key, is_thinking)
            for token in before:
                grammar.accept_token(token)
            parents, next_token, next_sibling = random_tree(rng, n_nodes)
            tokens = [0, *(rng.choice([*likely, rng.randrange(n_logits)]) for _ in range(n_nodes - 1))]
            mask = grammar.allocate_vocab_mask(n_logits, n_nodes, "cpu")
            traverse_tree(next_token, next_sibling, torch.tensor(tokens), grammar, mask, vocab_size=n_logits)
            paths: list[list[int]] = [[]]
            for node in range(1, n_nodes):
                paths.append([*paths[parents[node]], tokens[node]])
            for node, path in enumerate(paths):
                expected = mask_after(compiled(backend, *key, is_thinking), [*before, *path], n_logits)
                assert bits(mask[node]) == (bits(torch.full_like(mask[0], -1)) if expected is None else expected)
                n_bound += expected is not None
                n_free += expected is None
        assert min(n_free, n_bound) > 50


# --- thinking


def test_a_request_that_thinks_is_free_until_its_thinking_ends(tokenizer: Any) -> None:
    n_logits = len(tokenizer) + N_BEYOND
    (end,) = tokenizer.encode("</think>", add_special_tokens=False)
    a = tokenizer.encode("a")[0]
    x = tokenizer.encode("x")[0]
    with served(tokenizer, think_end_ids=[end], reasoning_parser="qwen3") as backend:
        assert isinstance(backend, ReasonerGrammarBackend)
        for n in range(2):  # compiled, and from the cache
            grammar = compiled(backend, "regex", "a+", True)
            assert isinstance(grammar, ReasonerGrammarObject)
            info = batch_of([grammar], n_logits)
            info.update_regex_vocab_mask()
            assert (info.grammar_mask.vocab_mask == -1).all()
            for token in (x, x, end):
                grammar.accept_token(token)
            expected = allowed(grammar, n_logits)
            assert a in expected
            assert x not in expected
            grammar.rollback(2)
            assert x in allowed(grammar, n_logits)
            mask = grammar.allocate_vocab_mask(n_logits, 5, "cpu")
            traverse_tree(*chain(x, end, a, x), grammar, mask, vocab_size=n_logits)
            assert (mask[:2] == -1).all()
            assert bits(mask[2]) == expected
            assert bits(mask[3]) == expected | {tokenizer.eos_token_id}
            assert (mask[4] == -1).all(), n
        plain = compiled(backend, "regex", "a+", False)
        assert allowed(plain, n_logits) == expected
        assert not isinstance(compiled(backend, "full_assistant_ebnf", 'root ::= "a"', True), ReasonerGrammarObject)
        assert isinstance(compiled(backend, "regex", "(a", True), InvalidGrammarObject)


def test_thinking_has_a_budget(tokenizer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """SGLang enforces one with --enable-strict-thinking; a request may have its own."""
    monkeypatch.setenv("SGLANG_MAX_THINK_TOKENS", "3")
    (end,) = tokenizer.encode("</think>", add_special_tokens=False)
    x = tokenizer.encode("x")[0]
    n_logits = len(tokenizer) + N_BEYOND
    with manager_of(tokenizer, reasoning_parser="qwen3", enable_strict_thinking=True) as manager:
        for budget, n_free in ((None, 3), (1, 1)):
            custom = {} if budget is None else {"thinking_budget": budget}
            for kind, text in (("regex", "a+"), ("regex", None)):
                asked = request(kind, text, True, **custom)
                if manager.process_req_with_grammar(asked):
                    assert manager.get_ready_grammar_requests() == [asked]
                for _ in range(n_free):
                    info = batch_of([asked.grammar], n_logits)
                    info.update_regex_vocab_mask()
                    found = bits(info.grammar_mask.vocab_mask[0])
                    assert {x, end} <= found
                    assert tokenizer.convert_tokens_to_ids("<tool_call>") not in found
                    asked.grammar.accept_token(x)
                assert allowed(asked.grammar, n_logits) == {end}


def test_tokens_are_filtered_as_sglang_does_it(tokenizer: Any, rng: random.Random) -> None:
    from sglang.srt.constrained.torch_ops.token_filter_torch_ops import set_token_filter_torch

    with served(tokenizer) as backend:
        assert backend.is_support_token_filter
        for n in range(40):
            ours = torch.randint(-(2**31), 2**31, (3, 10), dtype=torch.int32)
            theirs = ours.clone()
            tokens = [rng.randrange(320) for _ in range(n % 5)]
            flags = {"is_allowed": bool(n & 1), "reset_vocab_mask": bool(n & 2)}
            backend.set_token_filter(ours, tokens, 1, **flags)
            set_token_filter_torch(theirs, tokens, 1, **flags)
            assert torch.equal(ours, theirs)


# --- answers in a frame


@pytest.fixture(scope="module")
def framing() -> Any:
    """A backend for a model with Inkling's tokens, numbers above 200,000, which its tokenizer has as text."""
    from sglang.srt.parser.inkling_tokenizer import INKLING_SPECIAL_TOKEN_IDS

    tokens = [bytes([byte]) for byte in range(256)] + [b""] * 199_844
    for name, token in INKLING_SPECIAL_TOKEN_IDS.items():
        tokens[token] = name.encode()
    return backend_class()(Compiler(Tokenizer.from_bytes(tokens, eos=256)), {"whitespace": "flexible"})


@pytest.mark.parametrize(
    ("kind", "source", "text"),
    [
        ("json", '{"const": {"a": "b"}}', b'{"a": "b"}'),
        ("json", "$$ANY$$", b"[1]"),
        ("regex", "[ab]{2}", b"ab"),
        ("ebnf", 'root ::= "a" root | "b"', b"ab"),
    ],
)
def test_an_answer_stands_in_a_frame_of_its_model(framing: Any, kind: str, source: str, text: bytes) -> None:
    from sglang.srt.parser.answer_frame import InklingAnswerFrame
    from sglang.srt.parser.inkling_tokenizer import INKLING_SPECIAL_TOKEN_IDS as IDS

    frame = InklingAnswerFrame()
    framing.reserve_framing_tokens(frame.framing_token_ids())
    model, content, thinking, end = (
        IDS[f"<|{name}|>"] for name in ("message_model", "content_text", "content_thinking", "end_message")
    )
    n_logits = 200_100
    for is_open, n_thoughts in ((True, -1), (False, -1), (False, 2)):
        framed = framing.compile_framed_grammar(
            compiled(framing, kind, source),
            lambda content, is_open=is_open, most=n_thoughts: frame.structural_tag(
                content, in_answer_block=is_open, max_think_tokens=most
            ),
        )
        grammar = framed.copy()
        thoughts = [ord("x")] * abs(2 * n_thoughts if n_thoughts < 0 else n_thoughts)
        before = [] if is_open else [model, thinking, *thoughts, end, model, content]
        for token in [*before, *text, end]:
            assert token in allowed(grammar, n_logits)
            grammar.accept_token(token)
        assert allowed(grammar, n_logits) == {256}
        if n_thoughts == 2:
            grammar.rollback(len(text) + 4)
            assert allowed(grammar, n_logits) == {end}


def test_a_text_in_a_frame_does_not_spell_its_tokens(framing: Any) -> None:
    from sglang.srt.parser.answer_frame import InklingAnswerFrame
    from sglang.srt.parser.inkling_tokenizer import INKLING_SPECIAL_TOKEN_IDS as IDS

    frame = InklingAnswerFrame()
    framing.reserve_framing_tokens(frame.framing_token_ids())
    grammar = compiled(framing, "json", '{"type": "string"}')
    framed = framing.compile_framed_grammar(
        grammar, lambda content: frame.structural_tag(content, in_answer_block=True, max_think_tokens=-1)
    )
    for one in (grammar, framed):
        one.accept_token(ord('"'))
    end = IDS["<|end_message|>"]
    assert end in allowed(grammar, 200_100)  # as text
    assert end not in allowed(framed, 200_100)
    assert ord("x") in allowed(framed, 200_100)


def test_tokens_of_a_frame_are_no_text(tokenizer: Any) -> None:
    """Also where the tokenizer has them as text: a token that spells "a" alone is kept for the frame."""
    a, x = (tokenizer.encode(letter)[0] for letter in "ax")

    def frame(content: dict[str, Any]) -> dict[str, Any]:
        parts = [{"type": "token", "token": a}, content, {"type": "token", "token": a}]
        return {"type": "structural_tag", "format": {"type": "sequence", "elements": parts}}

    with served(tokenizer) as backend:
        grammar = compiled(backend, "regex", "[ax]")
        backend.reserve_framing_tokens([a])
        framed = backend.compile_framed_grammar(grammar, frame)
        assert allowed(framed, len(tokenizer)) == {a}
        framed.accept_token(a)
        assert allowed(framed, len(tokenizer)) == {x}
        assert allowed(grammar, len(tokenizer)) == {a, x}
        refused = backend.compile_framed_grammar(grammar, lambda content: {"format": {"type": "token", "token": -1}})
        assert isinstance(refused, InvalidGrammarObject)
        assert "#/format/token" in refused.error_message


def test_what_has_no_form_in_a_frame_is_left_to_sglang(tokenizer: Any) -> None:
    with served(tokenizer) as backend:
        for kind, source in (("ebnf", 'start: "a"'), ("ebnf", "root ::= ."), KINDS_IN_NO_FRAME):
            assert backend.compile_framed_grammar(compiled(backend, kind, source), dict) is None


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
