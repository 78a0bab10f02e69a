"""What a request asks for, in any of vLLM's six kinds, as a compiled grammar and as a matcher.

The compiler of a process is made once for vLLM's tokenizer, with the model's ends of sequence and number of logits.
Ends of sequence are the tokens at which vLLM stops, and no others: a token that only looks like one would end the
grammar, and what vLLM lets the model write after it would be free. vLLM stops at the ends of the tokenizer and of the
model's generation_config.json; ids that a request names itself are its matcher's.

In: a kind and a text, as vLLM hands them to a backend, or the options of a processor. Out: grammars, matchers.
Cost: that of compiling, or of finding the grammar in the compiler's cache.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from llmask.compiling.compiled_grammar import CompiledGrammar
from llmask.compiling.compiler import Compiler
from llmask.errors import GrammarError, LlmaskError, VocabularyError
from llmask.integrations.limits import (
    check_least_length,
    check_room,
    compile_text,
    compiler_of_server,
    read_tokenizer,
    takes_budget,
    wants_budget,
)
from llmask.matching.matcher import Matcher
from llmask.tokenizer.tokenizer import Tokenizer

# By tokenizer (its id: the value keeps it alive), vocabulary size and ends; filled without a lock, so that two threads
# may both make the first one; one of the two is kept.
_known: dict[tuple[int, int, tuple[int, ...]], tuple[Any, Compiler]] = {}
KINDS = ("json", "json_object", "regex", "grammar", "choice", "structural_tag")


def compiler_for(tokenizer: Any, model_config: Any) -> Compiler:
    """The compiler of this process for a tokenizer of vLLM.

    Parameters
    ----------
    tokenizer : what vLLM made for the model.
    model_config : a `vllm.config.ModelConfig`: it has the number of logits, and the ends of sequence.

    Raises
    ------
    VocabularyError : the tokenizer is of a kind that cannot be read.
    LlmaskError : the environment names no limits.
    """
    ends = ends_of(tokenizer, model_config)
    key = id(tokenizer), model_config.get_vocab_size(), ends
    found = _known.get(key)
    if found is None:
        made = tokenizer_of(tokenizer, key[1], ends)
        same = (known for _, known in list(_known.values()) if known.tokenizer.digest == made.digest)
        found = _known.setdefault(key, (tokenizer, next(same, None) or compiler_of_server(made)))
    return found[1]


def compiler_of_worker(vllm_config: Any) -> Compiler:
    """The compiler of a worker, which is given no tokenizer and asks vLLM for the one of its model.

    Raises
    ------
    VocabularyError, LlmaskError : as `compiler_for` has them.
    """
    from vllm.tokenizers import cached_tokenizer_from_config

    tokenizer = cached_tokenizer_from_config(model_config=vllm_config.model_config)
    return compiler_for(tokenizer, vllm_config.model_config)


def ends_of(tokenizer: Any, model_config: Any) -> tuple[int, ...]:
    """The ids at which vLLM ends every sequence, sorted."""
    read = getattr(model_config, "try_get_generation_config", None)
    declared = (read() or {}).get("eos_token_id") if read is not None else None
    ids = [getattr(tokenizer, "eos_token_id", None), *(declared if isinstance(declared, list) else [declared])]
    return tuple(sorted({id for id in ids if type(id) is int and id < model_config.get_vocab_size()}))


def tokenizer_of(tokenizer: Any, n_logits: int, ends: Iterable[int]) -> Tokenizer:
    """Llmask's tokenizer for one of vLLM's, as wide as the model's logits, or wider where the tokenizer is.

    Raises
    ------
    VocabularyError : `read_tokenizer` does not read it, and it is not of Mistral's kind "tekken".
    """
    eos = list(ends) or None
    if getattr(tokenizer, "is_tekken", False):
        return _of_tekken(tokenizer.tokenizer, n_logits, eos)
    try:
        return read_tokenizer(tokenizer, eos, n_logits)
    except (VocabularyError, AttributeError, TypeError, NotImplementedError) as error:
        why = error.message if isinstance(error, LlmaskError) else f"{type(error).__name__}: {error}"
        raise VocabularyError(
            f"llmask cannot read this tokenizer, a {type(tokenizer).__name__}: {why}",
            help='use a fast tokenizer (tokenizer_mode="hf"), or another backend',
        ) from None


def _of_tekken(tekken: Any, n_logits: int, eos: list[int] | None) -> Tokenizer:
    """Of mistral_common's `Tekkenizer`: special tokens first, then bytes in the order of their merges.

    The vocabulary has no encoder that llmask could use, so nothing is forced.
    """
    special = range(tekken.num_special_tokens)
    tokens = [
        tekken.id_to_piece(id).encode() if id in special else tekken.id_to_byte_piece(id)
        for id in range(tekken.n_words)
    ]
    return Tokenizer.from_bytes(tokens, [tekken.eos_id] if eos is None else eos, special, max(n_logits, len(tokens)))


def compile_request(compiler: Compiler, kind: str, spec: Any, whitespace: str = "flexible") -> CompiledGrammar:
    """Compile what a request asks for.

    Parameters
    ----------
    compiler : of the model's tokenizer.
    kind : one of `KINDS`; vLLM's `StructuredOutputOptions` in lower case.
    spec : what the kind needs, as vLLM has it: JSON as text or as data; of "json_object" nothing.
    whitespace : of JSON, see `Compiler.json_schema`.

    Raises
    ------
    GrammarError, UnsupportedSchema, UnsatisfiableSchema, LimitExceeded : as the compiler has them.
    """
    if kind == "json":
        return compiler.json_schema(spec, whitespace=whitespace)
    if kind == "json_object":
        return compiler.json_object(whitespace=whitespace)
    if kind == "regex":
        return compiler.regex(spec)
    if kind == "choice":
        return compiler.choice(_choices(spec))
    if kind == "structural_tag":
        return compiler.structural_tag(spec)
    if kind != "grammar":
        raise GrammarError(f'there is no request of kind "{kind}"', help=f"the kinds are {', '.join(KINDS)}")
    return compile_text(compiler, spec)


def compile_outputs(compiler: Compiler, outputs: Any, config: Any) -> CompiledGrammar:
    """Compile what a request's `StructuredOutputsParams` ask for, with their white space or the engine's.

    Raises
    ------
    GrammarError, UnsupportedSchema, UnsatisfiableSchema, LimitExceeded : as the compiler has them.
    """
    from vllm.v1.structured_output.request import get_structured_output_key

    kind, spec = get_structured_output_key(outputs)
    is_compact = outputs.disable_any_whitespace or config.disable_any_whitespace
    whitespace = outputs.whitespace_pattern or ("compact" if is_compact else "flexible")
    return compile_request(compiler, kind.name.lower(), spec, whitespace)


def room_of(parameters: Any) -> int | None:
    """The tokens within which a request's document is to be complete; None: it has no budget.

    None are kept, either, where another engine goes on with the text (`do_remote_decode`).

    Raises
    ------
    GrammarError : the option `budget` among its `extra_args` is neither true nor false.
    """
    options = parameters.extra_args or {}
    transfer = options.get("kv_transfer_params") or {}
    if not wants_budget(options) or transfer.get("do_remote_decode"):
        return None
    most: int | None = parameters.max_tokens
    return most


def check_tokens(matcher: Matcher, parameters: Any) -> None:
    """Refuse a request whose numbers of tokens leave its grammar no document.

    Raises
    ------
    BudgetError : `max_tokens` is less than every document found takes.
    GrammarError : `min_tokens` forbids the end where nothing else may come; see also `room_of`.
    """
    if takes_budget(matcher):
        check_room(matcher, room_of(parameters), "max_tokens")
        check_least_length(matcher, parameters.min_tokens or 0, "min_tokens")


def _choices(spec: Any) -> Any:
    """The texts of a choice; vLLM hands a backend a list in JSON."""
    if not isinstance(spec, str):
        return spec
    try:
        return json.loads(spec)
    except (ValueError, RecursionError):
        raise GrammarError("choices are a list in JSON", help='for example ["yes", "no"]') from None


def matcher_of(grammar: CompiledGrammar, stop_token_ids: Iterable[int] | None = None) -> Matcher:
    """A matcher that ends where vLLM does, and that ends validly where a mask meets a limit.

    Parameters
    ----------
    grammar : of a request.
    stop_token_ids : all ids at which vLLM ends it, `SamplingParams.all_stop_token_ids`.

    Raises
    ------
    LlmaskError : the grammar has `max_tokens`, which goes with no stop tokens of a request.
    """
    stops = sorted(set(stop_token_ids or ()) - set(grammar.tokenizer.eos_ids))
    return grammar.matcher(on_limit="finish", stop_tokens=stops or None)


def asked_for(options: Any) -> tuple[str, Any]:
    """The kind and text that options name, the same as `StructuredOutputsParams` has: exactly one of `KINDS`.

    Raises
    ------
    GrammarError : they are no dict with one of these keys.
    """
    if not isinstance(options, Mapping) or len(options) != 1 or next(iter(options)) not in KINDS:
        raise GrammarError(
            f'"llmask" among extra_args is a dict with one key, not {_shown(options)}',
            help=f"the key is one of {', '.join(KINDS)}",
        )
    kind, spec = next(iter(options.items()))
    if kind == "json_object" and spec is not True:
        raise GrammarError(f"json_object is True, not {_shown(spec)}", help="or leave llmask out")
    return kind, spec


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 100 else text[:97] + "..."
