"""What a request asks for, in any of vLLM's six kinds, as a compiled grammar and as a matcher.

In: a kind and a text, as vLLM hands them to a backend, or the options of a processor. Out: grammars, matchers.
Cost: that of compiling, or of finding the grammar in the compiler's cache.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from ...compiling.compiled_grammar import CompiledGrammar
from ...compiling.compiler import Compiler
from ...errors import GrammarError
from ...matching.matcher import Matcher
from ..notations import compile_text
from ..room import check_least_length, check_room, takes_budget, wants_budget

KINDS = ("json", "json_object", "regex", "grammar", "choice", "structural_tag")


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
