"""Logits processors of both interfaces: batches that change, drafts, texts that something else has written."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from llmask import Compiler, LimitExceeded, LlmaskError
from llmask.integrations.vllm.processors import Row, V1Processor, V2Processor
from tests.unit.integrations.vllm.test_backend import ids

torch = pytest.importorskip("torch", reason="torch is not installed")

END = 256  # of byte_tokenizer, where token id = byte
N_LOGITS = 272


def parameters(options: Any = None, stops: tuple[int, ...] = (END,), most: int | None = 64) -> Any:
    extra = None if options is None else {"llmask": options, "other": 1}
    return SimpleNamespace(extra_args=extra, all_stop_token_ids=set(stops), max_tokens=most)


def left(logits: Any) -> list[str]:
    """What each row may sample; `*` is everything, `.` the end of sequence."""
    found = []
    for row in logits:
        tokens = torch.isfinite(row).nonzero().ravel().tolist()
        found.append("*" if len(tokens) == N_LOGITS else "".join("." if id == END else chr(id) for id in tokens))
    return found


class TestRow:
    @pytest.fixture
    def processor(self, compiler: Compiler) -> V1Processor:
        made = V1Processor(None, "cpu", False)
        made.compiler = compiler
        return made

    def test_it_reads_its_text_and_ignores_what_comes_after_the_end(self, processor: V1Processor) -> None:
        row = processor.row_of(parameters({"choice": ["ab"]}))
        row.read(ids("ab.zz"))
        assert row.n_read == 5
        words = np.zeros((1, 9), np.int32)
        row.fill(words, [])
        assert (words == -1).all()

    @pytest.mark.parametrize("options", [{"regex": "("}, "regex", {"json": {"type": "nothing"}}, {}])
    def test_what_was_not_judged_and_cannot_be_compiled_may_only_end(
        self, processor: V1Processor, options: Any
    ) -> None:
        row = processor.row_of(parameters(options, (END, 65)))
        words = np.zeros((2, 9), np.int32)
        row.fill(words, ids("a"))
        for mask in words:
            assert np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little")).tolist() == [65, END]

    def test_its_document_is_complete_within_its_tokens(self, processor: V1Processor) -> None:
        row = processor.row_of(parameters({"regex": "a*"}, most=4))
        row.read(ids("a"))
        words = np.zeros((3, 9), np.int32)
        row.fill(words, ids("aa"))
        assert [sorted(np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little"))) for mask in words] == [
            [97, END],
            [97, END],
            [END],
        ]
        row.read(ids("aa"))
        row.fill(words[:1], [])
        assert np.flatnonzero(np.unpackbits(words[0].view(np.uint8), bitorder="little")).tolist() == [END]
        free = processor.row_of(parameters({"regex": "a*"}, most=None))
        free.fill(words, ids("aa"))
        assert (words[2] == words[0]).all()

    def test_an_error_ends_its_row(self, compiler: Compiler, monkeypatch: Any) -> None:
        matcher = compiler.choice(["ab"]).matcher()
        row = Row(matcher, [END])

        def fails(*_: Any) -> int:
            raise LimitExceeded("too much")

        monkeypatch.setattr(type(matcher), "fill_drafts", fails)
        words = np.zeros((1, 9), np.int32)
        row.fill(words, [])
        assert words[0].nonzero()[0].tolist() == [END // 32]


@pytest.mark.parametrize("processor", [V1Processor, V2Processor])
def test_options_are_judged_by_their_form(processor: Any) -> None:
    processor.validate_params(parameters())
    processor.validate_params(parameters({"json_object": True}))
    for wrong in ({"jsn": 1}, [], {"regex": "a", "json": {}}, {"json_object": 1}):
        with pytest.raises(ValueError, match=r"llmask|json_object"):
            processor.validate_params(parameters(wrong))


class TestV1:
    @pytest.fixture
    def processor(self, compiler: Compiler, monkeypatch: Any) -> V1Processor:
        module = ModuleType("vllm.v1.sample.logits_processor")
        module.process_dict_updates = process_dict_updates  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "vllm.v1.sample.logits_processor", module)
        made = V1Processor(None, "cpu", False)
        made.compiler = compiler
        return made

    def test_rows_come_move_and_go(self, processor: V1Processor) -> None:
        one, two = [], ids("x")
        processor.update_state(
            SimpleNamespace(
                added=[
                    (0, parameters({"regex": "[ab]c"}), [1], one),
                    (1, parameters(), None, []),
                    (2, parameters({"choice": ["xy", "xz"]}), [1], two),
                ],
                removed=[],
                moved=[],
            )
        )
        assert left(processor.apply(torch.zeros(3, N_LOGITS))) == ["ab", "*", "yz"]
        one += ids("a")
        processor.update_state(SimpleNamespace(added=[], removed=[1], moved=[(2, 1)]))
        assert left(processor.apply(torch.zeros(2, N_LOGITS, dtype=torch.float16))) == ["c", "yz"]
        two += ids("q")  # something else has forced it
        assert left(processor.apply(torch.zeros(4, N_LOGITS))) == ["c", ".", "*", "*"]
        processor.update_state(None)
        assert not processor.is_argmax_invariant()

    def test_logits_are_changed_in_place_and_not_touched_without_a_request(self, processor: V1Processor) -> None:
        logits = torch.zeros(2, N_LOGITS)
        assert processor.apply(logits) is logits
        assert left(logits) == ["*", "*"]


def process_dict_updates(entries: dict[int, Any], update: Any, new_state: Any) -> bool:
    """As vLLM's, for moves in one direction."""
    if update is None:
        return False
    for index, params, prompt, written in update.added:
        state = new_state(params, prompt, written)
        if state is not None:
            entries[index] = state
    for index in update.removed:
        entries.pop(index, None)
    for begin, end in update.moved:
        if begin in entries:
            entries[end] = entries.pop(begin)
    return True


class TestV2:
    @pytest.fixture
    def states(self) -> Any:
        return SimpleNamespace(
            prompt_len=SimpleNamespace(np=np.zeros(8, np.int32)),
            all_token_ids=SimpleNamespace(gpu=torch.zeros(8, 64, dtype=torch.int32)),
        )

    @pytest.fixture
    def processor(self, compiler: Compiler, states: Any) -> V2Processor:
        made = V2Processor(None, states)
        made.compiler = compiler
        return made

    def step(self, processor: V2Processor, *rows: tuple[int, str, str]) -> list[str]:
        """Apply it to rows of (slot, prompt and text, drafts), which are committed first."""
        states = processor._states
        slots, inputs, positions, local = [], [], [], []
        for slot, text, drafts in rows:
            prompt, written = text.split("|")
            tokens = ids(prompt + written)
            if states.prompt_len.np[slot] == 0:
                states.prompt_len.np[slot] = len(prompt)
            states.all_token_ids.gpu[slot, : len(tokens)] = torch.tensor(tokens, dtype=torch.int32)
            for n, token in enumerate([tokens[-1], *ids(drafts)]):
                slots.append(slot)
                inputs.append(token)
                positions.append(len(tokens) - 1 + n)
                local.append(n)
        context = SimpleNamespace(
            expanded_idx_mapping=torch.tensor(slots),
            idx_mapping_np=np.array([slot for slot, _, _ in rows]),
            input_ids=torch.tensor(inputs),
            pos=torch.tensor(positions),
            expanded_local_pos=torch.tensor(local),
        )
        return left(processor.apply(torch.zeros(len(slots), N_LOGITS), context))

    def test_rows_are_those_of_slots_in_any_order(self, processor: V2Processor) -> None:
        assert processor.add_request(3, parameters({"regex": "[ab]c"}))
        assert processor.add_request(5, parameters({"choice": ["xy", "xz"]}))
        assert not processor.add_request(0, parameters())
        assert self.step(processor, (5, "p|", ""), (0, "p|", ""), (3, "pp|", "")) == ["x", "*", "ab"]
        processor.apply_staged_writes()
        assert self.step(processor, (3, "pp|a", ""), (5, "p|x", "")) == ["c", "yz"]
        assert self.step(processor, (0, "p|q", "")) == ["*"]
        assert self.step(processor, (3, "pp|ac", "")) == ["."]

    def test_each_draft_has_a_row(self, processor: V2Processor) -> None:
        processor.add_request(2, parameters({"regex": "a[bc]d|xyz"}))
        assert self.step(processor, (2, "p|", "abd")) == ["ax", "bc", "d", "."]
        assert self.step(processor, (2, "p|a", "zd")) == ["bc", "*", "*"]  # what follows a refused draft is dropped
        assert self.step(processor, (2, "p|ab", "d.")) == ["d", ".", "."]

    def test_several_tokens_may_be_committed_at_once(self, processor: V2Processor) -> None:
        processor.add_request(2, parameters({"regex": "abcde"}))
        assert self.step(processor, (2, "p|", "")) == ["a"]
        assert self.step(processor, (2, "p|abc", "")) == ["d"]

    def test_a_prompt_that_is_read_in_parts_waits(self, processor: V2Processor) -> None:
        processor.add_request(2, parameters({"regex": "a"}))
        processor._states.prompt_len.np[2] = 4
        assert self.step(processor, (2, "pp|", "")) == ["*"]
        assert self.step(processor, (2, "pppp|", "")) == ["a"]

    def test_a_slot_is_used_again_and_a_request_resumed(self, processor: V2Processor) -> None:
        processor.add_request(2, parameters({"regex": "abc"}))
        assert self.step(processor, (2, "p|ab", "")) == ["c"]
        processor.add_request(2, parameters({"regex": "abc"}))  # preempted: what it wrote is read again
        assert self.step(processor, (2, "p|ab", "")) == ["c"]
        processor.add_request(2, parameters())
        assert self.step(processor, (2, "p|", "")) == ["*"]


def test_errors_of_options_are_errors_of_llmask() -> None:
    with pytest.raises(LlmaskError):
        V1Processor.validate_params(parameters(3))
