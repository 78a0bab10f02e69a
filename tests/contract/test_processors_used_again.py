"""One processor for several generations of transformers: each has its text, or an error; none is empty in silence."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")

from llmask import Compiler, Tokenizer
from llmask.errors import LlmaskError
from llmask.samplers.transformers import GrammarLogitsProcessor
from tests.contract.tiny_models import make_hf_model, make_hf_tokenizer

Ids = list[int]
PATTERN = r'\{"(name|[a-z]{1,3})":(\[("red",){0,2}\]|[0-9]{1,3})\}'


def is_valid(text: str) -> bool:
    return re.fullmatch(PATTERN, text) is not None


class Chat:
    """A model, its tokenizer, and one processor for all that it writes."""

    def __init__(self) -> None:
        self.tokenizer = make_hf_tokenizer()
        self.model = make_hf_model(self.tokenizer)
        self.assistant = make_hf_model(self.tokenizer, seed=1)
        self.compiler = Compiler(Tokenizer.from_huggingface(self.tokenizer))
        self.grammar = self.compiler.regex(PATTERN)

    def processor(self) -> GrammarLogitsProcessor:
        return GrammarLogitsProcessor(self.grammar, max_tokens=40)

    def ids(self, text: str) -> Ids:
        return self.tokenizer(text, add_special_tokens=False).input_ids

    def write(self, processor: Any, *prompts: Ids, n: int = 40, seed: int = 0, **options: Any) -> list[Ids]:
        """The tokens that are written after each prompt; prompts are padded on the left."""
        width = max(map(len, prompts))
        pad = self.tokenizer.pad_token_id
        ids = torch.tensor([[pad] * (width - len(prompt)) + list(prompt) for prompt in prompts])
        torch.manual_seed(seed)
        options = {"do_sample": True, "top_k": 0} | options
        mask = (ids != pad).long()
        output = self.model.generate(
            input_ids=ids, attention_mask=mask, max_new_tokens=n, logits_processor=[processor], **options
        )
        return [row[width:].tolist() for row in output]

    def texts(self, rows: list[Ids]) -> list[str]:
        return [self.tokenizer.decode(row, skip_special_tokens=True) for row in rows]

    def check(self, processor: Any, *prompts: Ids, **options: Any) -> list[Ids]:
        """Write, and see that each text is valid and that a fresh processor gives the same."""
        written = self.write(processor, *prompts, **options)
        assert [text for text in self.texts(written) if not is_valid(text)] == []
        assert written == self.write(self.processor(), *prompts, **options)
        return written


@pytest.fixture(scope="module")
def chat() -> Chat:
    return Chat()


WAYS = {
    "greedy": {"do_sample": False},
    "sampled": {},
    "beams": {"do_sample": False, "num_beams": 3, "num_return_sequences": 3},
    "sampled beams": {"num_beams": 2},
    "several": {"num_return_sequences": 2},
    "prompt lookup": {"do_sample": False, "prompt_lookup_num_tokens": 4},
}


@pytest.mark.parametrize("way", WAYS)
def test_the_next_turn_of_a_chat(chat: Chat, way: str) -> None:
    """The prompt is the last prompt, the answer with its end of sequence, and more."""
    processor = chat.processor()
    prompt = chat.ids("write a person")
    for turn in range(3):
        answer = chat.check(processor, prompt, seed=turn, **WAYS[way])[0]
        prompt = [*prompt, *answer, *chat.ids(" and another")]
        prompt = [token for token in prompt if token != chat.tokenizer.pad_token_id]


@pytest.mark.parametrize("way", WAYS)
def test_other_prompts_of_any_length(chat: Chat, way: str) -> None:
    """Another prompt, the same one again, a longer and a shorter one; each is a prefix of another one in its turn."""
    processor = chat.processor()
    for seed, text in enumerate(("ab", "xy", "xy", "xy and more", "xy", "x", "x{", "x", "xyz" * 30, '{"name":12}' * 3)):
        chat.check(processor, chat.ids(text), seed=seed, **WAYS[way])


@pytest.mark.parametrize("way", [way for way in WAYS if way != "prompt lookup"])
def test_other_batches(chat: Chat, way: str) -> None:
    """Padded on the left; lookup takes one row."""
    processor = chat.processor()
    texts = ("ab", "write a person", "x" * 30, "y")
    prompts = [chat.ids(text) for text in texts]
    for seed, numbers in enumerate(((0,), (0, 1), (2, 3), (3, 2), (0, 1, 2, 3), (1,), (1, 1, 1), (0,))):
        chat.check(processor, *(prompts[number] for number in numbers), seed=seed, **WAYS[way])


@pytest.mark.parametrize("do_sample", [False, True])
def test_drafts_of_another_model_in_every_turn(chat: Chat, do_sample: bool) -> None:
    processor = chat.processor()
    prompt = chat.ids("write")
    for turn in range(2):
        options: dict[str, Any] = {"do_sample": do_sample, "assistant_model": chat.assistant, "seed": turn}
        answer = chat.check(processor, prompt, **options)[0]
        if not do_sample:
            assert [answer] == chat.write(chat.processor(), prompt, do_sample=False)
        prompt = [*prompt, *answer, *chat.ids(" more")]


OTHERS = {  # processors before this one; those that change scores make new ones of them
    "alone": {},
    "penalty": {"repetition_penalty": 1.2},
    "no repetition": {"no_repeat_ngram_size": 7},
}


@pytest.mark.parametrize("others", OTHERS)
@pytest.mark.parametrize("document", ['{"name":["red",]}', '{"a":1}'])
def test_drafts_that_end_a_document_are_looked_up(chat: Chat, document: str, others: str) -> None:
    """The prompt has a whole answer with its end of sequence, which is tried as a draft from the first token on."""
    processor = chat.processor()
    prompt = [*chat.ids("Q: "), *chat.ids(document), chat.tokenizer.eos_token_id, *chat.ids("Q: ")]
    for k in (1, 4, 40):
        written = chat.check(processor, prompt, do_sample=False, prompt_lookup_num_tokens=k, **OTHERS[others])
        assert written == chat.write(processor, prompt, do_sample=False, **OTHERS[others])


@pytest.mark.parametrize("others", OTHERS)
@pytest.mark.parametrize("k", [1, 4, 40])
def test_the_answer_that_was_looked_up_is_in_the_next_prompt(chat: Chat, k: int, others: str) -> None:
    """Part of the last answer, or all of it, ends the prompt: the text of a fresh processor, or an error."""
    grammar = chat.compiler.choice(["yes", "no", "yes, indeed"])
    n_errors = 0
    for example in ("yes", "no", "yes, indeed"):
        prompt = [*chat.ids("Q: "), *chat.ids(example), chat.tokenizer.eos_token_id, *chat.ids("Q: ")]
        options: dict[str, Any] = {"do_sample": False, "prompt_lookup_num_tokens": k} | OTHERS[others]
        answer = chat.write(GrammarLogitsProcessor(grammar, max_tokens=40), prompt, **options)[0]
        for n in range(len(answer) + 1):
            processor = GrammarLogitsProcessor(grammar, max_tokens=40)
            assert chat.write(processor, prompt, **options) == [answer]
            extended = [*prompt, *answer[:n]]
            try:
                written = chat.write(processor, extended, **options)
            except LlmaskError:
                n_errors += 1
                with pytest.raises(LlmaskError):
                    chat.write(processor, extended, **options)
            else:
                assert written == chat.write(GrammarLogitsProcessor(grammar, max_tokens=40), extended, **options)
    assert n_errors


@pytest.mark.parametrize("way", ["greedy", "sampled", "prompt lookup"])
def test_what_was_an_error_is_one_again(chat: Chat, way: str) -> None:
    """The same tensor is handed in twice, and is kept in between."""
    processor = chat.processor()
    prompt = chat.ids("write a person")
    answer = chat.write(processor, prompt, **WAYS[way])[0]
    answer = answer[: answer.index(chat.tokenizer.eos_token_id) + 1]
    ids = torch.tensor([[*prompt, *answer]])
    options: dict[str, Any] = {"do_sample": True, "top_k": 0, "max_new_tokens": 40} | WAYS[way]
    for _ in range(3):
        with pytest.raises(LlmaskError, match="every row has ended"):
            chat.model.generate(
                input_ids=ids, attention_mask=torch.ones_like(ids), logits_processor=[processor], **options
            )


def test_an_error_ends_the_lookup_in_which_it_is_raised(chat: Chat) -> None:
    """Scores of ones are those that prompt lookup makes up: the draft's beginning is a prompt after the error."""
    processor = chat.processor()
    prompt, draft = chat.ids("write"), chat.ids('{"name":1')

    def ask(n: int) -> None:
        processor(torch.tensor([[*prompt, *draft[:n]]]), torch.ones(1, len(chat.tokenizer)))

    for n in (0, 1, 2, 1):
        ask(n)
    for n in (len(draft), 1):
        with pytest.raises(LlmaskError, match="the rows went from"):
            ask(n)


def test_the_answer_is_in_the_next_prompt_and_a_criterion_keeps_the_ids_of_all_steps(chat: Chat) -> None:
    kept: list[Any] = []

    def keep(ids: Any, scores: Any, **options: Any) -> Any:
        kept.append(ids)
        return torch.zeros(len(ids), dtype=torch.bool)

    processor = chat.processor()
    prompt = chat.ids("write")
    criteria = transformers.StoppingCriteriaList([keep])
    (answer,) = chat.write(processor, prompt, stopping_criteria=criteria)
    assert len(kept) == len(answer)
    for n in range(1, len(answer) - 1):
        with pytest.raises(LlmaskError, match="call its reset"):
            chat.write(processor, [*prompt, *answer[:n]])


def test_beams_that_outnumber_the_texts_in_every_turn(chat: Chat) -> None:
    processor = GrammarLogitsProcessor(chat.compiler.choice(["yes", "no", "yes, indeed"]), max_tokens=20)
    for prompt in ("a", "b", "b", "longer than before", "c"):
        for n_beams in (2, 4, 6):
            written = chat.write(processor, chat.ids(prompt), n=20, do_sample=False, num_beams=n_beams)
            assert chat.texts(written)[0] in ("yes", "no", "yes, indeed")


def test_one_token_a_prompt(chat: Chat) -> None:
    """The second prompt is as long as the first one with its answer; nothing but its tokens tells them apart."""
    grammar = chat.compiler.regex("[0-9]")
    processor = GrammarLogitsProcessor(grammar, max_tokens=2)
    for text in ("x", "xy", "xyz", "abcd", "abdce", "bbdcef", "aaaaa", "bbbb"):
        if text in ("xy", "xyz"):  # the last prompt and one token
            with pytest.raises(LlmaskError, match="the grammar refuses the last tokens of every row"):
                chat.write(processor, chat.ids(text), n=1)
            processor.reset()
        (answer,) = chat.texts(chat.write(processor, chat.ids(text), n=1))
        assert answer.isdigit()
        assert len(answer) == 1


def test_what_was_written_is_the_prompt(chat: Chat) -> None:
    """A text that was cut off goes on; whether an ended one begins another is not known."""
    processor = GrammarLogitsProcessor(chat.grammar, max_tokens=math.inf)
    prompt = chat.ids("write")
    begun = chat.write(processor, prompt, n=3)[0]
    rest = chat.write(processor, [*prompt, *begun])[0]
    assert is_valid(chat.texts([begun + rest])[0])
    for extended in ([*prompt, *begun, *rest], [*prompt, *begun, *rest[:-1]], [*prompt, *begun]):
        with pytest.raises(LlmaskError, match="call its reset"):
            chat.write(processor, extended)
        processor.reset()
        assert is_valid(chat.texts(chat.write(processor, extended))[0])
        processor.reset()
        chat.write(processor, prompt, n=3)
        chat.write(processor, [*prompt, *begun])
