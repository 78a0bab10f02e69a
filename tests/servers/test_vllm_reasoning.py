"""Models that think in vLLM, family by family: a thought and then a document, both within the request's tokens.

With the server's switch the grammar begins where vLLM's own parser sees the thought end; or the whole reply is one
grammar, in which there is no boundary to miss.
"""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from . import vllm_world
from .vllm_world import World

THINK = ("<think>", "</think>")
FAMILIES = {  # what begins and ends a thought
    **dict.fromkeys(
        (
            *("deepseek_r1", "deepseek_v4", "ernie45", "glm45", "glm47", "holo2", "hy_v3", "kimi_k2", "mimo"),
            *("minicpmv", "minimax_m2", "nemotron_v3", "qwen3", "step3", "step3p5"),
        ),
        THINK,
    ),
    "cohere_command3": ("<|START_THINKING|>", "<|END_THINKING|>"),
    "gemma4": ("<|channel>", "<channel|>"),
    "minimax_m3": ("<mm:think>", "</mm:think>"),
    "openai_gptoss": ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
    "seed_oss": ("<seed:think>", "</seed:think>"),
}
FROM_THE_START = {"openai_gptoss"}  # where the server has the grammar hold for the whole reply
SETTINGS = {"hy_v3": {"chat_template_kwargs": {"reasoning_effort": "high"}}}  # else it does not think
MARKS = [
    *("<|eos|>", "<think>", "</think>", "<tool>", "<seed:think>", "</seed:think>", "<response>", "</response>"),
    *("<|START_THINKING|>", "<|END_THINKING|>", "<|START_RESPONSE|>", "<|END_RESPONSE|>", "<|START_TEXT|>"),
    *("<|END_TEXT|>", "<|START_ACTION|>", "<|END_ACTION|>", "<|channel>", "<channel|>", "<|turn>", "<turn|>"),
    *("<mm:think>", "</mm:think>", "<tool_call>", "</tool_call>", "<|tool_calls_section_begin|>"),
    *("<|tool_calls_section_end|>", "<|channel|>", "<|message|>", "<|start|>", "<|end|>", "<|return|>", "<|call|>"),
]
SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "string"}, "b": {"type": "boolean"}},
    "required": ["b"],
    "additionalProperties": False,
}
THOUGHTS = ("12 true", 'is {"b": true} meant? </thin', "a <tool> first\n\n")


@pytest.fixture(autouse=True)
def marks(monkeypatch: Any) -> None:
    monkeypatch.setattr(vllm_world, "SPECIAL", MARKS)


def make_world(monkeypatch: Any, family: str, **outputs: Any) -> World:
    tokenizer = vllm_world.make_tokenizer()
    tokenizer.eos_token = "<|eos|>"
    monkeypatch.setattr(vllm_world, "N_LOGITS", 400)
    return World(monkeypatch, tokenizer=tokenizer, reasoning_parser=family, **outputs)


def reply(world: World, name: str, rng: random.Random) -> str:
    """What a request writes that takes any token of its masks, until vLLM would end it; its end taken off."""
    request, end = world.requests[name], world.tokenizer.eos_token_id
    while request.num_output_tokens < request.max_tokens:
        token = rng.choice(sorted(world.masks([name])[0]))
        assert world.accept(name, [token])
        if token == end:
            return world.tokenizer.decode(request.output_token_ids[:-1])
    raise AssertionError(f"not complete: {world.tokenizer.decode(request.output_token_ids)!r}")


def judge(text: str) -> None:
    document = json.loads(text)
    assert isinstance(document["b"], bool)
    assert set(document) <= {"a", "b"}


@pytest.mark.parametrize("family", [family for family in FAMILIES if family not in FROM_THE_START])
@pytest.mark.parametrize("thought", THOUGHTS)
def test_the_grammar_begins_where_the_server_sees_the_thought_end(
    monkeypatch: Any, rng: random.Random, family: str, thought: str
) -> None:
    world = make_world(monkeypatch, family)
    begin, end = FAMILIES[family]
    thought_ids = world.ids(thought)
    for most in (60, 90):
        world.add("one", prompt=f"p{begin}", json=SCHEMA, max_tokens=most)
        world.requests["one"].structured_output_request.reasoning_parser_kwargs = SETTINGS.get(family)
        for token in thought_ids:
            assert token in world.masks(["one"])[0]
            assert world.accept("one", [token])
        for token in world.ids(end):
            assert world.accept("one", [token])
        assert world.texts(world.masks(["one"])[0]) <= {"{", '{"', "Ġ", "Ċ", "ĉ", "č"}
        text = reply(world, "one", rng)
        judge(text[text.index(end) + len(end) :])
        assert world.requests["one"].num_output_tokens <= most


@pytest.mark.parametrize("family", FAMILIES)
def test_the_whole_reply_is_one_grammar(monkeypatch: Any, rng: random.Random, family: str) -> None:
    """Thought and document fit into the request's tokens together: the thought is ended in time."""
    world = make_world(monkeypatch, family, enable_in_reasoning=True)
    begin, end = FAMILIES[family]
    thought = {"type": "tag", "begin": begin, "content": {"type": "any_text"}, "end": end}
    document = {"type": "json_schema", "json_schema": SCHEMA}
    tag = json.dumps({"type": "structural_tag", "format": {"type": "sequence", "elements": [thought, document]}})
    for most in (95, 120, 150):
        world.add("one", structural_tag=tag, max_tokens=most)
        text = reply(world, "one", rng)
        assert text.startswith(begin)
        judge(text[text.index(end) + len(end) :])


@pytest.mark.parametrize("family", FAMILIES)
def test_a_thought_in_the_grammar_may_have_a_bound(monkeypatch: Any, rng: random.Random, family: str) -> None:
    world = make_world(monkeypatch, family, enable_in_reasoning=True)
    begin, end = FAMILIES[family]
    thought = {"type": "tag", "begin": begin, "content": {"type": "regex", "pattern": "[a-z ]{0,9}"}, "end": end}
    document = {"type": "json_schema", "json_schema": SCHEMA}
    tag = json.dumps({"type": "structural_tag", "format": {"type": "sequence", "elements": [thought, document]}})
    world.add("one", structural_tag=tag, max_tokens=130)
    text = reply(world, "one", rng)
    assert text.index(end) - len(begin) <= 9
    judge(text[text.index(end) + len(end) :])
