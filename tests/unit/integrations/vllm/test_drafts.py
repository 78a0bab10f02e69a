"""Forced tokens as drafts: rows that come and go, texts that a grammar does not follow, and the end of sequence."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from llmask import Compiler, Tokenizer
from llmask.integrations.vllm import drafts
from llmask.integrations.vllm.drafts import ForcedTokens, showing_rows

TOKENIZER = "default_tokenizer"  # of `compiler`
SCHEMA = {
    "type": "object",
    "properties": {"name": {"enum": ["Ada", "Bob"]}, "age": {"type": "integer"}},
    "required": ["name", "age"],
    "additionalProperties": False,
}


class Runner:
    """What of vLLM's runner is looked at: requests by id, and their tokens by row."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self.requests: dict[str, Any] = {}
        self.texts: dict[str, list[int]] = {}
        self.input_batch = SimpleNamespace(req_ids=[])

    def add(self, name: str, key: Any, prompt: str = "prompt", backend: str = "llmask") -> None:
        ids = self.tokenizer.encode(prompt)
        whitespace = {"disable_any_whitespace": False, "whitespace_pattern": None}
        outputs = None if key is None else SimpleNamespace(_backend=backend, key=key, **whitespace)
        parameters = SimpleNamespace(structured_outputs=outputs, all_stop_token_ids=set(self.tokenizer.eos_ids))
        self.requests[name] = SimpleNamespace(
            sampling_params=parameters, prompt_token_ids=ids, num_prompt_tokens=len(ids)
        )
        self.texts[name] = list(ids)

    def draft(self, drafter: ForcedTokens, **written: Any) -> dict[str, list[int]]:
        """Let requests write texts, in the rows in which they are named, and ask for drafts."""
        self.input_batch.req_ids = list(written)
        sampled = [ids if isinstance(ids, list) else self.tokenizer.encode(ids) for ids in written.values()]
        for name, ids in zip(written, sampled, strict=True):
            self.texts[name] += ids
        tokens = np.zeros((len(written) + 2, 200), np.int32)
        lengths = np.zeros(len(written) + 2, np.int32)
        for row, name in enumerate(written):
            lengths[row] = len(self.texts[name])
            tokens[row, : lengths[row]] = self.texts[name]
        drafter.show(self)
        found = drafter.propose(sampled, lengths, tokens, slot_mappings=None)
        return dict(zip(written, found, strict=True))


@pytest.fixture
def runner(default_tokenizer: Any) -> Runner:
    return Runner(default_tokenizer)


@pytest.fixture
def drafter(compiler: Compiler, monkeypatch: Any) -> ForcedTokens:
    monkeypatch.setattr(drafts, "_wrap_runner", lambda: None)
    request = ModuleType("vllm.v1.structured_output.request")
    request.get_structured_output_key = lambda outputs: outputs.key  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "vllm.v1.structured_output.request", request)
    config = SimpleNamespace(
        speculative_config=SimpleNamespace(num_speculative_tokens=8),
        model_config=SimpleNamespace(max_model_len=200),
        structured_outputs_config=SimpleNamespace(
            reasoning_parser="", enable_in_reasoning=False, disable_any_whitespace=True
        ),
    )
    made = ForcedTokens(config)
    made.compiler = compiler
    return made


def kind(name: str) -> Any:
    return SimpleNamespace(name=name)


JSON = kind("JSON"), SCHEMA
CHOICE = kind("CHOICE"), '["yes, of course, and with pleasure", "no"]'


def test_drafts_are_the_tokens_that_the_tokenizer_writes(runner: Runner, drafter: ForcedTokens) -> None:
    runner.add("one", JSON)
    text = '{"name":"Ada","age":3}'
    ids = runner.tokenizer.encode(text)
    n_drafted = 0
    for n in range(1, len(ids)):
        found = runner.draft(drafter, one=ids[n - 1 : n])["one"]
        assert found == [*ids, runner.tokenizer.eos_ids[0]][n : n + len(found)]
        n_drafted += bool(found)
    assert n_drafted >= 3


def test_what_was_accepted_in_one_step_is_followed(runner: Runner, drafter: ForcedTokens) -> None:
    runner.add("one", CHOICE)
    first = runner.tokenizer.encode("yes, of course, and with pleasure")
    found = runner.draft(drafter, one=first[:1])["one"]
    assert found[:3] == first[1:4]
    assert runner.draft(drafter, one=first[1:])["one"] == [runner.tokenizer.eos_ids[0]]
    assert runner.draft(drafter, one=[runner.tokenizer.eos_ids[0]])["one"] == []


def test_what_was_forced_before_is_remembered_by_grammar(
    runner: Runner, drafter: ForcedTokens, monkeypatch: Any
) -> None:
    ids = runner.tokenizer.encode('{"name":"Ada","age":3}')
    runner.add("one", JSON)
    first = [runner.draft(drafter, one=ids[n : n + 1])["one"] for n in range(len(ids))]
    assert any(first)
    calls = []
    right = type(drafter._followed["one"]._matcher).forced_tokens
    monkeypatch.setattr(
        type(drafter._followed["one"]._matcher), "forced_tokens", lambda self: calls.append(1) or right(self)
    )
    runner.add("two", JSON)
    again = [runner.draft(drafter, two=ids[n : n + 1])["two"] for n in range(len(ids))]
    assert again == first
    assert len(calls) <= sum(not drafts for drafts in first) + 1  # where nothing is forced it costs nothing
    monkeypatch.setattr(drafts, "MOST_REMEMBERED", 1)
    runner.add("three", CHOICE)
    assert runner.draft(drafter, three="yes")["three"]
    assert runner.draft(drafter, three=runner.tokenizer.encode("yes, of")[1:])["three"]
    assert [len(known) for known in drafter._remembered.values()].count(1) == 1


def test_tokens_that_the_tokenizer_would_not_have_written_spoil_nothing(runner: Runner, drafter: ForcedTokens) -> None:
    """After them nothing is forced; the next text, in which the same bytes follow the same tokens, has its drafts."""
    ids = runner.tokenizer.encode('{"name":"')
    runner.add("odd", JSON)
    assert runner.draft(drafter, odd=[*runner.tokenizer.encode("{"), *runner.tokenizer.encode('"')])["odd"] == []
    assert runner.draft(drafter, odd=ids[1:2])["odd"] == []
    runner.add("even", JSON)
    assert runner.draft(drafter, even=ids[:1])["even"] == ids[1:3]
    assert runner.draft(drafter, even=ids[1:2])["even"] == ids[2:3]
    for n in range(drafts.MOST_IN_VAIN):
        runner.add(f"long {n}", (kind("CHOICE"), '["' + "abcdefgh" * 8 + '"]'))
    letters = [runner.tokenizer.encode(letter)[0] for letter in "abcdefgh" * 2]
    for letter in letters:
        assert runner.draft(drafter, **{"long 0": [letter]})["long 0"] == []
    assert drafter._followed["long 0"]._matcher is None


def test_rows_may_change_their_places_and_wait(runner: Runner, drafter: ForcedTokens) -> None:
    runner.add("one", CHOICE)
    runner.add("two", JSON)
    runner.add("free", None)
    runner.add("other", CHOICE, backend="xgrammar")
    found = runner.draft(drafter, one="yes", two='{"', free="yes", other="yes")
    assert found["one"]
    assert found["free"] == found["other"] == []
    named = runner.tokenizer.encode('{"name":"Ada')
    assert found["two"] == named[1:3]
    assert runner.draft(drafter, two=named[1:2])["two"] == named[2:3]
    found = runner.draft(drafter, free="no", two=[], one=runner.tokenizer.encode("yes, of")[1:])
    assert found["two"] == []  # its prompt is read again, after a preemption
    assert found["one"][:1] == runner.tokenizer.encode("yes, of course")[3:]


def test_a_text_that_the_grammar_refuses_gets_no_drafts_any_more(runner: Runner, drafter: ForcedTokens) -> None:
    runner.add("one", CHOICE)
    assert runner.draft(drafter, one="maybe")["one"] == []
    assert runner.draft(drafter, one="yes")["one"] == []


def test_requests_that_are_gone_are_forgotten_and_their_names_used_again(runner: Runner, drafter: ForcedTokens) -> None:
    runner.add("one", CHOICE)
    assert runner.draft(drafter, one="yes")["one"]
    runner.add("one", (kind("CHOICE"), '["no, not at all"]'))
    assert runner.draft(drafter, one="no")["one"]
    del runner.requests["one"]
    runner.add("two", CHOICE)
    runner.draft(drafter, two="no")
    assert list(drafter._followed) == ["two"]


def test_drafts_stay_within_what_the_engine_takes(runner: Runner, drafter: ForcedTokens) -> None:
    runner.add("one", (kind("CHOICE"), '["' + "word " * 50 + '"]'))
    assert len(runner.draft(drafter, one="word")["one"]) == 8
    drafter.vllm_config.model_config.max_model_len = len(runner.texts["one"]) + 3
    assert len(runner.draft(drafter, one=[*runner.tokenizer.encode(" word")])["one"]) == 2


def test_what_cannot_be_compiled_or_was_not_shown_gets_none(runner: Runner, drafter: ForcedTokens) -> None:
    runner.add("bad", (kind("REGEX"), "("))
    assert runner.draft(drafter, bad="a")["bad"] == []
    drafter._runner = None
    assert drafter.propose([[1], []], np.array([1, 1]), np.zeros((2, 4), np.int32)) == [[], []]


def test_a_thought_gets_no_drafts(runner: Runner, drafter: ForcedTokens, monkeypatch: Any) -> None:
    """The parser ends a thought at `;`, as some do at a token."""
    end = runner.tokenizer.encode(";")

    class Parser:
        def __init__(self, tokenizer: Any) -> None: ...

        def is_reasoning_end(self, ids: list[int]) -> bool:
            return end[0] in ids

        def is_reasoning_end_streaming(self, ids: list[int], delta: list[int]) -> bool:
            return end[0] in delta

    reasoning, tokenizers = ModuleType("vllm.reasoning"), ModuleType("vllm.tokenizers")
    reasoning.ReasoningParserManager = SimpleNamespace(get_reasoning_parser=lambda name: Parser)  # type: ignore[attr-defined]
    tokenizers.cached_tokenizer_from_config = lambda model_config: None  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "vllm.reasoning", reasoning)
    monkeypatch.setitem(sys.modules, "vllm.tokenizers", tokenizers)
    drafter.vllm_config.structured_outputs_config.reasoning_parser = "semicolon"
    runner.add("one", CHOICE)
    runner.add("two", CHOICE, prompt="no thought;")
    found = runner.draft(drafter, one="hm", two="yes")
    assert found["one"] == []
    assert found["two"]
    ids = runner.tokenizer.encode("yes")
    assert runner.draft(drafter, one=[*end, *ids])["one"] == found["two"]


class Drafts:
    """A tensor of drafts, as far as it is used."""

    def __init__(self, n_rows: int, n_drafts: int) -> None:
        self.array = np.full((n_rows, n_drafts), 7)
        self.shape = self.array.shape

    def __len__(self) -> int:
        return len(self.array)

    def new_tensor(self, values: list[int]) -> Any:
        return np.array(values, np.int64)

    def __setitem__(self, key: Any, value: Any) -> None:
        self.array[key] = value


class Proposing:
    """A runner with a proposer of its own, in front of which forced tokens stand."""

    def __init__(self, runner: Runner, config: Any, drafts: Any) -> None:
        self.drafter: Any = object()
        self.vllm_config = config
        self.requests, self.input_batch = runner.requests, runner.input_batch
        self.discard_request_mask = SimpleNamespace(np=np.zeros(9, bool))
        self.drafts = drafts

    @showing_rows
    def propose(self, scheduled: Any, sampled: Any) -> Any:
        return self.drafts


@pytest.fixture
def proposing(runner: Runner, drafter: ForcedTokens, monkeypatch: Any) -> Any:
    """Makes one for the requests of a runner, the compiler of the drafter."""
    drafter.vllm_config.structured_outputs_config.backend = "llmask"
    monkeypatch.setattr(ForcedTokens, "compiler", drafter.compiler)

    def make(drafts: Any) -> Proposing:
        runner.input_batch.req_ids = list(runner.requests)
        return Proposing(runner, drafter.vllm_config, drafts)

    return make


def test_lists_of_others_begin_with_what_is_forced(runner: Runner, proposing: Any) -> None:
    for name, key in (("forced", CHOICE), ("agrees", CHOICE), ("free", None), ("waits", CHOICE), ("open", JSON)):
        runner.add(name, key)
    yes, ids = runner.tokenizer.encode("yes"), runner.tokenizer.encode("yes, of course, and with pleasure")
    end = runner.tokenizer.eos_ids[0]
    longer = [*ids[1:], end, 3]
    one = proposing([[5, 6], list(longer), [5], [5], []])
    tokens, lengths = np.zeros((5, 99), np.int64), np.zeros(5, np.int64)
    for row, name in enumerate(runner.requests):
        text = [*runner.texts[name], *(runner.tokenizer.encode('{"name":"A') if name == "open" else yes)]
        tokens[row, : len(text)], lengths[row] = text, len(text)
    one.input_batch.token_ids_cpu, one.input_batch.num_tokens_no_spec = tokens, lengths
    found = one.propose(None, [yes, yes, yes, [], yes])
    assert found[:4] == [longer[:8], longer, [5], [5]]
    assert runner.tokenizer.decode(found[4]).startswith("da")


def test_tensors_of_others_begin_with_what_is_forced(runner: Runner, proposing: Any) -> None:
    """The new tokens are on the device only: what came before is followed here."""
    for name, key in (("forced", CHOICE), ("free", None), ("waits", CHOICE)):
        runner.add(name, key)
        runner.requests[name].output_token_ids = []
    ids = runner.tokenizer.encode("yes, of course, and with pleasure")
    one = proposing(Drafts(3, 3))
    one.discard_request_mask.np[2] = True
    found = one.propose(None, np.array([[ids[0], -1], [9, 9], [9, -1]]))
    assert found.array.tolist() == [ids[1:4], [7, 7, 7], [7, 7, 7]]
    one.drafts = Drafts(3, 3)
    found = one.propose(None, np.array([[*ids[1:3]], [9, 9], [9, -1]]))
    assert found.array[0].tolist() == ids[3:6]
    one.drafts = Drafts(3, 3)
    found = one.propose(None, np.array([ids[3:], [9] * len(ids[3:]), [9] * len(ids[3:])]))
    assert found.array[0].tolist() == [runner.tokenizer.eos_ids[0], 7, 7]


def test_probabilities_and_other_backends_are_left_alone(runner: Runner, proposing: Any) -> None:
    runner.add("one", CHOICE)
    one = proposing([[5]])
    one._draft_probs = object()
    assert one.propose(None, [runner.tokenizer.encode("yes")]) == [[5]]
    one = proposing([[5]])
    one.vllm_config.structured_outputs_config.backend = "xgrammar"
    assert one.propose(None, [runner.tokenizer.encode("yes")]) == [[5]]


def test_a_runner_is_wrapped_where_the_environment_says_so(monkeypatch: Any) -> None:
    wrapped: list[int] = []
    monkeypatch.setattr(drafts, "_wrap_runner", lambda: wrapped.append(1))
    for value, n in ((None, 0), ("0", 0), ("", 0), ("1", 1)):
        if value is not None:
            monkeypatch.setenv(drafts.VARIABLE, value)
        drafts.stand_in_front()
        assert len(wrapped) == n


def test_a_runner_shows_itself_to_this_drafter(drafter: ForcedTokens) -> None:
    class Other:
        def __init__(self) -> None:
            self.drafter = drafter

        @showing_rows
        def propose(self, scheduled: int, sampled: int, more: int = 0) -> int:
            return scheduled + sampled + more

    runner = Other()
    assert runner.propose(1, 2, more=3) == 6
    assert drafter._runner is runner
    drafter.load_model(object())
