"""Why was it refused: the keyword that refuses a document or a token, and what may come instead.

    python examples/why_refused.py

`grammar.explain` is about a whole document, `matcher.explain` about a token or a text that cannot come next. Both name
the place in the document and in the schema.

Prints:

    /stars is refused by "maximum": 5, which is at #/properties/stars/maximum
    expected a number of at most 5
    valid, but in another order of its keys: {'property_order': 'any'}
    in the value at /stars, after 27 bytes
    refused at byte 27: found '6'
      /stars: too large (maximum 5), #/properties/stars/maximum
      expected a number of at most 5
      tokens that may come instead: ...
    nothing is wrong with 4
"""

from __future__ import annotations

import llmask

schema = {
    "type": "object",
    "properties": {
        "title": {"type": "string", "maxLength": 20},
        "stars": {"type": "integer", "maximum": 5},
    },
    "required": ["title"],
}
grammar = llmask.Compiler(llmask.Tokenizer.default()).json_schema(schema)

found = grammar.explain('{"title": "Emma", "stars": 6}')
print(f'{found.instance_pointer} is refused by "{found.keyword}": {found.value}, which is at {found.schema_pointer}')
print("expected", *found.expected)

found = grammar.explain('{"stars": 5, "title": "Emma"}')
assert found.keyword is None
print("valid, but in another order of its keys:", found.relaxed)

matcher = grammar.matcher()
matcher.accept_bytes(b'{"title": "Emma", "stars": ')
print(f"in the value at {matcher.position().pointer}, after {len(matcher.text())} bytes")
if refusal := matcher.explain("6"):
    print(str(refusal))
if not matcher.explain("4"):
    print("nothing is wrong with 4")
