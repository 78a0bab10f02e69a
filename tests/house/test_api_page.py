"""The page on the API has the parameters that calls have, and the names that other pages use."""

from __future__ import annotations

import inspect
import re

import pytest

import llmask

from .test_errors_page import called
from .test_readme import PAGES, read

TABLE = read("docs/api.md").partition("## Calls and their parameters\n")[2].partition("\n## ")[0]
ROWS = re.findall(r"^\| `([\w.]+)` \| (?:`(.*)` )?\|$", TABLE, re.MULTILINE)
HERE = {  # how pages call an object of the class
    "Tokenizer": "tok|tokenizer",
    "Compiler": "comp|compiler",
    "CompiledGrammar": "grammar",
    "Matcher": "matcher",
}
ELSEWHERE = re.compile(  # names of other packages and files, and of what a study measures
    r"json|gguf|from_|certain_tokens|is_thinking|eos_token_ids?|accept_token|allocate_vocab_mask|\w*fill_\w+_\w*mask"
    r"|consume_token|compute_ff_bytes|find_jump_forward_string"
)


@pytest.mark.parametrize(("name", "parameters"), ROWS, ids=[name for name, _ in ROWS])
def test_a_call_has_the_parameters_of_its_row(name: str, parameters: str) -> None:
    signature = inspect.signature(called(name))
    bare = [each.replace(annotation=each.empty) for each in signature.parameters.values() if each.name != "self"]
    assert str(signature.replace(parameters=bare, return_annotation=inspect.Signature.empty)) == f"({parameters})"


MOST_SHOWN = [("Tokenizer", 30), ("Compiler", 15), ("CompiledGrammar", 22), ("Matcher", 30)]


@pytest.mark.parametrize(("kind", "most"), MOST_SHOWN)
def test_what_completion_shows_is_in_the_page(kind: str, most: int) -> None:
    compiler = llmask.Compiler(llmask.Tokenizer.from_bytes([b"a", b"</s>"], eos=1))
    grammar = compiler.regex("a")
    objects = {"Tokenizer": compiler.tokenizer, "Compiler": compiler, "CompiledGrammar": grammar}
    objects["Matcher"] = grammar.matcher()
    shown = {name for name in dir(objects[kind]) if not name.startswith("_")}
    members = re.search(rf"^::: llmask\.{kind}\n.*?\[([^]]*)\]", read("docs/api.md"), re.MULTILINE | re.DOTALL)
    assert members
    parameters = {"tokenizer", "limits"} if kind == "Compiler" else set()  # which the class's docstring explains
    assert shown == parameters | set(re.findall(r"\w+", members[1]))
    assert len(shown) <= most


def test_the_table_has_every_method_of_a_compiler() -> None:
    members = re.search(r"^::: llmask\.Compiler\n.*?\[([^]]*)\]", read("docs/api.md"), re.MULTILINE | re.DOTALL)
    assert members
    names = set(re.findall(r"\w+", members[1])) - {"statistics"}  # which has no parameters
    assert {f"Compiler.{name}" for name in names} <= {name for name, _ in ROWS}


@pytest.mark.parametrize("page", ["README.md", *PAGES])
def test_what_a_page_uses_is_in_the_page_of_the_api(page: str) -> None:
    for kind, words in HERE.items():
        members = re.search(rf"^::: llmask\.{kind}\n.*?\[([^]]*)\]", read("docs/api.md"), re.MULTILINE | re.DOTALL)
        assert members
        used = set(re.findall(rf"(?<![\w.])(?:{words})\.([a-z_]\w*)", read(page)))
        assert {name for name in used if not ELSEWHERE.fullmatch(name)} <= set(re.findall(r"\w+", members[1]))
