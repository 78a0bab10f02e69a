"""The plug-in of vLLM: makes "llmask" a backend of structured outputs, in every process of an engine.

vLLM has a closed list of backends and no registry, so three places of it are changed:

    StructuredOutputsConfig                          takes backend="llmask"
    SamplingParams._validate_structured_outputs      compiles what a request for llmask asks for, before it is sent to
                                                     the engine: what cannot be compiled is an error of the request
    StructuredOutputManager.grammar_init             makes the backend for the first request in an engine

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

from ...errors import LlmaskError
from .backend import Backend, Grammar
from .compilers import compiler_for
from .requests import asked_for, compile_request, matcher_of

NAME = "llmask"
TESTED = ("0.32", "0.33")
VALIDATE = ("self", "model_config", "structured_outputs_config", "tokenizer")
INIT = ("self", "request")
CHECK = "_validate_structured_output_config"  # the validator of the config
REQUEST_OPTIONS = (
    "whitespace_pattern",
    "disable_any_whitespace",
    "disable_additional_properties",
)  # no backend sees them
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
    manager: Any = StructuredOutputManager
    manager.grammar_init = with_backend(manager.grammar_init)
    parameters: Any = SamplingParams
    parameters._validate_structured_outputs = judged_here(parameters._validate_structured_outputs)


def _unknown_places(config: Any, parameters: Any, manager: Any) -> list[str]:
    """What is not as it has to be in the places that are changed."""
    found = []
    if not get_args(getattr(config, "__annotations__", {}).get("backend")):
        found.append("StructuredOutputsConfig.backend is no list of names")
    for owner, name, expected in (
        (parameters, "_validate_structured_outputs", VALIDATE),
        (manager, "grammar_init", INIT),
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


def judged_here(validate: Any) -> Any:
    """`SamplingParams._validate_structured_outputs`, which compiles requests for llmask, and those for its processors.

    Requests for other backends go to vLLM's own function.
    """

    @functools.wraps(validate)
    def judge(self: Any, model_config: Any, structured_outputs_config: Any, tokenizer: Any) -> None:
        if self.extra_args and NAME in self.extra_args:
            _refuse_what_fails(lambda: _compile(self, *asked_for(self.extra_args[NAME]), model_config, tokenizer))
        wanted = self.structured_outputs
        if wanted is None or structured_outputs_config is None or structured_outputs_config.backend != NAME:
            validate(self, model_config, structured_outputs_config, tokenizer)
            return
        if wanted._backend not in (None, NAME):
            raise _refused(f'a request cannot choose its backend: it has "{wanted._backend}", the engine "{NAME}"')
        for option in REQUEST_OPTIONS:
            if getattr(wanted, option, None) not in (None, False, getattr(structured_outputs_config, option, None)):
                raise _refused(f"llmask does not take {option} from a request; the engine has disable_any_whitespace")
        if getattr(model_config, "is_diffusion", False):
            raise _refused("structured outputs are not for models that write all tokens at once")
        _refuse_what_fails(lambda: _judge(self, model_config, structured_outputs_config, tokenizer))
        wanted._backend = NAME

    setattr(judge, MARK, True)
    return judge


def _judge(parameters: Any, model_config: Any, config: Any, tokenizer: Any) -> None:
    """Compile what a request for the backend asks for, as the engine will."""
    from vllm.v1.structured_output.request import get_structured_output_key

    wanted = parameters.structured_outputs
    if wanted.json_object is False:
        raise LlmaskError("json_object is True, or left out", help="leave it out")
    kind, spec = get_structured_output_key(wanted)
    _compile(parameters, kind.name.lower(), spec, model_config, tokenizer, config.disable_any_whitespace)


def _compile(
    parameters: Any, kind: str, spec: Any, model_config: Any, tokenizer: Any, is_compact: bool = False
) -> None:
    if tokenizer is None:
        raise LlmaskError("structured outputs need a tokenizer", help="do without skip_tokenizer_init")
    grammar = compile_request(compiler_for(tokenizer, model_config), kind, spec, is_compact)
    matcher_of(grammar, {*parameters.all_stop_token_ids, *(parameters.stop_token_ids or ())})


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
