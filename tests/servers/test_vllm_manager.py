"""vLLM's own `StructuredOutputManager` drives llmask's backend: all kinds of requests, drafts, reasoning, threads."""

from __future__ import annotations

import json
import pickle
import warnings
from pathlib import Path
from typing import Any

import pytest

from .vllm_world import N_LOGITS, World, structural_tag

PERSON = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "boolean"}},
    "required": ["a", "b"],
    "additionalProperties": False,
}
KINDS = {
    "json": ({"json": PERSON}, '{"a":12,"b":true}', '{"b'),
    "json as text": ({"json": json.dumps(PERSON)}, '{ "a": 1, "b": false }', "["),
    "json object": ({"json_object": True}, '{"abc":[12,null]}', "[1]"),
    "regex": ({"regex": "[ab]{2,3}c?"}, "abac", "abc1"),
    "choice": ({"choice": ["abc", "true story"]}, "true story", "false"),
    "lark": ({"grammar": 'start: "a" ("," "a")*'}, "a,a,a", "a,,"),
    "ebnf": ({"grammar": 'root ::= "a" ("," "a")*'}, "a,a,a", "a,,"),
    "gbnf": ({"grammar": 'root ::= "a" . | | "b"'}, "a;", "c"),
    "structural tag": ({"structural_tag": structural_tag()}, "<f>12</f> text", "<f>true"),
}


@pytest.fixture
def world(monkeypatch: Any) -> World:
    return World(monkeypatch)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_request_is_served(world: World, kind: str) -> None:
    outputs, text, wrong = KINDS[kind]
    world.add("right", **outputs)
    assert world.write("right", text)
    end = world.tokenizer.eos_token_id
    assert end in world.masks(["right"])[0]
    assert world.accept("right", [end])
    assert world.requests["right"].structured_output_request.grammar.is_terminated()
    world.add("wrong", **outputs)
    assert not world.write("wrong", wrong)


def test_a_mixed_batch_has_a_row_for_each_request_with_a_grammar(world: World) -> None:
    world.add("choice", choice=["12", "abc"])
    world.add("free")
    world.add("regex", regex="[ab]+")
    world.add("object", json_object=True)
    choice, regex, found = world.masks()
    assert world.texts(choice) == {"1", "12", "a", "ab", "abc"}
    assert world.texts(regex) == {"a", "b", "ab"}
    assert {"{", '{"'} <= world.texts(found)
    assert world.accept("free", world.ids("anything"))


def test_logits_beyond_the_tokens_are_refused(world: World) -> None:
    world.add("free text", regex="(?s:.*)")
    mask = world.masks()[0]
    assert max(mask) < len(world.tokenizer) < N_LOGITS
    assert world.tokenizer.eos_token_id in mask


def test_stop_tokens_of_a_request_end_it_and_only_where_it_may_end(world: World) -> None:
    stop = world.ids("<|stop|>")[0]
    world.add("one", regex="(ab)+", stop_token_ids=[stop])
    world.add("other", regex="(ab)+")
    assert stop not in world.masks(["one"])[0]
    assert world.write("one", "ab")
    assert world.write("other", "ab")
    one, other = world.masks(["one", "other"])
    assert {stop, world.tokenizer.eos_token_id} <= one
    assert stop not in other
    assert world.accept("one", [stop])
    assert world.requests["one"].structured_output_request.grammar.is_terminated()


def test_what_comes_after_the_end_is_ignored(world: World) -> None:
    world.add("one", choice=["ab"])
    assert world.accept("one", [*world.ids("ab<|end|>"), 5])
    assert world.accept("one", [7])
    assert world.masks(["one"])[0] >= set(range(len(world.tokenizer)))  # vLLM's own row of ones
    grammar = world.requests["one"].structured_output_request.grammar
    grammar.rollback(3)
    assert not grammar.is_terminated()
    assert world.masks(["one"])[0] == {world.tokenizer.eos_token_id}


def test_a_refused_token_ends_the_request_and_keeps_the_state(world: World) -> None:
    world.add("one", choice=["ab"])
    assert not world.accept("one", world.ids("a") + world.ids("c"))
    assert world.texts(world.masks(["one"])[0]) == {"a", "ab"}


class TestDrafts:
    """Three speculative rows beside the one of the next token."""

    @pytest.fixture
    def world(self, monkeypatch: Any) -> World:
        return World(monkeypatch, n_drafts=3)

    def test_each_draft_has_the_row_after_it(self, world: World) -> None:
        world.add("one", regex="a1b2")
        world.add("two", choice=["true"])
        rows = world.masks(drafts={"one": world.ids("a1b"), "two": []})
        assert [world.texts(row) for row in rows[:5]] == [{"a"}, {"1"}, {"b"}, {"2"}, {"t", "tr", "true"}]
        assert len(rows) >= 5  # 8 since 0.33: as many for each request
        assert world.texts(world.masks(["one"])[0]) == {"a"}  # the state is as before

    def test_a_refused_draft_leaves_the_last_row_to_the_others(self, world: World) -> None:
        world.add("one", regex="a1b2")
        rows = world.masks(drafts={"one": [*world.ids("a"), *world.ids("a"), *world.ids("b")]})
        assert [world.texts(row) for row in rows[:4]] == [{"a"}, {"1"}, {"1"}, {"1"}]

    def test_drafts_may_reach_across_the_end(self, world: World) -> None:
        world.add("one", choice=["ab"])
        end = world.tokenizer.eos_token_id
        rows = world.masks(drafts={"one": [*world.ids("ab"), end, 5]})
        assert world.texts(rows[0]) == {"a", "ab"}
        assert rows[1] == {end}
        assert world.texts(world.masks(["one"])[0]) == {"a", "ab"}
        assert world.manager.validate_tokens(world.requests["one"], [*world.ids("ab"), end, 5]) == [
            *world.ids("ab"), end,
        ]  # fmt: skip

    def test_padding_is_no_token(self, world: World) -> None:
        world.add("one", regex="a1b2")
        rows = world.masks(drafts={"one": [*world.ids("a"), -1, -1]})
        assert [world.texts(row) for row in rows[:2]] == [{"a"}, {"1"}]
        request = world.requests["one"]
        assert world.manager.validate_tokens(request, [*world.ids("a1"), -1, -1]) == world.ids("a1")
        assert request.structured_output_request.grammar.accept_tokens("one", [*world.ids("a"), -1])
        assert world.texts(world.masks(["one"])[0]) == {"1"}


class TestReasoning:
    """vLLM's manager leaves what is thought alone, with a reasoning parser of its own."""

    @pytest.mark.parametrize("n_drafts", [0, 3])
    def test_the_grammar_begins_after_the_thought(self, monkeypatch: Any, n_drafts: int) -> None:
        world = World(monkeypatch, n_drafts=n_drafts, reasoning_parser="deepseek_r1")
        world.add("one", prompt="p<think>", choice=["ab"])
        everything = set(range(len(world.tokenizer)))
        assert everything - world.masks(["one"])[0] <= set(world.ids("</think>"))
        assert world.accept("one", world.ids("12 true"))
        assert world.accept("one", world.ids("</think>"))
        assert world.texts(world.masks(["one"])[0]) == {"a", "ab"}
        assert not world.accept("one", world.ids("b"))

    def test_a_draft_may_end_the_thought(self, monkeypatch: Any) -> None:
        world = World(monkeypatch, n_drafts=3, reasoning_parser="deepseek_r1")
        world.add("one", prompt="p<think>", choice=["ab"])
        assert world.accept("one", world.ids("12"))
        rows = world.masks(drafts={"one": world.ids("1</think>a")})
        assert [world.texts(row) for row in rows[2:4]] == [{"a", "ab"}, {"b"}]

    def test_without_a_thought_it_begins_at_once(self, monkeypatch: Any) -> None:
        world = World(monkeypatch, reasoning_parser="deepseek_r1")
        world.add("one", prompt="p<think></think>", choice=["ab"])
        assert world.texts(world.masks(["one"])[0]) == {"a", "ab"}

    def test_it_may_hold_in_the_thought(self, monkeypatch: Any) -> None:
        world = World(monkeypatch, reasoning_parser="deepseek_r1", enable_in_reasoning=True)
        world.add("one", prompt="p<think>", choice=["ab"])
        assert world.texts(world.masks(["one"])[0]) == {"a", "ab"}


def at_most(world: World, name: str, choose: Any) -> str:
    """The text of a request that takes what `choose` takes of each mask, until vLLM would end it."""
    request, end = world.requests[name], world.tokenizer.eos_token_id
    while request.num_output_tokens < request.max_tokens:
        token = choose(world.masks([name])[0])
        assert world.accept(name, [token])
        if token == end:
            return world.tokenizer.decode(request.output_token_ids[:-1])
    raise AssertionError(f"not complete: {world.tokenizer.decode(request.output_token_ids)!r}")


class TestBudgets:
    """A document is complete within the request's `max_tokens`."""

    @pytest.mark.parametrize("kind", ["json", "json object", "regex", "lark"])
    def test_documents_are_complete(self, world: World, kind: str) -> None:
        import random

        outputs, _, _ = KINDS[kind]
        least = {"json": 14, "json object": 3, "regex": 3, "lark": 2}[kind]
        for most in (least, least + 1, least + 3, 20, 50):
            for seed in range(5):
                rng = random.Random(seed)
                world.add("one", max_tokens=most, **outputs)
                text = at_most(world, "one", lambda mask, rng=rng: rng.choice(sorted(mask)))
                if kind.startswith("json"):
                    assert isinstance(json.loads(text), dict)

    def test_a_request_may_do_without(self, world: World) -> None:
        world.add("one", max_tokens=3, extra_args={"budget": False}, **KINDS["json"][0])
        world.add("other", max_tokens=30, extra_args={"budget": True}, **KINDS["json"][0])
        with pytest.raises(AssertionError, match="not complete"):
            at_most(world, "one", lambda mask: min(mask - {world.tokenizer.eos_token_id}))

    def test_the_context_is_a_bound_too(self, world: World) -> None:
        world.config.model_config.max_model_len = 20
        world.add("one", prompt="ppp", max_tokens=4000, json_object=True)
        blank = world.ids(" ")[0]
        text = at_most(world, "one", lambda mask: blank if blank in mask else min(mask))
        assert json.loads(text) == {}
        assert world.requests["one"].num_tokens <= 20

    def test_a_thought_counts(self, monkeypatch: Any) -> None:
        world = World(monkeypatch, reasoning_parser="deepseek_r1")
        [end_of_thought] = world.ids("</think>")
        for n_thought, n_more in ((3, 0), (8, 0), (20, 10)):  # then too little is left: the shortest end all the same
            world.add("one", prompt="p<think>", max_tokens=24, **KINDS["json"][0])
            assert world.accept("one", [*world.ids("1") * n_thought, end_of_thought])
            world.requests["one"].max_tokens += n_more
            assert json.loads(at_most(world, "one", min).rpartition("</think>")[2])

    def test_each_draft_has_one_less(self, monkeypatch: Any) -> None:
        world = World(monkeypatch, n_drafts=3)
        world.add("one", regex="a*", max_tokens=4)
        [a], end = world.ids("a"), world.tokenizer.eos_token_id
        rows = world.masks(drafts={"one": [a, a, a]})
        assert rows[:4] == [{a, end}, {a, end}, {a, end}, {end}]
        assert world.accept("one", [a, a])
        assert world.masks(["one"])[0] == {a, end}
        assert world.accept("one", [a])
        assert world.masks(["one"])[0] == {end}

    def test_a_thought_that_ends_among_drafts_counts(self, monkeypatch: Any) -> None:
        world = World(monkeypatch, n_drafts=3, reasoning_parser="deepseek_r1")
        world.add("one", prompt="p<think>", regex="a*", max_tokens=6)
        [a], end = world.ids("a"), world.tokenizer.eos_token_id
        drafts = [*world.ids("1</think>"), a]
        rows = world.masks(drafts={"one": drafts})
        assert rows[2] == {a, end}
        assert world.accept("one", drafts)
        assert at_most(world, "one", lambda mask: min(mask - {end}, default=end)).endswith("</think>aaa")


def test_a_text_goes_on_in_the_engine_that_decodes(world: World, monkeypatch: Any) -> None:
    """The engine that reads the prompt is asked for one token; the other one begins anew, and has the budget."""
    transfer = {"kv_transfer_params": {"do_remote_decode": True}}
    world.add("reads", max_tokens=1, extra_args=transfer, **KINDS["json"][0])
    before = world.masks(["reads"])[0]
    other = World(monkeypatch)
    other.add(
        "writes", max_tokens=30, extra_args={"kv_transfer_params": {"do_remote_prefill": True}}, **KINDS["json"][0]
    )
    assert other.masks(["writes"])[0] == before
    sent = pickle.dumps(other.requests["writes"].structured_output_request.grammar.matcher)
    assert json.loads(at_most(other, "writes", max))
    twin = World(monkeypatch)
    twin.add("writes", max_tokens=30, **KINDS["json"][0])
    twin.requests["writes"].structured_output_request.grammar.matcher = pickle.loads(sent)
    assert twin.masks(["writes"])[0] == before


def test_known_rows_are_written_in_one_call(monkeypatch: Any) -> None:
    """And are the same as vLLM's own, whatever else is among them."""
    from llmask.matching.batch import Batch

    world = World(monkeypatch, max_num_seqs=16)
    for number in range(6):
        world.add(f"choice {number}", choice=["abc", "abd", "12"])
        world.add(f"object {number}", json_object=True, max_tokens=4 + number)
    world.masks()  # the first: vLLM makes its bitmask
    for number in range(6):
        world.add(f"choice {number}", choice=["abc", "abd", "12"])  # of a grammar that is known
    assert world.write("choice 1", "ab")
    assert world.write("choice 2", "12")
    assert world.accept("choice 2", [world.tokenizer.eos_token_id])
    calls: list[int] = []
    whole = Batch.fill
    monkeypatch.setattr(Batch, "fill", lambda b, words, r: calls.append(len(b._matchers)) or whole(b, words, r))
    together = world.masks()
    alone = [world.masks([name], drafts=None)[0] for name in world.requests]
    assert together == alone
    assert calls[0] >= 5
    theirs = type(world.manager).grammar_bitmask.__wrapped__
    monkeypatch.setattr(type(world.manager), "grammar_bitmask", theirs)
    assert world.masks() == together


def test_thinking_rows_stand_among_known_ones(monkeypatch: Any) -> None:
    world = World(monkeypatch, reasoning_parser="deepseek_r1")
    world.add("thinks", prompt="p<think>", choice=["ab"])
    world.add("writes", prompt="p<think></think>", choice=["ab"])
    world.add("wrote", prompt="p<think>", choice=["ab"])
    world.masks()
    assert world.accept("wrote", world.ids("1</think>a"))
    thinks, writes, wrote = world.masks()
    assert set(world.ids("12")) <= thinks
    assert world.texts(writes) == {"a", "ab"}
    assert world.texts(wrote) == {"b"}


def test_above_128_requests_threads_fill_the_rows(monkeypatch: Any) -> None:
    world = World(monkeypatch, max_num_seqs=300)
    for number in range(150):
        world.add(f"choice {number}", choice=[f"{number:03}", "abc"])
        if number % 3 == 0:
            assert world.write(f"choice {number}", f"{number:03}"[0])
    kinds = list(KINDS)
    for number in range(60):
        world.add(f"kind {number}", **KINDS[kinds[number % len(kinds)]][0])
    rows = world.masks()
    assert len(rows) == 210
    for number in range(150):
        expected = f"{number:03}"[1] if number % 3 == 0 else f"{number:03}"[0]
        assert expected in world.texts(rows[number])
    alone = [world.masks([name])[0] for name in world.requests]
    assert rows == alone


def test_an_error_within_a_step_ends_its_request_and_not_the_engine(world: World, monkeypatch: Any) -> None:
    from llmask.errors import LimitExceeded
    from llmask.matching.batch import Batch
    from llmask.matching.matcher import Matcher

    world.add("one", regex="(ab)+")
    world.add("other", choice=["abc"])
    assert world.write("one", "a")
    right = Matcher.fill_bitmask

    def fails(self: Matcher, bitmask: Any, row: int = 0, budget: int | None = None) -> bool:
        if self.text() == b"a":
            raise LimitExceeded("too much work")
        return right(self, bitmask, row, budget)

    monkeypatch.setattr(Matcher, "fill_bitmask", fails)
    monkeypatch.setattr("llmask.integrations.vllm.backend.FEW_ROWS", 0)
    monkeypatch.setattr(Batch, "fill", lambda batch, *_: batch._matchers[0].fill_bitmask(None))
    one, other = world.masks()
    end = world.tokenizer.eos_token_id
    assert one == {end}
    assert world.texts(other) == {"a", "ab", "abc"}
    assert not world.accept("one", [end])  # the scheduler ends it with an error


def test_the_grammar_of_a_request_is_compiled_once_in_a_process(world: World) -> None:
    from llmask.integrations.vllm.requests import compiler_for

    compiler = compiler_for(world.tokenizer, world.config.model_config)
    before = compiler.statistics()
    world.add("one", json={"type": "object", "properties": {"only here": {"type": "integer"}}})
    after = compiler.statistics()
    assert after["compiled"] == before["compiled"] + 1
    assert after["cache_hits"] > before["cache_hits"]


def test_a_bad_request_that_nobody_judged_is_an_error_of_this_request(world: World) -> None:
    """Other front ends than Python's send requests straight to the engine."""
    from vllm.sampling_params import SamplingParams, StructuredOutputsParams
    from vllm.v1.request import Request

    parameters = SamplingParams(structured_outputs=StructuredOutputsParams(regex="a("))
    parameters.structured_outputs._backend = "llmask"
    request = Request("bad", [1], parameters, None)
    world.manager.grammar_init(request)
    with pytest.raises(ValueError, match="pattern"):
        request.structured_output_request._grammar.result()


def test_tokens_beyond_the_models_logits_are_in_no_mask(monkeypatch: Any) -> None:
    world = World(monkeypatch)
    world.config.model_config.get_vocab_size = lambda: 256
    end = world.ids("a")[0]
    world.tokenizer.eos_token_id = end
    world.add("one", regex="[b-z]+")
    assert max(world.masks()[0]) < 256


@pytest.mark.parametrize("name", ["gpt-2", "qwen2"])
def test_real_vocabularies(monkeypatch: Any, shared_dir: Path, name: str) -> None:
    """Tokenizers as vLLM makes them, with logits that are padded as those of models are."""
    from transformers import PreTrainedTokenizerFast

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        vocabularies = str(shared_dir / "data" / "vocab")
        tokenizer = PreTrainedTokenizerFast.from_pretrained(vocabularies, gguf_file=f"{name}.gguf")
    world = World(monkeypatch, tokenizer=tokenizer)
    n_logits = -(-len(tokenizer) // 256) * 256
    world.config.model_config.get_vocab_size = lambda: n_logits
    texts = {
        "json": ({"json": PERSON}, '{"a": 12, "b": true}'),
        "regex": ({"regex": r"[\w ]+, (\d{4})"}, "naïve 日本, 2026"),
        "choice": ({"choice": ["yes, of course", "no"]}, "yes, of course"),
        "lark": ({"grammar": KINDS["lark"][0]["grammar"]}, "a,a,a"),
        "tag": ({"structural_tag": structural_tag()}, "<f>12</f> and more"),
    }
    for kind, (outputs, text) in texts.items():
        world.add(kind, **outputs)
        assert world.write(kind, text), kind
    masks = world.masks()
    assert all(tokenizer.eos_token_id in mask and max(mask) < len(tokenizer) for mask in masks)
