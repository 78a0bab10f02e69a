"""The plug-in by parts, on stand-ins for vLLM; tests/servers/test_vllm_plugin.py has the real one."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import llmask.integrations.vllm as integration
from llmask import Compiler
from llmask.integrations.vllm import plugin
from llmask.integrations.vllm.plugin import judged_here, with_backend

END = 256  # of byte_tokenizer


class ValidationError(Exception):
    def __init__(self, message: str, *, parameter: str | None = None) -> None:
        super().__init__(message)
        self.parameter = parameter


@pytest.fixture
def judge(byte_tokenizer: Any, monkeypatch: Any) -> Any:
    """A judge, and what went to vLLM's own function."""
    compiler = Compiler(byte_tokenizer)
    exceptions, request = ModuleType("vllm.exceptions"), ModuleType("vllm.v1.structured_output.request")
    exceptions.VLLMValidationError = ValidationError  # type: ignore[attr-defined]
    request.get_structured_output_key = lambda outputs: outputs.key  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "vllm.exceptions", exceptions)
    monkeypatch.setitem(sys.modules, "vllm.v1.structured_output.request", request)
    monkeypatch.setattr(plugin, "compiler_for", lambda tokenizer, model_config: compiler)
    theirs: list[Any] = []
    judging = judged_here(lambda self, model_config, structured_outputs_config, tokenizer: theirs.append(self))

    def judged(
        wanted: Any,
        backend: str = "llmask",
        extra_args: Any = None,
        tokenizer: Any = 1,
        numbers: tuple[int | None, int] = (64, 0),
        **model: Any,
    ) -> bool:
        """Whether it was judged here; `numbers`: max_tokens and min_tokens."""
        parameters = SimpleNamespace(
            structured_outputs=wanted,
            extra_args=extra_args,
            all_stop_token_ids=set(),
            stop_token_ids=None,
            max_tokens=numbers[0],
            min_tokens=numbers[1],
        )
        config = SimpleNamespace(backend=backend, disable_any_whitespace=False)
        judging(parameters, SimpleNamespace(**model), config, tokenizer)
        return parameters not in theirs

    return judged


def wanted(kind: str, spec: Any, **options: Any) -> Any:
    key = SimpleNamespace(name=kind), spec
    whitespace = {"disable_any_whitespace": False, "whitespace_pattern": None, "disable_additional_properties": False}
    return SimpleNamespace(**{"_backend": None, "json_object": None, "key": key, **whitespace, **options})


def test_requests_for_llmask_are_compiled_and_marked(judge: Any) -> None:
    request = wanted("REGEX", "a+")
    assert judge(request)
    assert request._backend == "llmask"
    assert judge(request)  # parameters may be used again


def test_others_go_to_vllm(judge: Any) -> None:
    assert not judge(wanted("REGEX", "("), backend="auto")
    assert not judge(None)


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (wanted("REGEX", "("), "pattern"),
        (wanted("JSON", '{"properties": {"a": {"minLength": -1}}}'), "#/properties/a/minLength"),
        (wanted("JSON_OBJECT", "", json_object=False), "json_object"),
        (wanted("REGEX", "a", _backend="xgrammar"), "cannot choose its backend"),
        (wanted("JSON", "{}", whitespace_pattern="[ "), "the option whitespace"),
        (wanted("REGEX", "a", disable_additional_properties=True), "disable_additional_properties"),
        (wanted("GRAMMAR", 'start: "a'), "read as Lark"),
    ],
)
def test_what_is_refused_says_why(judge: Any, request_: Any, message: str) -> None:
    with pytest.raises(ValidationError) as caught:
        judge(request_)
    assert message in str(caught.value)
    assert caught.value.parameter == "structured_outputs"
    assert request_._backend in (None, "xgrammar")


@pytest.mark.parametrize(
    ("numbers", "options", "message"),
    [
        ((4, 0), None, "max_tokens is 4, and the shortest document found takes 6 tokens(?s:.*)at least 6"),
        ((64, 6), None, "min_tokens is 6, but a document may be complete after 5 tokens"),
        ((64, 0), {"budget": "often"}, "true or false"),
        ((6, 5), None, None),
        ((4, 0), {"budget": False}, None),
        ((4, 0), {"budget": 0}, None),
        ((1, 0), None, None),  # another engine goes on with it
        ((4, 0), {"kv_transfer_params": {"do_remote_decode": True}}, None),
        ((None, 0), None, None),
    ],
)
def test_numbers_of_tokens_leave_room_for_a_document(judge: Any, numbers: Any, options: Any, message: Any) -> None:
    request = wanted("REGEX", "[a-z]{5}")
    if message is None:
        assert judge(request, extra_args=options, numbers=numbers)
        return
    with pytest.raises(ValidationError, match=message):
        judge(request, extra_args=options, numbers=numbers)


def test_a_request_may_go_on_where_nothing_has_to_end(judge: Any) -> None:
    assert judge(wanted("REGEX", "[a-z]*"), numbers=(64, 9))


def test_what_models_and_engines_cannot_do_is_refused(judge: Any) -> None:
    with pytest.raises(ValidationError, match="all tokens at once"):
        judge(wanted("REGEX", "a"), is_diffusion=True)
    with pytest.raises(ValidationError, match="tokenizer"):
        judge(wanted("REGEX", "a"), tokenizer=None)


def test_requests_of_processors_are_judged_whatever_the_backend(judge: Any) -> None:
    assert not judge(None, backend="auto", extra_args={"llmask": {"regex": "a"}})
    for options in ({"regex": "("}, {"regexp": "a"}, None, {"json": {"type": "thing"}}):
        with pytest.raises(ValidationError):
            judge(None, backend="auto", extra_args={"llmask": options})
    assert not judge(None, extra_args={"other": 1})


def test_a_manager_gets_its_backend_with_the_first_request_for_it() -> None:
    seen: list[Any] = []
    init = with_backend(lambda self, request: seen.append((self.backend, request)))
    config = SimpleNamespace(model_config=SimpleNamespace(get_vocab_size=lambda: 300))
    manager = SimpleNamespace(backend=None, vllm_config=config, tokenizer="t")

    def request(backend: str | None) -> Any:
        outputs = None if backend is None else SimpleNamespace(_backend=backend)
        return SimpleNamespace(sampling_params=SimpleNamespace(structured_outputs=outputs))

    init(manager, SimpleNamespace(sampling_params=None))
    init(manager, request(None))
    init(manager, request("xgrammar"))
    assert [backend for backend, _ in seen] == [None, None, None]
    init(manager, request("llmask"))
    made = seen[-1][0]
    assert (made.tokenizer, made.vocab_size, manager.backend_name) == ("t", 300, "llmask")
    init(manager, request("llmask"))
    assert seen[-1][0] is made


def test_without_vllm_registering_says_so_and_goes_on(monkeypatch: Any, caplog: Any) -> None:
    monkeypatch.setitem(sys.modules, "vllm", None)
    with caplog.at_level(logging.ERROR):
        integration.register()
    assert "registering it failed" in caplog.text


def test_names_are_found_late(monkeypatch: Any) -> None:
    assert integration.Backend.__name__ == "Backend"
    assert integration.ForcedTokens.__name__ == "ForcedTokens"
    with pytest.raises(AttributeError, match="V3Processor"):
        integration.V3Processor  # noqa: B018


def test_the_entry_point_is_declared_and_none_for_processors(project_root: Path) -> None:
    text = (project_root / "pyproject.toml").read_text("utf-8")
    assert '[project.entry-points."vllm.general_plugins"]' in text
    assert 'llmask = "llmask.integrations.vllm:register"' in text
    assert 'entry-points."vllm.logits_processors"' not in text
