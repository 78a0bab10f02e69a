"""Outlines with grammars compiled here: transformers, llama-cpp-python and mlx-lm below it, with random weights."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any, ClassVar

import pydantic
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
outlines = pytest.importorskip("outlines", reason="outlines is not installed")
llama_cpp = pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed")
pytest.importorskip("mlx_lm", reason="mlx-lm is not installed")

from mlx_lm.tokenizer_utils import TokenizerWrapper

from llmask import Compiler, Tokenizer
from llmask.compiling.compiled_grammar import CompiledGrammar
from llmask.errors import BudgetError, GrammarError, LlmaskError
from llmask.integrations.outlines import generator
from tests.contract.conformance import AdapterConformance
from tests.contract.test_mlx import make_model as make_mlx_model
from tests.contract.test_transformers import Steps
from tests.contract.tiny_models import MAX_TOKENS, SCHEMA, is_valid, make_hf_model, make_hf_tokenizer, write_gguf

PROMPTS = ["a", "write a person", "{", "write 8 documents", "x y z", '{"name":', "one more", "b"]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    tokenizer = make_hf_tokenizer()
    path = write_gguf(tmp_path_factory.mktemp("model") / "tiny.gguf")
    llama = llama_cpp.Llama(str(path), n_ctx=512, n_threads=1, verbose=False)
    return {
        "transformers": outlines.from_transformers(make_hf_model(tokenizer), tokenizer),
        "llama_cpp": outlines.from_llamacpp(llama, chat_mode=False),
        "mlx": outlines.from_mlxlm(make_mlx_model(tokenizer, 0), tokenizer),
    }


SAMPLED: dict[str, dict[str, Any]] = {
    "transformers": {"do_sample": True, "top_k": 0},
    "llama_cpp": {"temperature": 1.5, "top_k": 0, "top_p": 1.0, "min_p": 0.0},
    "mlx": {},
}
each_model = pytest.mark.parametrize("name", SAMPLED)


def test_two_hundred_documents(models: dict[str, Any]) -> None:
    """One by one, in batches, streamed."""
    torch.manual_seed(0)
    texts = []
    write = generator(models["transformers"], SCHEMA, max_tokens=60)
    for _ in range(3):
        texts += write.batch(PROMPTS * 6, **SAMPLED["transformers"])
    texts += [write(f"write {number}", **SAMPLED["transformers"]) for number in range(12)]
    write = generator(models["llama_cpp"], json.dumps(SCHEMA), max_tokens=60)
    for number in range(15):
        texts.append(write(f"write {number}", seed=number, **SAMPLED["llama_cpp"]))
        texts.append("".join(write.stream(f"write {number}", seed=number, **SAMPLED["llama_cpp"])))
    write = generator(models["mlx"], SCHEMA, max_tokens=60)
    for number in range(7):
        texts.append(write(f"write {number}"))
        texts.append("".join(write.stream(f"write {number}")))
    assert len(texts) == 200
    assert [text for text in texts if not is_valid(text)] == []
    assert len(set(texts)) > 100


class Answer(pydantic.BaseModel):
    is_right: bool
    number: int


@each_model
def test_types_terms_and_grammars(models: dict[str, Any], name: str) -> None:
    model = models[name]
    Answer.model_validate_json(generator(model, Answer, max_tokens=60)("is it right?"))
    text = generator(model, outlines.types.Regex("(red|green)[0-9]{2}"), max_tokens=20)("x")
    assert re.fullmatch("(red|green)[0-9]{2}", text)
    assert generator(model, outlines.types.CFG('start: "yes" | "no"'), max_tokens=20)("x") in ("yes", "no")
    assert generator(model, outlines.types.JsonSchema({"const": True}), max_tokens=20)("x").strip() == "true"
    grammar = generator(model, SCHEMA).grammar
    assert generator(model, grammar, max_tokens=60).grammar is grammar


@each_model
def test_documents_end_within_their_tokens(models: dict[str, Any], name: str) -> None:
    write = generator(models[name], SCHEMA, max_tokens=36)
    assert all(is_valid(write(prompt, **SAMPLED[name])) for prompt in PROMPTS)


@each_model
def test_a_failure_is_raised(models: dict[str, Any], name: str, capfd: pytest.CaptureFixture[str]) -> None:
    """Of llama-cpp-python, too, which drops what a processor raises."""
    with pytest.raises(BudgetError, match="3 tokens"):
        generator(models[name], SCHEMA, max_tokens=3)("x")
    with pytest.raises(GrammarError, match="#/properties/a/type"):
        generator(models[name], {"properties": {"a": {"type": "strong"}}})


def test_what_would_take_the_text_apart_is_refused(models: dict[str, Any]) -> None:
    write = generator(models["llama_cpp"], SCHEMA)
    for options in ({"max_tokens": 5}, {"logit_bias": {5: 1.0}}, {"logits_processor": []}):
        with pytest.raises(LlmaskError, match=r"generator is made|drops the grammar"):
            write("x", **options)
        with pytest.raises(LlmaskError):
            next(write.stream("x", **options))
        with pytest.raises(LlmaskError):
            generator(models["transformers"], SCHEMA).batch(["x"], **options)


def test_texts_of_mlx_end_where_it_stops() -> None:
    """A tokenizer of mlx-lm may have other ends than that of transformers in it."""
    tokenizer = make_hf_tokenizer()
    wrapped = TokenizerWrapper(tokenizer, eos_token_ids=[tokenizer.bos_token_id])
    write = generator(outlines.from_mlxlm(make_mlx_model(tokenizer, 0), wrapped), SCHEMA, max_tokens=MAX_TOKENS)
    assert set(write.grammar.tokenizer.eos_ids) == {tokenizer.bos_token_id, tokenizer.eos_token_id}
    assert is_valid(write("x"))


def test_models_that_do_not_run_here_are_refused() -> None:
    with pytest.raises(LlmaskError, match="there are no logits to be had from object"):
        generator(object(), SCHEMA)


def test_a_grammar_for_another_tokenizer_is_an_error(models: dict[str, Any]) -> None:
    other = Compiler(Tokenizer.default()).choice(["yes"])
    with pytest.raises(LlmaskError, match="and the model has"):
        generator(models["transformers"], other)("x")


@each_model
def test_generators_tell_what_is_written(models: dict[str, Any], name: str) -> None:
    events: list[tuple[int, Any]] = []
    write = generator(models[name], SCHEMA, max_tokens=60, on_event=lambda *call: events.append(call))
    for prompt in PROMPTS[:3]:
        events.clear()
        text = write(prompt, **SAMPLED[name])
        assert {number for number, _ in events} == {0}
        assert events[-1][1] == ("end", "", json.loads(text))
    write = generator(
        models[name], outlines.types.Regex("(red|green)[0-9]{2}"), on_event=lambda *call: events.append(call)
    )
    events.clear()
    text = write("x")
    assert events == [(0, ("end", "", text))]
    if name == "transformers":
        events.clear()
        texts = write.batch(PROMPTS[:4], **SAMPLED[name])
        assert sorted(events) == [(number, ("end", "", text)) for number, text in enumerate(texts)]
    else:
        events.clear()
        text = "".join(write.stream("x"))
        assert events == [(0, ("end", "", text))]
    with pytest.raises(LlmaskError, match="on_value is called with"):
        generator(models[name], SCHEMA, on_value="print")


# --- the suite of adapters


@lru_cache
def transformers_model() -> Any:
    tokenizer = make_hf_tokenizer()
    return outlines.from_transformers(make_hf_model(tokenizer), tokenizer)


class Generators(Steps):
    """The processor of a generator, which is reset for each text."""

    never: ClassVar[dict[str, str]] = Steps.never | dict.fromkeys(
        ["each_row_has_its_own_grammar", "a_row_has_no_grammar", "a_row_ends_before_the_others"],
        "a generator has one grammar",
    )

    def begin(self, grammars: list[CompiledGrammar | None], n_logits: int) -> None:
        self.processor = generator(transformers_model(), grammars[0]).processor
        self.processor.reset()
        self.n_logits = n_logits

    def submit(self, compiler: Compiler, schema: Any) -> None:
        generator(transformers_model(), schema)


class TestGenerators(AdapterConformance):
    kind = Generators
