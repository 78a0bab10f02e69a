"""The plug-in of vLLM: makes "llmask" a backend of structured outputs, in every process of an engine.

vLLM has a closed list of backends and no registry, so some places of it are changed:

    StructuredOutputsConfig                          takes backend="llmask"
    SamplingParams._validate_structured_outputs      compiles what a request for llmask asks for, before it is sent to
                                                     the engine: what cannot be compiled is an error of the request
    StructuredOutputManager.grammar_init             makes the backend for the first request in an engine
    StructuredOutputManager._create_grammar          hands it the request, with its white space and number of tokens
    StructuredOutputManager.grammar_bitmask          writes the rows of a step in one call (`rows_at_once`)

Each of them does for every other backend what it did before. A vLLM that does not ask for llmask is never broken: if
the places are not those that are known (of 0.32 and 0.33, and with a warning of others that have the same), or anything
fails, vLLM is left alone and the log says why. Only `backend="llmask"` is refused then, by vLLM.

In: nothing; vLLM calls `register` by an entry point of group `vllm.general_plugins`. Out: a changed vLLM. Cost: none
beyond importing these modules of vLLM, which every process of an engine does.
"""

from __future__ import annotations

import functools
import inspect
import logging
from collections.abc import Callable
from typing import Any, Literal, get_args

from ...compiling.compiled_grammar import CompiledGrammar
from ...compiling.compiler import Compiler
from ...errors import LlmaskError
from .backend import FORM, Backend, Grammar, rows_at_once
from .drafts import stand_in_front
from .requests import asked_for, check_tokens, compile_outputs, compile_request, compiler_for, matcher_of

NAME = "llmask"
TESTED = ("0.32", "0.33")
VALIDATE = ("self", "model_config", "structured_outputs_config", "tokenizer")
OF_REQUEST = ("self", "request")
CHECK = "_validate_structured_output_config"  # the validator of the config
MARK = "is_of_llmask"  # on a function that has taken the place of one of vLLM's

logger = logging.getLogger(__name__)


def register() -> None:
    """Make "llmask" a backend of the vLLM in this process; called again it does nothing.

    Offline, call it (or `vllm.plugins.load_general_plugins()`) before `vllm.LLM(structured_outputs_config=...)`, which
    reads its arguments before it loads plug-ins.
    """
    try:
        _register()
    except Exception:
        logger.exception("llmask is no backend of this vLLM: registering it failed, and nothing else is changed")


def _register() -> None:
    import vllm
    from vllm.config import StructuredOutputsConfig
    from vllm.sampling_params import SamplingParams
    from vllm.v1.structured_output import StructuredOutputManager, backend_types

    if hasattr(SamplingParams._validate_structured_outputs, MARK):
        return
    unknown = _unknown_places(StructuredOutputsConfig, SamplingParams, StructuredOutputManager)
    version = str(vllm.__version__)
    if unknown:
        logger.error(
            "llmask is no backend of vLLM %s, which it does not know: %s; use one of the versions %s",
            version,
            "; ".join(unknown),
            ", ".join(TESTED),
        )
        return
    if not version.startswith(tuple(f"{known}." for known in TESTED)):
        logger.warning("llmask was not tested with vLLM %s, only with %s", version, ", ".join(TESTED))
    backend_types.StructuredOutputBackend.register(Backend)
    backend_types.StructuredOutputGrammar.register(Grammar)
    widen_config(StructuredOutputsConfig)
    stand_in_front()
    manager: Any = StructuredOutputManager
    manager.grammar_init = with_backend(manager.grammar_init)
    manager._create_grammar = of_request(manager._create_grammar)
    if tuple(inspect.signature(manager.grammar_bitmask).parameters) == FORM:
        manager.grammar_bitmask = rows_at_once(manager.grammar_bitmask)
    parameters: Any = SamplingParams
    parameters._validate_structured_outputs = judged_here(parameters._validate_structured_outputs)


def _unknown_places(config: Any, parameters: Any, manager: Any) -> list[str]:
    """What is not as it has to be in the places that are changed."""
    found = []
    if not get_args(getattr(config, "__annotations__", {}).get("backend")):
        found.append("StructuredOutputsConfig.backend is no list of names")
    for owner, name, expected in (
        (parameters, "_validate_structured_outputs", VALIDATE),
        (manager, "grammar_init", OF_REQUEST),
        (manager, "_create_grammar", OF_REQUEST),
    ):
        function = getattr(owner, name, None)
        names = None if function is None else tuple(inspect.signature(function).parameters)
        if names != expected:
            found.append(f"{owner.__name__}.{name} takes {names}, not {expected}")
    return found


def widen_config(config: Any) -> None:
    """Let a pydantic dataclass with a field `backend` of some names take one more."""
    from pydantic.dataclasses import rebuild_dataclass

    names = get_args(config.__annotations__["backend"])
    if NAME in names:
        return
    more = (*names, NAME)
    widened: Any = Literal[more]
    config.__annotations__["backend"] = widened
    config.__dataclass_fields__["backend"].type = widened
    validator = config.__pydantic_decorators__.model_validators.get(CHECK)
    if validator is not None:
        validator.func = _checked_for_llmask(validator.func)
    rebuild_dataclass(config, force=True)


def _checked_for_llmask(check: Any) -> Any:
    """The config's own check, which knows what each backend has no use for."""

    @functools.wraps(check)
    def checked(self: Any) -> Any:
        if self.backend != NAME:
            return check(self)
        if self.disable_additional_properties:
            raise ValueError("disable_additional_properties is only supported for the guidance backend.")
        return self

    return checked


def with_backend(grammar_init: Any) -> Any:
    """`StructuredOutputManager.grammar_init`, which finds the backend that a request for llmask needs."""

    @functools.wraps(grammar_init)
    def init(self: Any, request: Any) -> None:
        wanted = request.sampling_params and request.sampling_params.structured_outputs
        if self.backend is None and wanted and wanted._backend == NAME:
            self.backend = Backend(self.vllm_config, self.tokenizer, self.vllm_config.model_config.get_vocab_size())
            self.backend_name = NAME
        grammar_init(self, request)

    return init


def of_request(create: Any) -> Any:
    """`StructuredOutputManager._create_grammar`, which shows the backend more than a kind and a text."""

    @functools.wraps(create)
    def created(self: Any, request: Any) -> Any:
        if type(self.backend) is not Backend:
            return create(self, request)
        try:
            return self.backend.grammar_of(request)
        except Exception:  # the scheduler makes it an error of the request
            logger.exception("the grammar of request %s cannot be compiled", request.request_id)
            raise

    return created


def judged_here(validate: Any) -> Any:
    """`SamplingParams._validate_structured_outputs`, which compiles requests for llmask, and those for its processors.

    Requests for other backends go to vLLM's own function.
    """

    @functools.wraps(validate)
    def judge(self: Any, model_config: Any, structured_outputs_config: Any, tokenizer: Any) -> None:
        if self.extra_args and NAME in self.extra_args:
            _refuse_what_fails(lambda: _judge_options(self, model_config, tokenizer))
        wanted = self.structured_outputs
        if wanted is None or structured_outputs_config is None or structured_outputs_config.backend != NAME:
            validate(self, model_config, structured_outputs_config, tokenizer)
            return
        if wanted._backend not in (None, NAME):
            raise _refused(f'a request cannot choose its backend: it has "{wanted._backend}", the engine "{NAME}"')
        if wanted.disable_additional_properties:
            raise _refused('llmask does not take disable_additional_properties: say "additionalProperties": false')
        if getattr(model_config, "is_diffusion", False):
            raise _refused("structured outputs are not for models that write all tokens at once")
        _refuse_what_fails(lambda: _judge(self, model_config, structured_outputs_config, tokenizer))
        wanted._backend = NAME

    setattr(judge, MARK, True)
    return judge


def _judge(parameters: Any, model_config: Any, config: Any, tokenizer: Any) -> None:
    """Compile what a request for the backend asks for, as the engine will."""
    wanted = parameters.structured_outputs
    if wanted.json_object is False:
        raise LlmaskError("json_object is True, or left out", help="leave it out")
    _check(compile_outputs(_compiler(tokenizer, model_config), wanted, config), parameters)


def _judge_options(parameters: Any, model_config: Any, tokenizer: Any) -> None:
    """Compile what a request asks the processors for."""
    kind, spec = asked_for(parameters.extra_args[NAME])
    _check(compile_request(_compiler(tokenizer, model_config), kind, spec), parameters)


def _compiler(tokenizer: Any, model_config: Any) -> Compiler:
    if tokenizer is None:
        raise LlmaskError("structured outputs need a tokenizer", help="do without skip_tokenizer_init")
    return compiler_for(tokenizer, model_config)


def _check(grammar: CompiledGrammar, parameters: Any) -> None:
    """Refuse what the parameters of a request do not go with."""
    stops = {*parameters.all_stop_token_ids, *(parameters.stop_token_ids or ())}
    check_tokens(matcher_of(grammar, stops), parameters)


def _refuse_what_fails(compile_now: Callable[[], None]) -> None:
    """Make an error of llmask one of the request: HTTP 400, with the place in the schema or grammar."""
    try:
        compile_now()
    except (LlmaskError, ValueError, TypeError) as error:
        raise _refused(str(error)) from error


def _refused(message: str) -> Exception:
    from vllm.exceptions import VLLMValidationError

    error: Exception = VLLMValidationError(message, parameter="structured_outputs")
    return error
