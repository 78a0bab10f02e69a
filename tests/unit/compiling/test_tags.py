"""`Compiler.structural_tag`: what it takes and remembers."""

from __future__ import annotations

import json
from typing import Any

import pytest

import llmask

FORM = {"type": "tag", "begin": "<", "content": {"type": "any_text"}, "end": ">"}
DOCUMENT = {"type": "structural_tag", "format": FORM}


@pytest.fixture(scope="module")
def compiler(byte_tokenizer: Any) -> llmask.Compiler:
    return llmask.Compiler(byte_tokenizer)


def test_the_same_tag_is_compiled_once(compiler: llmask.Compiler) -> None:
    assert compiler.structural_tag(DOCUMENT) is compiler.structural_tag(json.dumps(DOCUMENT))
    assert compiler.structural_tag(DOCUMENT) is not compiler.structural_tag({"format": {**FORM, "end": "]"}})


def test_models_of_others_are_taken(compiler: llmask.Compiler) -> None:
    class Model:
        def model_dump(self) -> Any:
            return DOCUMENT

    assert compiler.structural_tag(Model()) is compiler.structural_tag(DOCUMENT)


def test_models_of_xgrammar_are_taken(compiler: llmask.Compiler) -> None:
    xgrammar = pytest.importorskip("xgrammar", reason="xgrammar is not installed")
    matcher = compiler.structural_tag(xgrammar.StructuralTag.from_json(DOCUMENT)).matcher()
    matcher.accept_bytes(b"<a>")
    assert matcher.is_accepting()


def test_text_that_is_too_long_meets_the_limit(byte_tokenizer: Any) -> None:
    compiler = llmask.Compiler(byte_tokenizer, llmask.Limits(max_schema_bytes=20))
    with pytest.raises(llmask.LimitExceeded, match="the structural tag has"):
        compiler.structural_tag(json.dumps(DOCUMENT))
