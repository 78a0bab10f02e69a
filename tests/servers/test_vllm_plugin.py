"""The plug-in in a real vLLM: what it changes, what it leaves alone, and what bad requests are told."""

from __future__ import annotations

import logging
import re
import warnings
from importlib.metadata import entry_points
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import llmask.integrations.vllm as integration
from llmask.integrations.vllm import plugin

from .vllm_world import World, make_tokenizer, model_config


@pytest.fixture
def world(monkeypatch: Any) -> World:
    return World(monkeypatch)


def refusal(world: World, **outputs: Any) -> str:
    from vllm.exceptions import VLLMValidationError

    with pytest.raises(VLLMValidationError) as caught:
        world.judge(**outputs)
    return str(caught.value)


def test_registering_again_changes_nothing(world: World) -> None:
    from vllm.sampling_params import SamplingParams
    from vllm.v1.structured_output import StructuredOutputManager

    before = SamplingParams._validate_structured_outputs, StructuredOutputManager.grammar_init
    integration.register()
    assert before == (SamplingParams._validate_structured_outputs, StructuredOutputManager.grammar_init)


def test_the_config_takes_one_more_name() -> None:
    from vllm.config import StructuredOutputsConfig

    integration.register()
    assert StructuredOutputsConfig(backend="llmask", disable_any_whitespace=True).disable_any_whitespace
    for wrong in (
        {"backend": "llmusk"},
        {"backend": "outlines", "disable_any_whitespace": True},
        {"backend": "llmask", "disable_additional_properties": True},
    ):
        with pytest.raises(ValueError, match="backend"):
            StructuredOutputsConfig(**wrong)


def test_classes_are_those_that_vllm_asks_for() -> None:
    from vllm.v1.structured_output.backend_types import StructuredOutputBackend, StructuredOutputGrammar

    integration.register()
    assert issubclass(integration.Backend, StructuredOutputBackend)
    assert issubclass(integration.Grammar, StructuredOutputGrammar)
    for theirs, ours in (
        (StructuredOutputBackend, integration.Backend),
        (StructuredOutputGrammar, integration.Grammar),
    ):
        assert not [name for name in theirs.__abstractmethods__ if not callable(getattr(ours, name, None))]


@pytest.mark.parametrize(
    ("outputs", "expected"),
    [
        ({"json": {"properties": {"a": {"type": "strin"}}}}, "#/properties/a/type"),
        ({"json": '{"type": '}, "JSON"),
        ({"json": ""}, "JSON"),
        ({"json": {"type": "string", "minLength": 3, "maxLength": 2}}, "no document fulfils"),
        ({"regex": "a("}, "pattern"),
        ({"choice": []}, "nothing to choose"),
        ({"grammar": 'root ::= "a" | b'}, "read as EBNF"),
        ({"grammar": " "}, "defines nothing"),
        ({"structural_tag": "{}"}, "structural tag"),
        ({"json_object": False}, "json_object"),
        ({"json": {"type": "object"}, "whitespace_pattern": "[ "}, "the option whitespace"),
        ({"json": {"type": "object"}, "disable_additional_properties": True}, "additionalProperties"),
    ],
)
def test_what_cannot_be_compiled_is_an_error_of_the_request(world: World, outputs: Any, expected: str) -> None:
    assert expected in refusal(world, **outputs)


def test_a_request_for_white_space_is_not_lost_in_silence(monkeypatch: Any) -> None:
    world = World(monkeypatch, disable_any_whitespace=True)
    world.add("one", json={"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": False})
    assert world.write("one", "{")
    assert world.texts(world.masks()[0]) == {'"', '"a', "}"}
    world.judge(json_object=True, disable_any_whitespace=True)
    world = World(monkeypatch)
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": False}
    world.add("compact", json=schema, disable_any_whitespace=True)
    world.add("lines", json=schema, whitespace_pattern="[\n]?")
    world.add("free", json=schema)
    assert world.write("compact", "{")
    assert world.write("lines", "{\n")
    assert world.write("free", "{ ")
    compact, lines, free = world.masks()
    assert world.texts(compact) == world.texts(lines) == {'"', '"a', "}"}
    assert world.texts(free) > world.texts(compact)


def test_a_request_cannot_choose_another_backend(world: World) -> None:
    from vllm.exceptions import VLLMValidationError

    parameters = world.judge(json_object=True)
    assert parameters.structured_outputs._backend == "llmask"
    parameters.structured_outputs._backend = "guidance"
    arguments = world.config.model_config, world.config.structured_outputs_config, world.tokenizer
    with pytest.raises(VLLMValidationError, match="guidance"):
        parameters._validate_structured_outputs(*arguments)


def test_a_tokenizer_that_cannot_be_read_is_an_error_of_the_request(world: World) -> None:
    world.tokenizer = SimpleNamespace(eos_token_id=1, get_vocab=dict)
    assert "cannot read this tokenizer, a SimpleNamespace" in refusal(world, json_object=True)
    world.tokenizer = None
    assert "skip_tokenizer_init" in refusal(world, json_object=True)


def test_other_backends_are_vllms_own_affair(monkeypatch: Any) -> None:
    world = World(monkeypatch, backend="guidance")
    parameters = world.judge(json={"type": "object"})
    assert parameters.structured_outputs._backend == "guidance"
    assert "strin" in refusal(world, json={"type": "strin"})
    world.add("one", choice=["abc"])
    assert world.texts(world.masks()[0]) == {"abc"}  # llguidance writes choices as the tokenizer does
    assert type(world.manager.backend).__name__ == "GuidanceBackend"


def test_ends_of_sequence_are_those_at_which_vllm_stops(world: World) -> None:
    """Where vLLM does not stop at a base model's end of text, that must end no grammar: what follows would be free."""
    stop, end = world.ids("<|stop|><|end|>")
    config = model_config(try_get_generation_config=lambda: {"eos_token_id": [stop, 5000]})
    compiler = integration.plugin.compiler_for(world.tokenizer, config)
    assert set(compiler.tokenizer.eos_ids) == {stop, end}
    assert compiler is not integration.plugin.compiler_for(world.tokenizer, world.config.model_config)
    assert compiler is integration.plugin.compiler_for(make_tokenizer(), config)  # the same tokens


def test_installing_it_adds_one_plugin_and_no_logits_processor() -> None:
    """One of the other interface in the group of processors would keep every vLLM from starting."""
    mine = [point.name for point in entry_points(group="vllm.logits_processors") if "llmask" in point.value]
    assert mine == []
    found = [point for point in entry_points(group="vllm.general_plugins") if point.name == "llmask"]
    if not found:
        pytest.skip("llmask is not installed, only on the path")
    assert found[0].load() is integration.register


class TestOtherVersions:
    """A vLLM that is not known is left as it is."""

    @pytest.fixture
    def fresh(self, monkeypatch: Any) -> Any:
        """VLLM as it was before it was registered, and what is logged."""
        from vllm.sampling_params import SamplingParams
        from vllm.v1.structured_output import StructuredOutputManager

        integration.register()
        for owner, name in (
            (SamplingParams, "_validate_structured_outputs"),
            (StructuredOutputManager, "grammar_init"),
            (StructuredOutputManager, "_create_grammar"),
            (StructuredOutputManager, "grammar_bitmask"),
        ):
            monkeypatch.setattr(owner, name, getattr(owner, name).__wrapped__)
        return SamplingParams

    def test_one_that_looks_the_same_is_served_with_a_warning(self, fresh: Any, monkeypatch: Any, caplog: Any) -> None:
        monkeypatch.setattr("vllm.__version__", "0.99.0")
        with caplog.at_level(logging.WARNING):
            integration.register()
        assert hasattr(fresh._validate_structured_outputs, plugin.MARK)
        assert "not tested with vLLM 0.99.0" in caplog.text

    def test_one_that_looks_different_is_left_alone(self, fresh: Any, monkeypatch: Any, caplog: Any) -> None:
        def another(self: Any, config: Any) -> None: ...

        monkeypatch.setattr(fresh, "_validate_structured_outputs", another)
        integration.register()
        assert fresh._validate_structured_outputs is another
        assert "takes ('self', 'config')" in caplog.text

    def test_rows_are_vllms_own_where_its_call_has_another_form(self, fresh: Any, monkeypatch: Any) -> None:
        from vllm.v1.structured_output import StructuredOutputManager

        def another(self: Any, requests: Any) -> None: ...

        monkeypatch.setattr(StructuredOutputManager, "grammar_bitmask", another)
        integration.register()
        assert StructuredOutputManager.grammar_bitmask is another
        assert hasattr(fresh._validate_structured_outputs, plugin.MARK)

    def test_what_fails_is_logged(self, fresh: Any, monkeypatch: Any, caplog: Any) -> None:
        monkeypatch.setattr(plugin, "widen_config", lambda config: 1 / 0)
        before = fresh._validate_structured_outputs
        integration.register()
        assert fresh._validate_structured_outputs is before
        assert "ZeroDivisionError" in caplog.text


def test_the_code_of_the_page_imports_what_is_there(project_root: Path) -> None:
    """It is guarded for the main process: all but the engine runs."""
    text = (project_root / "docs" / "integrations" / "vllm.md").read_text("utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for block in blocks:
            exec(compile(block, "docs/integrations/vllm.md", "exec"), {"__name__": "page"})
