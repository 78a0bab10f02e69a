"""Random schemas in every style of white space and strings: the same documents, spelled as the option says."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Any

import pytest

from llmask.errors import LlmaskError, UnsupportedSchema
from llmask.limits import Limits
from tests.generators.schemas import random_schema
from tests.unit.frontends.json_schema.conftest import Judge
from tests.unit.frontends.json_schema.lexical.test_spacing import LEXEME, indented

ESCAPE = re.compile(rb"\\(.)")
LIMITS = Limits(max_schema_keywords=50_000)  # two million take four seconds, and nothing is compared
STYLES: dict[str, tuple[dict[str, Any], Callable[[bytes], bytes] | None]] = {
    "indented": ({"indent": 1}, lambda compact: indented(compact, b" ")),
    "demanded": ({"whitespace": "\t"}, lambda compact: b"\t".join(LEXEME.findall(compact))),
    "any spelling": ({"whitespace": "compact", "literals": "any"}, lambda compact: compact),
    "minimal": ({"whitespace": "compact", "escapes": "minimal"}, None),
}


@pytest.fixture(scope="module")
def judge() -> Judge:
    return Judge()


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("order", ["schema", "any"])
def test_a_style_changes_spellings_only(
    judge: Judge, style: str, order: str, rng: random.Random, costly: Callable[[int], int]
) -> None:
    options, restyled = STYLES[style]
    options = {**options, "limits": LIMITS}
    n_documents = 0
    for _ in range(costly(8)):
        schema = random_schema(rng)
        try:
            compact = judge.grammar(schema, whitespace="compact", property_order=order, limits=LIMITS)
        except LlmaskError as error:
            with pytest.raises(type(error)):
                judge.grammar(schema, property_order=order, **options)
            continue
        runs_out = judge.translate(
            schema, whitespace="compact", property_order=order, limits=LIMITS
        ).rules.needs_variants
        if runs_out and style in ("indented", "demanded"):  # white space within what is compared
            with pytest.raises(UnsupportedSchema, match="must differ"):
                judge.grammar(schema, property_order=order, **options)
            continue
        grammar = judge.grammar(schema, property_order=order, **options)
        for _ in range(4):
            document = judge.walk(grammar, rng)
            n_documents += bool(document)
            if document and style != "any spelling":
                bare = document if style == "minimal" else b"".join(LEXEME.findall(document))
                assert restyled is None or restyled(bare) == document
                assert compact.accepts(bare), (schema, document)
                assert style != "minimal" or set(ESCAPE.findall(document)) <= set(re.findall(rb".", rb'"\bfnrtu'))
            document = judge.walk(compact, rng)
            if document and restyled is not None:
                assert grammar.accepts(restyled(document)), (schema, document)
    assert n_documents > 0
