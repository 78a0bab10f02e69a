"""`llmask.generate`: from a model, a type and prompts to values, in one call.

    class Person(pydantic.BaseModel):
        name: str
        age: int

    llmask.generate(model, tokenizer, Person, "Ada Lovelace died at 36. As JSON: ")    # Person(name='Ada', age=36)

It compiles, masks, samples and reads what was written; each part can be done by hand (docs/loops.md), where more is to
be chosen. Compilers are kept for the last few tokenizers, and each keeps its grammars.

In: a model of transformers or llama-cpp-python, what the value has to be, prompts. Out: values, or texts. Cost: that of
the model; at the first call with a tokenizer a second for its tables.
"""

from __future__ import annotations

import inspect
import json
import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from llmask.arguments import check_type
from llmask.compiling.compiled_grammar import CompiledGrammar
from llmask.compiling.compiler import Compiler
from llmask.errors import BudgetError, LlmaskError
from llmask.frontends.json_schema.reading.described import reader_of
from llmask.matching.budget import checked_budget
from llmask.matching.json_reader import Event
from llmask.samplers.watching import Watch, until_end
from llmask.tokenizer.tokenizer import Tokenizer

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

SCHEMA_OPTIONS = tuple(inspect.signature(Compiler.json_schema).parameters)[2:]
See = Callable[[int, list[int]], None]  # told the number of a prompt, and all tokens after it
_NOT_OPTIONS = {
    "transformers": (
        "input_ids",
        "inputs",
        "attention_mask",
        "max_new_tokens",
        "max_length",
        "return_dict_in_generate",
        "token_healing",
    ),
    "llama-cpp-python": ("prompt", "messages", "stream", "echo", "suffix", "logit_bias"),
}


def generate(
    model: Any,
    tokenizer: Any,
    type_or_schema: Any,
    prompts: Any,
    on_value: Callable[[int, Any], object] | None = None,
    *,
    max_tokens: int = 1000,
    on_event: Callable[[int, Event], object] | None = None,
    **options: Any,
) -> Any:
    """Have a model write a value, or one after each of several prompts.

    Parameters
    ----------
    model : a causal model of transformers, or a `llama_cpp.Llama`.
    tokenizer : the model's own, of transformers; for a Llama None, or a `llmask.Tokenizer` in place of its file's.
    type_or_schema : whatever `Compiler.json_schema` takes (a pydantic model, dataclass or other type, a function, a
        schema as a dict or JSON text), or a compiled grammar.
    prompts : a text, or the messages of a chat, `[{"role": "user", "content": "..."}, ...]`, which the model's own
        template is for; or a list of these. transformers takes a list as one batch.
    on_value : called as `on_value(number, value)` while a value is written, whenever it has grown: `number` counts the
        prompts (with `num_return_sequences` the rows), `value` is what is there so far as plain data, see
        `Matcher.partial`, of a grammar the text so far. The last one is the whole value. No beams. What it raises ends
        the call.
    max_tokens : each value is complete within this number, the end of sequence included, or within what is left
        of the model's context.
    on_event : called as `on_event(number, event)` when something of a value is complete, in the order of the text:
        `event.kind` is "key", "value" (of a member), "item" (of an array) or "end", with its JSON pointer and the key
        or value, see `llmask.matching.json_reader.Event`. Of a grammar there is the end alone, with the text. Otherwise
        as `on_value`.
    options : of `Compiler.json_schema`, where there is no grammar yet (closed, whitespace, ...; numbers are "plain"),
        and of `model.generate`, or of `Llama.create_completion` and `create_chat_completion`: sampling, further
        `logits_processor`, ... What these do not know is an error. `stop_strings` need no tokenizer. `seed` makes
        sampling repeatable with both; torch's own random numbers go on afterwards as if nothing had been drawn.

    Returns
    -------
    A value, or a list with one for each prompt of a list, each a list with `num_return_sequences` above 1. Of a type it
    is a value of it, as pydantic reads it, or msgspec its Structs; of a schema or a function what `json.loads` makes of
    it; of a grammar it is the text.

    Raises
    ------
    GrammarError : the type or schema; see `Compiler.json_schema`.
    BudgetError : no value is as short as `max_tokens`.
    LlmaskError : arguments do not fit; a text was cut off, as by a stop string.
    pydantic.ValidationError : a validator of the type refuses the value: schemas do not say what such code does.
    """
    kind = _kind_of(model)
    for name in _NOT_OPTIONS[kind]:
        if name in options:
            raise LlmaskError(
                f"{name} is no option of llmask.generate with {kind}",
                help="it has max_tokens, prompts and on_value; for more use the logits processor: docs/loops.md",
            )
    is_llama = kind != "transformers"
    if not (isinstance(tokenizer, Tokenizer) or tokenizer is None if is_llama else hasattr(tokenizer, "chat_template")):
        raise LlmaskError(
            f"a model of {kind} does not go with a tokenizer that is a {type(tokenizer).__name__}",
            help="give None: the model file has it" if is_llama else "give AutoTokenizer.from_pretrained(...)",
        )
    grammar = type_or_schema
    if not isinstance(grammar, CompiledGrammar):
        source = model.model_path if tokenizer is None else tokenizer
        compiler = compiler_for(source, 0 if is_llama else len(tokenizer))
        # an integer 1.0 is a float to json.loads, and refused by pydantic's strict mode; 1e999 is infinite to both
        chosen = {name: options.pop(name) for name in SCHEMA_OPTIONS if name in options}
        grammar = compiler.json_schema(type_or_schema, **{"numbers": "plain", **chosen})
    read = _reader(type_or_schema)
    _check_list(options, "logits_processor", "processors")
    if not is_llama:
        _check_list(options, "stopping_criteria", "criteria")
    is_one = isinstance(prompts, str) or _is_chat(prompts)
    given = [prompts] if is_one else list(prompts) if isinstance(prompts, (list, tuple)) else [None]
    if not all(isinstance(prompt, str) or _is_chat(prompt) for prompt in given):
        raise LlmaskError(
            "a prompt is a text or the messages of a chat",
            help='give "...", or [{"role": "user", "content": "..."}], or a list of these',
        )
    write = _write_with_llama if is_llama else _write_with_transformers
    is_watched = on_value is not None or on_event is not None
    is_text = isinstance(type_or_schema, CompiledGrammar)
    watch = Watch(on_value, on_event)

    def see(number: int, ids: list[int], has_ended: bool = False) -> None:
        """Tell of all tokens that are written for a prompt; `has_ended`: nothing follows."""
        watch.tell(number, ids[watch.n_read(number) :], grammar.tokenizer, not is_text, has_ended)

    seen = see if is_watched else None
    rows = write(model, tokenizer, grammar, given, seen, checked_budget(max_tokens), options) if given else []
    texts = [_text(grammar, row) for row in rows]
    for number, row in enumerate(rows if is_watched else ()):
        see(number, row, has_ended=True)
    values = [read(text) for text in texts]
    if len(rows) > len(given):
        n = len(rows) // len(given)
        values = [values[first : first + n] for first in range(0, len(rows), n)]
    return values[0] if is_one else values


def _kind_of(model: Any) -> str:
    if any(base.__module__.partition(".")[0] == "llama_cpp" for base in type(model).__mro__):
        return "llama-cpp-python"
    if not hasattr(model, "generate") or not hasattr(model, "config"):
        raise LlmaskError(
            f"a model is one of transformers, or a llama_cpp.Llama, not {type(model).__name__}",
            help="load it with AutoModelForCausalLM.from_pretrained(name) or llama_cpp.Llama(path)",
        )
    if getattr(model.config, "is_encoder_decoder", False):
        raise LlmaskError(
            f"{type(model).__name__} is an encoder with a decoder, and llmask.generate takes causal models",
            help="pass llmask.integrations.transformers.GrammarLogitsProcessor to its generate",
        )
    return "transformers"


def _check_list(options: Mapping[str, Any], name: str, what: str) -> None:
    """Refuse an option that is no list of what can be called."""
    given = options.get(name)
    if given is None:
        return
    how = f"put it into a list: {name}=[...]; llmask.generate adds its own"
    check_type(given, (list, tuple), f"{name} is a list of {what}", how)
    for number, one in enumerate(given):
        if not callable(one):
            raise LlmaskError(
                f"{name} is a list of {what}, and {type(one).__name__} cannot be called",
                where=f"{name}[{number}]",
                help="each is called with the token ids and the scores",
            )


def _is_chat(prompt: Any) -> bool:
    return isinstance(prompt, (list, tuple)) and bool(prompt) and all(isinstance(part, Mapping) for part in prompt)


def compiler_for(source: Any, n_tokens: int, eos: tuple[int, ...] | None = None) -> Compiler:
    """The compiler for a tokenizer of transformers with `n_tokens` tokens, one of ours, or that of a model file.

    `eos` are the ids that end a sequence of the first; None: the ids that it declares.
    """
    return _compiler_for(source, n_tokens, eos, getattr(source, "eos_token_id", None))


@lru_cache(maxsize=4)
def _compiler_for(source: Any, n_tokens: int, eos: tuple[int, ...] | None, declared: int | None) -> Compiler:
    """As `compiler_for`; what a tokenizer declares may be set anew, as its tokens may grow."""
    if isinstance(source, str):
        source = Tokenizer.from_gguf(source)
    tokenizer = source if isinstance(source, Tokenizer) else Tokenizer.from_huggingface(source, eos)
    return Compiler(tokenizer, warm="documents")


# --- values


def _reader(type_or_schema: Any) -> Callable[[str], Any]:
    """What makes a value of the text."""
    if isinstance(type_or_schema, CompiledGrammar):
        return str
    if isinstance(type_or_schema, (bool, Mapping, str, bytes, bytearray)):
        return json.loads
    return reader_of(type_or_schema)


def _text(grammar: CompiledGrammar, ids: list[int]) -> str:
    """The text of tokens, if the grammar has it as a whole."""
    matcher = grammar.matcher(on_limit="finish")
    n_tokens = matcher.try_accept_tokens(ids)
    text = matcher.text().decode("utf-8", "replace")
    if n_tokens < len(ids) or not matcher.is_accepting():
        raise LlmaskError(
            f"the text was cut off after {n_tokens} tokens: {text[-80:]!r}",
            help="raise max_tokens, and leave out what stops the model elsewhere",
        )
    return text


# --- frameworks


def _write_with_transformers(
    model: Any,
    tokenizer: Any,
    grammar: CompiledGrammar,
    prompts: list[Any],
    see: See | None,
    max_tokens: int,
    options: dict[str, Any],
) -> list[list[int]]:
    """The tokens after each prompt; prompts are padded on the left."""
    import torch

    from llmask.samplers.transformers import GrammarLogitsProcessor

    eos_ids = list(grammar.tokenizer.eos_ids)
    # an empty prompt begins with a token, as a model continues at least one
    starts = [tokenizer.bos_token_id, tokenizer.eos_token_id, eos_ids[0]]
    start = next(token for token in starts if token is not None)
    rows = [_prompt_ids(tokenizer, prompt) or [start] for prompt in prompts]
    pad_id = options.pop("pad_token_id", None)
    if pad_id is None:
        pad_id = eos_ids[0] if tokenizer.pad_token_id is None else tokenizer.pad_token_id
    if not isinstance(pad_id, int) or pad_id < 0:
        raise LlmaskError(
            f"pad_token_id is a token id, not {pad_id!r}", help="leave it out to take the tokenizer's own"
        )
    width = max(map(len, rows))
    ids = torch.tensor([[pad_id] * (width - len(row)) + row for row in rows], device=model.device)
    is_token = torch.tensor([[0] * (width - len(row)) + [1] * len(row) for row in rows], device=model.device)
    context = getattr(model.config, "max_position_embeddings", None) or math.inf
    most = max(1, int(min(max_tokens, context - width)))
    criteria = list(options.pop("stopping_criteria", None) or ())
    if see is not None:
        if (_setting(model, options, "num_beams") or 1) > 1:
            raise LlmaskError(
                "on_value or on_event with beams: no text is certain before the end", help="leave one of them out"
            )

        def look(written: Any, scores: Any, **_: Any) -> Any:
            for number, row in enumerate(written[:, width:].tolist()):
                see(number, row)
            return torch.zeros(len(written), dtype=torch.bool, device=written.device)

        criteria.append(look)
    if _setting(model, options, "stop_strings"):
        options = {"tokenizer": tokenizer, **options}
    processor = GrammarLogitsProcessor(grammar, width, most if grammar.takes_budget else math.inf)
    criteria.append(processor.read_ahead)
    seed = options.pop("seed", None)
    if seed is not None and type(seed) is not int:
        raise LlmaskError(f"seed is an integer, not {seed!r}", help="leave it out for other values at each call")
    devices = [model.device] if model.device.type == "cuda" else []
    try:
        with torch.random.fork_rng(devices, enabled=seed is not None):
            if seed is not None:
                torch.manual_seed(seed)
            output = model.generate(
                input_ids=ids,
                attention_mask=is_token,
                max_new_tokens=most,
                logits_processor=[*(options.pop("logits_processor", None) or ()), processor],
                stopping_criteria=criteria,
                pad_token_id=pad_id,
                return_dict_in_generate=False,  # whatever the model's own settings say
                **{"eos_token_id": eos_ids, **options},
            )
    except BudgetError as error:
        if most == max_tokens:
            raise
        raise BudgetError(
            f"the prompt of {width} tokens leaves {max(0, context - width)} of the model's context of {context}, and "
            f"the shortest document found takes {error.least}",
            help="shorten the prompt, or what is padded to the longest one of the list",
            least=error.least,
        ) from error
    # rows that something else ended are padded, too
    ends = [*eos_ids, pad_id] if pad_id in tokenizer.all_special_ids else eos_ids
    return [until_end(row, ends) for row in output[:, width:].tolist()]


def _setting(model: Any, options: Mapping[str, Any], name: str) -> Any:
    """What `model.generate` will use: the option, that of a `generation_config`, or the model's own."""
    configs = (options.get("generation_config"), getattr(model, "generation_config", None))
    given = [options.get(name), *(getattr(config, name, None) for config in configs)]
    return next((value for value in given if value is not None), None)


def _prompt_ids(tokenizer: Any, prompt: Any) -> list[int]:
    """The tokens of a text, or of a chat in the model's template."""
    is_text = isinstance(prompt, str)
    if not is_text and tokenizer.chat_template is None:
        raise LlmaskError(
            "the tokenizer has no chat template, as the model was not trained for chats",
            help="give the prompt as a text, or set tokenizer.chat_template",
        )
    try:
        if not is_text:
            prompt = tokenizer.apply_chat_template(list(prompt), tokenize=False, add_generation_prompt=True)
        return list(tokenizer(prompt, add_special_tokens=is_text).input_ids)
    except Exception as error:  # code of the template's own runs in there
        reason = str(error).strip().partition("\n")[0]
        raise LlmaskError(
            f"the tokenizer takes no such {'text' if is_text else 'chat'}: {reason}",
            help="it is not Unicode: a surrogate is half a character"
            if is_text
            else "give messages as the model's chat template takes them, or the whole prompt as a text",
        ) from error


def _write_with_llama(
    model: Any,
    tokenizer: Any,
    grammar: CompiledGrammar,
    prompts: list[Any],
    see: See | None,
    max_tokens: int,
    options: dict[str, Any],
) -> list[list[int]]:
    """The tokens after each prompt."""
    from llama_cpp import LogitsProcessorList

    rows = []
    others = options.pop("logits_processor", None) or ()
    for number, prompt in enumerate(prompts):
        written = _LlamaText(grammar, max_tokens, model.n_ctx(), number, see)
        run = model.create_chat_completion
        if isinstance(prompt, str):
            run = model.create_completion
            start = model.token_eos() if model.token_bos() < 0 else model.token_bos()
            prompt = prompt or [start]  # of an empty prompt it would count as written
        answer = run(prompt, max_tokens=max_tokens, logits_processor=LogitsProcessorList([*others, written]), **options)
        rows.append(written.finish(answer["choices"][0]["finish_reason"]))
    return rows


class _LlamaText:
    """A logits processor that keeps what is written, as texts of llama-cpp-python may lack bytes; for one prompt.

    How long the prompt is, and so how much of the context is left, is known at the first call.
    """

    def __init__(self, grammar: CompiledGrammar, max_tokens: int, n_context: int, number: int, see: See | None) -> None:
        self._grammar = grammar
        self._max_tokens = max_tokens
        self._n_context = n_context
        self._number = number
        self._see = see
        self._start: int | None = None
        self._ids: list[int] = []

    def __call__(self, ids: npt.NDArray[np.intc], scores: npt.NDArray[np.single]) -> npt.NDArray[np.single]:
        from llmask.samplers.llama_cpp import GrammarLogitsProcessor

        if self._start is None:
            self._start = len(ids)
            most = min(self._max_tokens, self._n_context - len(ids))
            self._processor = GrammarLogitsProcessor(
                self._grammar, max_tokens=most if self._grammar.takes_budget else math.inf
            )
        self._ids = ids[self._start :].tolist()
        try:
            if self._processor.error is None and self._see is not None:
                self._see(self._number, self._ids)
        except BaseException as error:  # the callback drops what is raised; the processor ends the text
            self._processor.error = error
        return self._processor(ids, scores)

    def finish(self, reason: str) -> list[int]:
        """The tokens, if there was no failure."""
        self._processor.raise_if_failed()
        if reason == "length":
            raise LlmaskError(
                f"the text was cut off after {len(self._ids) + 1} tokens", help="raise max_tokens, or the model's n_ctx"
            )
        return self._ids
