"""What people do with a model, with one that means what it writes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

import llmask
from bench.quality.reading import Reading
from llmask.cli import main
from llmask.cli.framework_models import PACKAGED

ROOT = Path(__file__).resolve().parents[2]
PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 40},
        "age": {"type": "integer", "minimum": 0, "maximum": 120},
        "town": {"type": "string", "maxLength": 30},
    },
    "required": ["name", "age", "town"],
    "additionalProperties": False,
}
NAMES = ("Ada Lovelace", "Tomasz Brellin", "Zoë Müller", "Maria Santos", "John O'Neill", "Wei Zhang")
MORE_NAMES = """
Anna Berg, Luis Ortega, Priya Nair, Emma Clark, Omar Haddad, Sven Lindqvist, Grace Okafor, Hugo Blanc, Mei Lin,
Peter Novak, Sara Cohen, Ivan Petrov, Nina Rossi, Paul Weber
"""
QUESTION = "{} is {} years old and lives in {}. Write that as JSON with name, age and town."


def chat(tokenizer: llmask.Tokenizer, message: str) -> list[int]:
    return tokenizer.encode(PACKAGED["smollm2"].chat.format(message), parse_special=True)


def greedy(
    reading: Reading, matcher: llmask.Matcher, tokenizer: llmask.Tokenizer, budget: int | None, most: int = 1000
) -> list[int]:
    """The likeliest tokens, to the end, or so many."""
    mask = llmask.allocate_bitmask(1, tokenizer.vocab_size)
    tokens: list[int] = []
    while not matcher.is_terminated() and len(tokens) < most:
        matcher.fill_bitmask(mask, budget=None if budget is None else budget - len(tokens))
        logits = reading.logits(tokens)[None].copy()
        llmask.apply_bitmask(logits, mask)
        token = int(logits.argmax())
        matcher.accept_token(token)
        if not matcher.is_terminated():
            tokens.append(token)
    return tokens


def test_twenty_people_are_valid_and_most_have_their_name(reading: Reading, tokenizer: llmask.Tokenizer) -> None:
    schema = json.loads((ROOT / "grammars" / "person.schema.json").read_text(encoding="utf-8"))
    grammar = llmask.Compiler(tokenizer).json_schema(schema)
    n_right = 0
    names = [*NAMES, *map(str.strip, MORE_NAMES.split(","))]
    assert len(names) == 20
    for n, name in enumerate(names):
        languages = ("English", "French", "Spanish", "Hindi")[n % 4]
        reading.begin(chat(tokenizer, f"{name}, {20 + n}, of London, speaks {languages}. Write that as JSON."))
        person = json.loads(tokenizer.decode(greedy(reading, grammar.matcher(), tokenizer, 150)))
        jsonschema.validate(person, schema, format_checker=jsonschema.FormatChecker())
        n_right += person["name"] == name
    assert n_right >= 15, n_right


@pytest.mark.parametrize("name", NAMES)
def test_facts_of_a_sentence_come_back(name: str, reading: Reading, tokenizer: llmask.Tokenizer) -> None:
    reading.begin(chat(tokenizer, QUESTION.format(name, 47, "Hartmoor")))
    matcher = llmask.Compiler(tokenizer).json_schema(PERSON).matcher()
    person = json.loads(tokenizer.decode(greedy(reading, matcher, tokenizer, 80)))
    assert person == {"name": name, "age": 47, "town": "Hartmoor"}


def test_the_command_line_writes_a_person(capsys: Any, path: Path) -> None:
    schema = ROOT / "grammars" / "person.schema.json"
    question = "Ada Lovelace, 36, of London, speaks English and French. Write her data as JSON."
    assert main(["generate", "--model", "smollm2", "--schema", str(schema), "--seed", "1", question]) == 0
    person = json.loads(capsys.readouterr().out)
    jsonschema.validate(person, json.loads(schema.read_text(encoding="utf-8")))
    assert "Ada" in person["name"]


def test_the_chat_template_is_that_of_the_model(tokenizer: llmask.Tokenizer, transformers_model: Any) -> None:
    _, theirs = transformers_model
    text = theirs.apply_chat_template([{"role": "user", "content": "Hi!"}], add_generation_prompt=True, tokenize=False)
    assert text == PACKAGED["smollm2"].chat.format("Hi!")
    assert theirs(text).input_ids == chat(tokenizer, "Hi!")


def test_a_tool_is_called_with_the_prompt_of_the_page(reading: Reading, tokenizer: llmask.Tokenizer) -> None:
    page = (ROOT / "docs" / "tools.md").read_text(encoding="utf-8")
    shown = re.search(r"```text\n(You may call functions.*?)\n```", page, re.DOTALL)
    assert shown
    forecast = {
        "name": "weather_forecast",
        "description": "The weather of the next days in a town.",
        "parameters": {
            "type": "object",
            "properties": {"town": {"type": "string"}, "days": {"type": "integer", "minimum": 1, "maximum": 9}},
            "required": ["town", "days"],
            "additionalProperties": False,
        },
    }
    prompt = shown[1].replace("{functions}", json.dumps(forecast))
    system = f"<|im_start|>system\n{prompt}<|im_end|>\n"
    question = "What will the weather be like in Oslo in the next 3 days?"
    reading.begin(
        tokenizer.encode(f"{system}<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n", parse_special=True)
    )
    grammar = llmask.Compiler(tokenizer).tools([forecast], "hermes", "required", parallel=False)
    text = tokenizer.decode(greedy(reading, grammar.matcher(), tokenizer, 80))
    [call] = llmask.tool_calls(text, "hermes", [forecast])
    assert (call.name, call.arguments) == ("weather_forecast", {"town": "Oslo", "days": 3})


@pytest.mark.parametrize("runtime", ["transformers_model", "llama_model"])
def test_values_come_while_they_are_written(runtime: str, tokenizer: llmask.Tokenizer, request: Any) -> None:
    found = request.getfixturevalue(runtime)
    model, theirs = found if isinstance(found, tuple) else (found, None)
    seen: list[Any] = []
    messages = [{"role": "user", "content": QUESTION.format("Ada Lovelace", 36, "London")}]
    options = {"max_tokens": 80, "temperature": 0.0}
    person = llmask.generate(
        model, theirs, PERSON, messages, lambda _, value: seen.append(json.dumps(value)), **options
    )
    assert person["name"] == "Ada Lovelace"
    assert json.loads(seen[-1]) == person
    assert len({*seen}) > 5


@pytest.mark.parametrize("more", [0, 1, 3, 8, 20])
def test_a_document_ends_within_its_budget(more: int, reading: Reading, tokenizer: llmask.Tokenizer) -> None:
    reading.begin(chat(tokenizer, "Tell me a long story of a town and its people."))
    matcher = llmask.Compiler(tokenizer).json_schema(PERSON).matcher()
    budget = matcher.least_budget() + more
    tokens = greedy(reading, matcher, tokenizer, budget)
    assert len(tokens) < budget
    jsonschema.validate(json.loads(tokenizer.decode(tokens)), PERSON)


def test_a_healed_word_goes_on(reading: Reading, tokenizer: llmask.Tokenizer) -> None:
    grammar = llmask.Compiler(tokenizer).regex(r"[^\n]{1,80}")
    text = "The capital of France is Paris. The capital of Germany is Berl"
    kept, prefix = tokenizer.heal(tokenizer.encode(text))
    assert prefix
    reading.begin(kept)
    written = greedy(reading, grammar.matcher(prefix=prefix), tokenizer, None, most=8)
    assert tokenizer.decode(written).startswith(" Berlin")


def test_canonical_masks_write_what_the_tokenizer_would(reading: Reading, tokenizer: llmask.Tokenizer) -> None:
    compiler = llmask.Compiler(tokenizer, canonical=True)
    reading.begin(chat(tokenizer, QUESTION.format("Tomasz Brellin", 58, "Pellmouth")))
    tokens = greedy(reading, compiler.json_schema(PERSON).matcher(), tokenizer, None)
    assert tokenizer.is_canonical(tokens)
    assert json.loads(tokenizer.decode(tokens))["name"] == "Tomasz Brellin"


def test_forced_tokens_are_those_that_the_model_takes(reading: Reading, tokenizer: llmask.Tokenizer) -> None:
    reading.begin(chat(tokenizer, QUESTION.format("Tomasz Brellin", 58, "Pellmouth")))
    grammar = llmask.Compiler(tokenizer).json_schema(PERSON, indent=2)
    free = greedy(reading, grammar.matcher(), tokenizer, None)
    matcher = grammar.matcher()
    n_forced = n_same = 0
    for token in free:
        forced = matcher.forced_tokens()[:1]
        n_forced += len(forced)
        n_same += forced == [token]
        matcher.accept_token(token)
    assert 0 < n_forced < len(free)
    assert n_same > n_forced / 2


def test_logits_are_finite(reading: Reading, tokenizer: llmask.Tokenizer) -> None:
    reading.begin(tokenizer.encode("The sky is"))
    logits = reading.logits([])
    assert np.isfinite(logits).all()
    assert tokenizer.decode([int(logits.argmax())]).strip() in ("blue", "a", "the")
