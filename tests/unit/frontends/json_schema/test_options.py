"""Options: what they mean, and that they are checked."""

from __future__ import annotations

from typing import Any

import pytest

from llmask.errors import GrammarError
from llmask.frontends.json_schema import SchemaOptions


def test_white_space_stands_between_lexemes_in_runs_of_limited_length(judge: Any) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "array"}}}
    grammar = judge.grammar(schema, max_whitespace=3)
    assert judge.accepts_text(grammar, '{ \n\t"a"\r :   [ 1 ,2 ] }')
    assert not judge.accepts_text(grammar, '{    "a":[]}')
    assert not judge.accepts_text(grammar, ' {"a":[]}')
    assert not judge.accepts_text(grammar, '{"a":[]} ')
    compact = judge.grammar(schema, whitespace="compact")
    assert judge.accepts_text(compact, '{"a":[1,2]}')
    assert not judge.accepts_text(compact, '{"a": [1,2]}')


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"whitespace": "wide"}, 'the option whitespace must be "flexible" or "compact", not \'wide\''),
        ({"format": True}, 'the option format must be "assert" or "annotate", not True'),
        ({"unsupported": "warn"}, 'the option unsupported must be "error" or "ignore", not \'warn\''),
        ({"property_order": "any"}, "the option property_order must be \"schema\", not 'any'"),
        ({"max_whitespace": -1}, "the option max_whitespace must be a number of bytes, not -1"),
    ],
)
def test_options_are_checked(options: dict[str, Any], message: str) -> None:
    with pytest.raises(GrammarError) as caught:
        SchemaOptions(**options)
    assert str(caught.value) == message
