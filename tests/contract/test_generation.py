"""`llmask.generate`: the same call for transformers and llama-cpp-python, from a type and prompts to values."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, Literal, NamedTuple

import pytest

pydantic = pytest.importorskip("pydantic", reason="pydantic is not installed")

import llmask
from llmask.errors import BudgetError, GrammarError, LlmaskError
from tests.contract.tiny_models import make_hf_model, make_hf_tokenizer, write_gguf

TEMPLATE = (
    "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}{% if add_generation_prompt %}: {% endif %}"
)
CHAT = [{"role": "user", "content": "who?"}]


class Person(pydantic.BaseModel, extra="forbid"):
    name: str = pydantic.Field(max_length=5)
    age: int = pydantic.Field(ge=0, le=150)


@dataclasses.dataclass
class Switch:
    on: bool


def move(x: Literal[1, 2], y: bool) -> None:
    """Its parameters are what is written."""


class Loaded(NamedTuple):
    """A model and what goes with it, and options with which it writes something else each time."""

    model: Any
    tokenizer: Any
    grammars: llmask.Compiler
    options: dict[str, Any]

    def generate(self, *arguments: Any, **options: Any) -> Any:
        return llmask.generate(self.model, self.tokenizer, *arguments, **options)


@pytest.fixture(scope="module", params=["transformers", "llama_cpp"])
def loaded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    pytest.importorskip(request.param, reason=f"{request.param} is not installed")
    if request.param == "transformers":
        tokenizer = make_hf_tokenizer()
        tokenizer.chat_template = TEMPLATE
        compiler = llmask.Compiler(llmask.Tokenizer.from_huggingface(tokenizer))
        return Loaded(make_hf_model(tokenizer), tokenizer, compiler, {"do_sample": True, "top_k": 0})
    import llama_cpp

    path = write_gguf(tmp_path_factory.mktemp("model") / "tiny.gguf")
    model = llama_cpp.Llama(str(path), n_ctx=256, verbose=False)
    compiler = llmask.Compiler(llmask.Tokenizer.from_gguf(str(path)))
    return Loaded(model, None, compiler, {"temperature": 1.5, "top_k": 0})


def test_a_type_gives_values_of_it(loaded: Loaded) -> None:
    for prompt in ("write", "", CHAT):
        person = loaded.generate(Person, prompt, max_tokens=60)
        assert isinstance(person, Person)
    assert isinstance(loaded.generate(Switch, "x", **loaded.options), Switch)
    assert loaded.generate(bool, "x") in (True, False)
    assert loaded.generate(pydantic.TypeAdapter(Literal["red"]), "x") == "red"


def test_a_schema_or_function_gives_plain_data(loaded: Loaded) -> None:
    written = loaded.generate(move, "x", **loaded.options)
    assert written["x"] in (1, 2)
    assert written["y"] in (True, False)
    assert loaded.generate({"enum": [[1, "a"]]}, "x") == [1, "a"]
    assert loaded.generate('{"const": {"a": null}}', "x") == {"a": None}


def test_a_grammar_gives_text(loaded: Loaded) -> None:
    grammar = loaded.grammars.regex("(yes|no), [0-9]{2}")
    assert loaded.generate(grammar, "x", **loaded.options)[-4:-2] == ", "


def test_a_list_of_prompts_gives_a_list_of_values(loaded: Loaded) -> None:
    prompts = ["write", "", CHAT, "a longer one than the others"]
    greedy = {"temperature": 0.0} if loaded.tokenizer is None else {"do_sample": False}
    people = loaded.generate(Person, prompts, max_tokens=60, **greedy)
    assert people == [loaded.generate(Person, prompt, max_tokens=60, **greedy) for prompt in prompts]
    assert [type(person) for person in people] == [Person] * 4
    assert loaded.generate(Person, []) == []


def test_a_value_ends_within_max_tokens_or_the_context(loaded: Loaded) -> None:
    assert isinstance(loaded.generate(list[str], "write", **loaded.options), list)
    short = loaded.generate(loaded.grammars.regex("(ab)+"), "write", max_tokens=5, **loaded.options)
    assert len(short) in (2, 4)
    with pytest.raises(BudgetError) as caught:
        loaded.generate(Person, "write", max_tokens=3)
    assert loaded.generate(Person, "write", max_tokens=caught.value.least).age >= 0


def test_values_are_shown_while_they_are_written(loaded: Loaded) -> None:
    seen: list[tuple[int, Any]] = []
    people = loaded.generate(Person, ["a", "write"], lambda *call: seen.append(call), max_tokens=60)
    for number, person in enumerate(people):
        values = [value for where, value in seen if where == number]
        assert values[-1] == person.model_dump()
        assert len(values) > 2
        names = [value["name"] for value in values if "name" in value]
        assert all(person.name.startswith(name) for name in names)
        assert all(value.get("age", person.age) == person.age for value in values)  # a number counts when it has ended
    numbers: list[tuple[int, Any]] = []
    number = loaded.generate({"type": "integer"}, "a", lambda *call: numbers.append(call), max_tokens=20)
    assert numbers == [(0, number)]
    texts: list[tuple[int, str]] = []
    text = loaded.generate(loaded.grammars.regex("(yes|no){3}"), "a", lambda *call: texts.append(call))
    assert texts[-1] == (0, text)
    assert all(text.startswith(part) for _, part in texts)


def test_events_tell_what_is_complete(loaded: Loaded) -> None:
    calls: list[tuple[int, Any]] = []
    people = loaded.generate(Person, ["a", "write"], on_event=lambda *call: calls.append(call), max_tokens=60)
    for number, person in enumerate(people):
        assert [tuple(event) for where, event in calls if where == number] == [
            *[("key", "/name", "name"), ("value", "/name", person.name)],
            *[("key", "/age", "age"), ("value", "/age", person.age), ("end", "", person.model_dump())],
        ]
    calls.clear()
    value = loaded.generate({"type": "integer"}, "a", on_event=lambda *call: calls.append(call), max_tokens=20)
    text = loaded.generate(loaded.grammars.regex("(yes|no)"), "a", on_event=lambda *call: calls.append(call))
    assert calls == [(0, ("end", "", value)), (0, ("end", "", text))]


def test_what_on_value_raises_ends_the_call(loaded: Loaded) -> None:
    calls = []

    def stop(number: int, value: Any) -> None:
        calls.append(value)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        loaded.generate(Person, "a", stop)
    assert len(calls) == 1


def test_other_processors_have_their_say_and_the_grammar_the_last(loaded: Loaded) -> None:
    a, b = (loaded.grammars.tokenizer.encode(text)[-1] for text in "ab")

    def prefer_b(ids: Any, scores: Any) -> Any:
        scores[..., b] = 1000.0
        return scores

    answer = loaded.generate(loaded.grammars.regex("[ab]{3}"), "x", logits_processor=[prefer_b])
    assert answer == "bbb"
    assert loaded.generate(loaded.grammars.regex("a{3}"), "x", logits_processor=[prefer_b]) == "aaa"
    assert a != b


def message(loaded: Loaded, *arguments: Any, **options: Any) -> str:
    with pytest.raises(LlmaskError) as caught:
        loaded.generate(*arguments, **options)
    return str(caught.value)


def test_no_argument_is_ignored(loaded: Loaded) -> None:
    with pytest.raises((TypeError, ValueError), match="temprature"):
        loaded.generate(Person, "x", temprature=0.3)
    owned = "stream" if loaded.tokenizer is None else "max_new_tokens"
    assert message(loaded, Person, "x", **{owned: 7}).startswith(f"{owned} is no option of llmask.generate with ")
    for wrong in (None, 3, b"x", {"role": "user"}, ["x", 3], ["x", []], [[CHAT]]):
        assert message(loaded, Person, wrong).startswith("a prompt is a text or the messages of a chat")
    with pytest.raises(GrammarError):
        loaded.generate(["yes", "no"], "x")
    with pytest.raises(LlmaskError, match="does not go with a tokenizer that is a int"):
        llmask.generate(loaded.model, 3, Person, "x")
    with pytest.raises(LlmaskError, match="not object"):
        llmask.generate(object(), loaded.tokenizer, Person, "x")


def test_a_validator_of_the_type_may_refuse(loaded: Loaded) -> None:
    class Odd(pydantic.BaseModel):
        n: Literal[2]

        @pydantic.field_validator("n")
        @classmethod
        def is_odd(cls, n: int) -> int:
            assert n % 2
            return n

    with pytest.raises(pydantic.ValidationError):
        loaded.generate(Odd, "x")


def test_a_text_that_something_else_cuts_off_is_an_error(loaded: Loaded) -> None:
    if loaded.tokenizer is None:
        assert "was cut off after" in message(loaded, Person, "x", stop=[":"])
        return

    def stop(ids: Any, scores: Any, **_: Any) -> Any:
        import torch

        return torch.ones(len(ids), dtype=torch.bool)

    assert message(loaded, Person, "x", stopping_criteria=[stop]).startswith("the text was cut off after 1 tokens")


def test_several_texts_of_a_prompt_are_a_list(loaded: Loaded) -> None:
    if loaded.tokenizer is None:
        with pytest.raises(TypeError, match="num_return_sequences"):
            loaded.generate(Person, "x", num_return_sequences=2)
        return
    for options in ({"do_sample": True}, {"num_beams": 3}):
        people = loaded.generate(Person, ["x", "write"], max_tokens=60, num_return_sequences=2, **options)
        assert [[type(person) for person in row] for row in people] == [[Person] * 2] * 2
        (one, two) = loaded.generate(Person, "x", max_tokens=60, num_return_sequences=2, **options)
        assert isinstance(one, Person)
        assert isinstance(two, Person)
    assert message(loaded, Person, "x", print, num_beams=2).startswith("on_value or on_event with beams")


def test_an_integer_is_no_float(loaded: Loaded) -> None:
    class Strict(pydantic.BaseModel, strict=True):
        n: int

    def count(n: int) -> None: ...

    def prefer_fractions(ids: Any, scores: Any) -> Any:
        scores[..., loaded.grammars.tokenizer.encode(".")[-1]] = 1000.0
        return scores

    for _ in range(3):
        assert loaded.generate(Strict, "x", max_tokens=30, logits_processor=[prefer_fractions]).n is not None
        written = loaded.generate(count, "x", max_tokens=30, logits_processor=[prefer_fractions])
        assert type(written["n"]) is int


def test_a_function_is_never_called(loaded: Loaded) -> None:
    def fire(at: bool, really: bool = True) -> None:
        raise AssertionError("it was called")

    for source in (functools.partial(fire, really=False), pydantic.TypeAdapter(fire)):
        assert loaded.generate(source, "x", max_tokens=60)["at"] in (True, False)


@pytest.fixture
def causal() -> Loaded:
    """A model of transformers that a test may change."""
    pytest.importorskip("transformers", reason="transformers is not installed")
    tokenizer = make_hf_tokenizer()
    grammars = llmask.Compiler(llmask.Tokenizer.from_huggingface(tokenizer))
    return Loaded(make_hf_model(tokenizer), tokenizer, grammars, {})


def test_the_settings_of_the_model_count_as_options(causal: Loaded) -> None:
    import transformers

    given = transformers.GenerationConfig(num_beams=2)
    assert message(causal, Person, "x", print, generation_config=given).startswith("on_value or on_event with beams")
    config = causal.model.generation_config
    config.return_dict_in_generate = True
    assert isinstance(causal.generate(Person, "x", max_tokens=60), Person)
    config.stop_strings = [":"]
    assert message(causal, Person, "x").startswith("the text was cut off after")
    config.stop_strings = None
    assert message(causal, Person, "x", stop_strings=":").startswith("the text was cut off after")
    # where the string ends the document, all is there; other rows of the batch are padded
    assert causal.generate(Literal["a", "bcd"], ["x", "write", ""], stop_strings=['a"', 'd"'], num_beams=1)


def test_more_beams_than_texts(causal: Loaded) -> None:
    from llmask.integrations.transformers import GrammarLogitsProcessor

    grammar = llmask.Compiler(llmask.Tokenizer.from_huggingface(causal.tokenizer)).choice(["yes", "no"])
    for n in (2, 5, 8):
        texts = causal.generate(grammar, ["x", "hello"], max_tokens=12, num_beams=n, num_return_sequences=n)
        assert [set(row) for row in texts] == [{"yes", "no"}] * 2
    inputs = causal.tokenizer("x", return_tensors="pt")
    # it knows a step of beams that have all ended from another generation by the length of the prompt
    processor = GrammarLogitsProcessor(grammar, inputs.input_ids.shape[1], max_tokens=12)
    for _ in range(2):
        output = causal.model.generate(
            input_ids=inputs.input_ids, max_new_tokens=12, num_beams=5, logits_processor=[processor]
        )
        assert causal.tokenizer.decode(output[0, inputs.input_ids.shape[1] :], skip_special_tokens=True) in (
            "yes",
            "no",
        )


def test_what_a_tokenizer_declares_may_change(causal: Loaded) -> None:
    ends = []

    write = causal.model.generate

    def watched(**options: Any) -> Any:
        ends.append(options["eos_token_id"])
        return write(**options)

    causal.model.generate = watched
    causal.generate(bool, "x")
    causal.tokenizer.eos_token = "<s>"
    causal.generate(bool, "x")
    assert causal.tokenizer.eos_token_id not in ends[0]
    assert causal.tokenizer.eos_token_id in ends[1]


def test_prompts_that_cannot_be_written_after(causal: Loaded) -> None:
    tokenizer = causal.tokenizer
    assert message(causal, Person, CHAT).startswith("the tokenizer has no chat template")
    tokenizer.chat_template = "{{ raise_exception('roles alternate') }}"
    assert message(causal, Person, CHAT).startswith("the tokenizer takes no such chat: roles alternate\n")
    assert message(causal, Person, "\ud800").startswith("the tokenizer takes no such text: ")
    with pytest.raises(BudgetError, match="prompt of 510 tokens leaves 2 of the model's context of 512") as caught:
        causal.generate(Person, "#" * 510)
    assert caught.value.least > 2
    tokenizer.eos_token = tokenizer.bos_token = None
    assert isinstance(causal.generate(Person, "", max_tokens=60), Person)


def test_wrong_options_of_transformers(causal: Loaded) -> None:
    assert message(causal, Person, "x", pad_token_id=[0]).startswith("pad_token_id is a token id, not [0]")
    assert message(causal, Person, "x", stopping_criteria=len).startswith("stopping_criteria is a list of criteria")
    assert "int cannot be called\n  at stopping_criteria[0]" in message(causal, Person, "x", stopping_criteria=[3])
    assert message(causal, Person, "x", token_healing=True).startswith("token_healing is no option")


def test_a_seed_gives_the_same_values_again(loaded: Loaded) -> None:
    first = [loaded.generate(list[str], "write", seed=seed, max_tokens=60, **loaded.options) for seed in range(4)]
    assert first == [
        loaded.generate(list[str], "write", seed=seed, max_tokens=60, **loaded.options) for seed in range(4)
    ]
    assert any(value != first[0] for value in first)
    if loaded.tokenizer is None:
        return
    import torch

    state = torch.get_rng_state()
    loaded.generate(list[str], "write", seed=1, max_tokens=60, **loaded.options)
    assert torch.equal(torch.get_rng_state(), state)
    with pytest.raises(LlmaskError, match="seed is an integer, not 'x'"):
        loaded.generate(list[str], "write", seed="x")


def test_what_is_hardly_meant_is_told(loaded: Loaded) -> None:
    with pytest.warns(llmask.GrammarWarning, match="a warning at #/propertys"):
        loaded.generate({"type": "object", "propertys": {}, "maxProperties": 0}, "write")
    with pytest.raises(GrammarError) as caught:
        loaded.generate("[0-9]+", "write")
    assert "a pattern is for Compiler.regex" in str(caught.value)
    assert "llmask.generate takes what they return" in str(caught.value)
