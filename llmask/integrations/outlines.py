"""llmask in Outlines: its models and prompts, with grammars compiled here.

    model = outlines.from_transformers(AutoModelForCausalLM.from_pretrained(name), AutoTokenizer.from_pretrained(name))
    write = generator(model, Person, max_tokens=100)
    person = Person.model_validate_json(write("Ada Lovelace died at the age of 36. As JSON: "))

Outlines has no registry for engines, but a generator takes any processor (`outlines.Generator(model, processor=...)`).
The tokenizer comes from the model, and the processor is the one of the framework below it. Three things are added that
Outlines leaves to the caller: the document ends within `max_tokens`, the framework is told so and which ids end it, and
a failure that llama-cpp-python drops is raised.

In: a model of Outlines that runs here, a type or a grammar. Out: what takes prompts and gives texts. Cost: a second for
the tables of a tokenizer at its first use, then that of the model.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from llmask.compiling.compiled_grammar import CompiledGrammar
from llmask.compiling.compiler import Compiler
from llmask.errors import LlmaskError
from llmask.integrations import llama_cpp, mlx, transformers
from llmask.matching.budget import checked_budget
from llmask.matching.reasoning import Reasoning
from llmask.samplers.generation import compiler_for
from llmask.samplers.prefixes import AnyGrammar
from llmask.samplers.watching import OnEvent, OnValue

__all__ = ["GrammarGenerator", "generator"]

_ITS_OWN = ("logits_processor", "logits_processors", "max_tokens", "max_new_tokens", "max_length")
_CUT_OFF = {"stop", "stop_strings", "stopping_criteria"}  # options by which texts may end anywhere


class GrammarGenerator:
    """Writes texts of one grammar with one model; what `generator` makes.

    Parameters
    ----------
    model : of Outlines.
    grammar, processor : what it writes, and the logits processor of the framework below it.
    options : what every call of the framework is given.

    Attributes
    ----------
    grammar : the compiled grammar; `grammar.ledger` says what of a schema is enforced.
    processor : the logits processor, which Outlines resets before each text.
    """

    def __init__(self, model: Any, grammar: AnyGrammar, processor: Any, options: dict[str, Any]) -> None:
        import outlines

        self.grammar, self.processor = grammar, processor
        self._inner = outlines.Generator(model, processor=processor)
        self._check = getattr(processor, "raise_if_failed", lambda: None)
        self._options = options

    def __call__(self, prompt: Any, **options: Any) -> Any:
        """Write a text; a list of them where transformers is asked for several (`num_return_sequences`).

        Parameters
        ----------
        prompt : a text, an `outlines.inputs.Chat`, or what else the model takes.
        options : of the framework's own generation: sampling, seed, ...
        """
        text = self._inner(prompt, **self._merged(options))
        self._finish(options)
        return text

    def batch(self, prompts: list[Any], **options: Any) -> list[Any]:
        """Write a text for each prompt, with transformers; Outlines has no batches for the others."""
        texts: list[Any] = self._inner.batch(prompts, **self._merged(options))
        self._finish(options)
        return texts

    def stream(self, prompt: Any, **options: Any) -> Iterator[str]:
        """Write a text in parts, with llama-cpp-python and mlx-lm; Outlines has no streams for transformers."""
        yield from self._inner.stream(prompt, **self._merged(options))
        self._finish(options)

    def _finish(self, options: dict[str, Any]) -> None:
        """Raise what went wrong, and tell what the last tokens end, unless these may be missing."""
        self._check()
        if self.grammar.takes_budget and _CUT_OFF.isdisjoint(options):
            self.processor.finish()

    def _merged(self, options: dict[str, Any]) -> dict[str, Any]:
        for name in _ITS_OWN:
            if name in options:
                raise LlmaskError(
                    f"{name} is set when a generator is made",
                    help="give max_tokens to llmask.integrations.outlines.generator, so that documents end within them",
                )
        if "logit_bias" in options:
            raise LlmaskError(
                "llama-cpp-python drops the grammar where logit_bias is given", help="leave logit_bias out"
            )
        return self._options | options


def generator(
    model: Any,
    type_or_grammar: Any,
    *,
    max_tokens: int = 1000,
    on_limit: str = "finish",
    on_value: OnValue | None = None,
    on_event: OnEvent | None = None,
) -> GrammarGenerator:
    """Make a generator of Outlines that writes what a type, a schema or a grammar allows.

    Parameters
    ----------
    model : what `outlines.from_transformers`, `from_llamacpp` or `from_mlxlm` made.
    type_or_grammar : whatever `Compiler.json_schema` takes, a compiled grammar for the model's tokenizer, or a term of
        `outlines.types`: `Regex`, `JsonSchema`, or `CFG`, which is read as `Compiler.lark` reads it.
    max_tokens : each text is complete within this number, the end of sequence included, where the grammar has
        budgets. Prompt and text have to fit in the model's context.
    on_limit : see `CompiledGrammar.matcher`.
    on_value, on_event : told of each text while it is written, as in `llmask.generate`: the number is that of the
        row. Where a text may be cut off, as the grammar has no budgets or something else stops it, what its last token
        ends is not told.

    Returns
    -------
    The generator: `write(prompt)`, `write.batch(prompts)`, `write.stream(prompt)`. Texts of types are JSON, as the
    schema says: of `Literal["a", "b"]` it is `"a"` with its quotes.

    Raises
    ------
    GrammarError : the type, schema or grammar.
    LlmaskError : a model that does not run here.
    """
    import outlines

    max_tokens = checked_budget(max_tokens)
    models = outlines.models
    options: dict[str, Any] = {"max_tokens": max_tokens}
    processors: Any
    if isinstance(model, models.LlamaCpp):
        compiler, processors = compiler_for(model.model.model_path, 0), llama_cpp
    elif isinstance(model, models.Transformers):
        tokenizer = model.tokenizer.tokenizer
        compiler, processors = compiler_for(tokenizer, len(tokenizer)), transformers
        ends = list(compiler.tokenizer.eos_ids)
        options = {"max_new_tokens": max_tokens, "eos_token_id": ends, "pad_token_id": tokenizer.pad_token_id}
    elif isinstance(model, models.MLXLM):
        from mlx_lm.tokenizer_utils import TokenizerWrapper

        tokenizer, given = model.tokenizer.tokenizer, model.mlx_tokenizer
        ends = (
            given if isinstance(given, TokenizerWrapper) else TokenizerWrapper(given)
        ).eos_token_ids  # it stops there
        compiler, processors = compiler_for(tokenizer, len(tokenizer), tuple(sorted(ends))), mlx
    else:
        raise LlmaskError(
            f"there are no logits to be had from {type(model).__name__}",
            help="use a model that runs in this process: outlines.from_transformers, from_llamacpp or from_mlxlm",
        )
    grammar = _compiled(compiler, type_or_grammar)
    budget = max_tokens if grammar.takes_budget else float("inf")
    told: dict[str, Any] = {"on_value": on_value, "on_event": on_event}
    processor = processors.GrammarLogitsProcessor(grammar, max_tokens=budget, on_limit=on_limit, **told)
    return GrammarGenerator(model, grammar, processor, options)


def _compiled(compiler: Compiler, given: Any) -> AnyGrammar:
    """A grammar as it is, a term of Outlines by its kind, anything else as a type or schema."""
    from outlines.types import CFG, JsonSchema, Regex

    if isinstance(given, (CompiledGrammar, Reasoning)):
        return given
    if isinstance(given, Regex):
        return compiler.regex(given.pattern)
    if isinstance(given, CFG):
        return compiler.lark(given.definition)
    return compiler.json_schema(given.schema if isinstance(given, JsonSchema) else given)
