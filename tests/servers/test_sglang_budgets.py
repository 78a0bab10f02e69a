"""Documents are complete within a request's `max_new_tokens`, by SGLang's own manager and batch."""

from __future__ import annotations

import json
import pickle
import random
from typing import Any

import pytest

import llmask

from .sglang_here import batch_of, hf_tokenizer, manager_of, request

KEYS = {
    "json": (
        '{"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "boolean"}}, "required": ["b"]}'
    ),
    "any json": "$$ANY$$",
    "regex": "[ab]{2,9}c?",
    "ebnf": 'root ::= "a" ("," "a")*',
}


def added(manager: Any, kind: str, text: str, is_thinking: bool = False, **numbers: Any) -> Any:
    """A request that the manager has taken, its grammar compiled."""
    made = request(kind, text, is_thinking, **numbers)
    if manager.process_req_with_grammar(made):
        while manager.has_waiting_grammars():
            manager.get_ready_grammar_requests()
    if made.error is None and is_thinking:
        made.grammar.maybe_init_reasoning(True)
    return made


def take(made: Any, token: int) -> None:
    """A token as the scheduler gives it to a request."""
    made.output_ids.append(token)
    made.grammar.accept_token(token)


def allowed(requests: list[Any], n_logits: int) -> list[list[int]]:
    """The tokens of each request's row in SGLang's batch."""
    batch = batch_of([made.grammar for made in requests], n_logits)
    batch.update_regex_vocab_mask()
    rows = [[] for _ in requests]
    for row, words in enumerate(batch.grammar_mask.vocab_mask.tolist()):
        rows[row] = [32 * place + bit for place, word in enumerate(words) for bit in range(32) if word >> bit & 1]
    return rows


@pytest.mark.parametrize("kind", KEYS)
@pytest.mark.parametrize("choose", ["random", "last"])
def test_documents_are_complete(kind: str, choose: str, rng: random.Random) -> None:
    """Ten requests in a batch: some know their grammar from the ones before."""
    with manager_of() as manager:
        tokenizer = manager.scheduler.tokenizer
        end = tokenizer.eos_token_id
        key = "json" if kind == "any json" else kind
        least = added(manager, key, KEYS[kind]).grammar.matcher.least_budget()
        requests = [added(manager, key, KEYS[kind], most=least + n * n) for n in range(10)]
        open_requests = list(requests)
        while open_requests:
            for made, row in zip(open_requests, allowed(open_requests, len(tokenizer)), strict=True):
                take(made, rng.choice(row) if choose == "random" else max(set(row) - {end}, default=end))
                assert len(made.output_ids) <= made.sampling_params.max_new_tokens
            open_requests = [made for made in open_requests if made.output_ids[-1] != end]
        if key == "json":
            for made in requests:
                json.loads(tokenizer.decode(made.output_ids[:-1]))


def test_numbers_that_leave_no_document_are_refused() -> None:
    with manager_of() as manager:
        made = added(manager, "regex", "a{9}", most=3)
        assert "max_new_tokens is 3, and the shortest document found takes" in made.error
        assert "max_new_tokens" in added(manager, "regex", "a{9}", most=3).error  # of a grammar that is remembered
        assert added(manager, "regex", "a{9}", most=3, budget=False).error is None
        assert added(manager, "regex", "a{9}", most=1).error is None
        assert "min_new_tokens is 20" in added(manager, "regex", "a{9}", least=20).error
        assert added(manager, "regex", "a*", least=20).error is None
        assert "true or false" in added(manager, "regex", "a{9}", budget="often").error


def test_a_request_may_do_without() -> None:
    with manager_of() as manager:
        end = manager.scheduler.tokenizer.eos_token_id
        made = added(manager, "regex", "a*", most=4, budget=False)
        for _ in range(9):
            [row] = allowed([made], 1)
            take(made, min(set(row) - {end}))


def test_a_thought_counts() -> None:
    with manager_of(reasoning_parser="qwen3") as manager:
        tokenizer = manager.scheduler.tokenizer
        end, [end_of_thought] = tokenizer.eos_token_id, tokenizer.encode("</think>", add_special_tokens=False)
        [a] = tokenizer.encode("a", add_special_tokens=False)
        for n_thought, n_left in ((3, 6), (7, 2), (30, 1)):
            made = added(manager, "regex", "[ab]*", True, most=10)
            for token in [*[a] * n_thought, end_of_thought]:
                take(made, token)
            for _ in range(n_left - 1):
                [row] = allowed([made], 1)
                take(made, min(set(row) - {end}))
            assert allowed([made], 1) == [[end]]


def test_each_draft_has_one_less() -> None:
    with manager_of() as manager:
        tokenizer = manager.scheduler.tokenizer
        end, [a] = tokenizer.eos_token_id, tokenizer.encode("a", add_special_tokens=False)
        made = added(manager, "regex", "a*", most=4)
        rows = []
        for _ in range(3):
            rows += allowed([made], 1)
            made.grammar.accept_token(a)
        assert allowed([made], 1) == [[end]]
        made.grammar.rollback(3)
        assert allowed([made], 1)[0] == rows[0]
        assert all({a, end} <= set(row) for row in rows)


def test_a_copy_for_another_request_is_free() -> None:
    with manager_of(hf_tokenizer()) as manager:
        made = added(manager, "regex", "a*", most=2)
        assert made.grammar._room is not None
        assert made.grammar.copy()._room is None


FAMILIES = (
    *("apertus2509", "beam", "cohere_command4", "deepseek-r1", "deepseek-v3", "deepseek-v4", "gemma4", "glm45"),
    *("gpt-oss", "granite_thinking_parser", "hunyuan", "interns1", "k2_horizon", "kimi", "kimi_k2", "kimi_k3", "ling3"),
    *("mimo", "minimax", "minimax-append-think", "minimax-m3", "mistral", "muse", "nemotron_3", "poolside_v1", "qwen3"),
    *("qwen3-thinking", "step3", "step3p5"),
)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_thinks_and_then_writes_a_document(family: str, rng: random.Random) -> None:
    """A thought with a tag and half of its own end in it, then the document, within the request's tokens."""
    with manager_of(reasoning_parser=family) as manager:
        tokenizer = manager.scheduler.tokenizer
        made = added(manager, "json", KEYS["json"], True, most=140)
        thought = tokenizer.encode('is {"b": true} a <tool_call>?', add_special_tokens=False)
        end_of_thought = list(made.grammar.think_end_ids)
        for token in [*thought, *end_of_thought[:-1], *thought, *end_of_thought]:
            assert token in allowed([made], 1)[0]
            take(made, token)
        n_thought = len(made.output_ids)
        assert len(allowed([made], 1)[0]) < len(tokenizer) / 2
        while made.output_ids[-1] != tokenizer.eos_token_id:
            take(made, rng.choice(allowed([made], 1)[0]))
        assert len(made.output_ids) <= 140
        assert isinstance(json.loads(tokenizer.decode(made.output_ids[n_thought:-1]))["b"], bool)


def test_a_text_goes_on_in_the_process_that_decodes(rng: random.Random) -> None:
    """As `process_prebuilt` does it: the first token comes along; a pickled matcher goes on with the same masks."""
    with manager_of() as prefill:
        first = added(prefill, "json", KEYS["json"], most=40)
        take(first, rng.choice(allowed([first], 1)[0]))
        sent = pickle.dumps(first.grammar.matcher)
    with manager_of() as decode:
        second = added(decode, "json", KEYS["json"], most=40)
        second.output_ids = list(first.output_ids)
        assert second.grammar.current_token is None
        second.grammar.accept_token(second.output_ids[-1])
        matcher = pickle.loads(sent)
        while second.output_ids[-1] != decode.scheduler.tokenizer.eos_token_id:
            [row] = allowed([second], 1)
            words = llmask.allocate_bitmask(1, matcher.grammar.tokenizer.vocab_size)
            matcher.fill_bitmask(words, budget=40 - len(second.output_ids))
            assert row == [token for token in range(32 * words.shape[1]) if words[0, token // 32] >> (token % 32) & 1]
            take(second, rng.choice(row))
            matcher.accept_token(second.output_ids[-1])
