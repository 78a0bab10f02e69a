"""Write the expected digests of masks: `python -m bench.make_digests`.

Every case of `bench/cases` gets the token ids of its documents and a digest for each position, by the package's
tokenizer; a sample of MaskBench gets digests at some positions, in the vocabularies of `SAMPLES`. All masks come from
the twin (`TwinMasks`), slowly and from the definition: expressions, lexer and parser are the plain-Python engine in
`tests/reference/engine`; only the frontend, which turns a schema or pattern into `Rules`, is the package's own. Every
configuration gets a number and every step from it is remembered, so that a token costs a look-up a byte.

A case is written by hand as

    {"about": ..., "kind": "schema" | "regex" | "choice", "grammar": ..., "documents": [{"valid": ..., "text": ...}]}

and is completed here. A document that is not valid has digests until the place where its token is refused.

In: command line. Out: files in `bench/cases`. Cost: a quarter of a second a mask of 128,256
tokens, a minute for our own cases; MaskBench's sample needs the shared data.
"""

from __future__ import annotations

import argparse
import json
import random
from typing import Any

import numpy as np

from bench.data import CASES, maskbench_rows
from bench.expected import sample_file
from bench.masks import chosen_positions, digest
from bench.vocabularies import Vocabulary, encoder, vocabulary
from llmask.errors import LlmaskError
from llmask.frontends.json_schema import SchemaOptions, compile_schema
from llmask.frontends.regex import compile_pattern
from llmask.grammar.rules import Rules
from tests.reference.engine.mask import Configuration, Engine
from tests.reference.engine.regex import Regex
from tests.reference.engine.trie import Node, make_trie, walk
from tests.reference.regex_nodes import RegexNodes

SAMPLES = (("llama3", "flexible", 120), ("llama3", "compact", 40), ("qwen2", "flexible", 40), ("qwen2", "compact", 20))
MAX_DOCUMENTS, MAX_POSITIONS = 3, 10  # of one schema, of one document
SEED = 11

MAX_NODES = 100_000  # regular expressions of one grammar: a length and a pattern together can have millions


class TooLarge(Exception):
    """The grammar is beyond the twin's patience."""


class TwinMasks:
    """Masks of one grammar.

    Parameters
    ----------
    grammar, kind, whitespace : as `bench.engines.base.Engine.compile` takes them.
    vocabulary, trie : the tokens, and what `trie_of` makes of them.

    Raises
    ------
    TooLarge : when the regular expressions become too many, here or later.
    LlmaskError : the frontend refuses the grammar.
    """

    def __init__(self, grammar: Any, kind: str, whitespace: str, vocabulary: Vocabulary, trie: list[Node]) -> None:
        nodes = RegexNodes()
        self._most_nodes = len(Regex.known) + MAX_NODES
        self.engine = Engine(rules_of(nodes, grammar, kind, whitespace), nodes.expressions)
        self.vocabulary, self.trie = vocabulary, trie
        self._numbers: dict[Configuration | None, int] = {}
        self._places: list[Configuration | None] = []
        self._steps: list[dict[int, int]] = []
        self.start = self._number(self.engine.start())

    def _number(self, at: Configuration | None) -> int:
        if len(Regex.known) > self._most_nodes:
            raise TooLarge
        if at not in self._numbers:
            self._numbers[at] = len(self._places)
            self._places.append(at)
            self._steps.append({})
        return self._numbers[at]

    def step(self, number: int, byte: int) -> int:
        """Number of the configuration after one more byte."""
        steps = self._steps[number]
        if byte not in steps:
            at = self._places[number]
            steps[byte] = self._number(at and self.engine.step(at, byte))
        return steps[byte]

    def is_dead(self, number: int) -> bool:
        return self._places[number] is None

    def after(self, number: int, data: bytes) -> int:
        """Number of the configuration after `data`."""
        for byte in data:
            number = self.step(number, byte)
        return number

    def words(self, number: int) -> np.ndarray:
        """The mask of the configuration `number`: int32[ceil(n_vocab / 32)]."""
        dead = self._number(None)

        def step(place: int, byte: int) -> int | None:
            after = self.step(place, byte)
            return None if after == dead else after

        allowed = [*walk(self.trie, number, step)]
        at = self._places[number]
        if at is not None and self.engine.may_end(at):
            allowed += self.vocabulary.eos_ids
        bits = np.zeros((len(self.vocabulary.tokens) + 31) // 32 * 32, np.uint8)
        bits[allowed] = 1
        return np.packbits(bits, bitorder="little").view(np.int32)


def trie_of(vocabulary: Vocabulary) -> list[Node]:
    """The trie of all tokens that a mask may have, ends of sequence aside."""
    special = set(vocabulary.special_ids)
    return make_trie([b"" if token in special else data for token, data in enumerate(vocabulary.tokens)])


def rules_of(nodes: Any, grammar: Any, kind: str, whitespace: str) -> Rules:
    """The package's frontend on the twin's nodes."""
    if kind == "schema":
        return compile_schema(nodes, grammar, SchemaOptions(whitespace=whitespace)).rules
    if kind == "regex":
        node = compile_pattern(nodes, grammar)
    else:
        node = nodes.union([nodes.literal(text.encode()) for text in grammar])
    rules = Rules()
    start = rules.start_state(rules.rule("start"))
    end = rules.state(rules.start)
    rules.scan(start, nodes.intersect([node, nodes.complement(nodes.EPSILON)]), end)
    rules.final(end)
    if nodes.is_nullable(node):
        rules.final(start)
    return rules


def masks_of(twin: TwinMasks, token_ids: list[int], wanted: set[int]) -> dict[int, str]:
    """Digests at the wanted positions, as far as the document is taken."""
    found: dict[int, str] = {}
    place, tokens = twin.start, twin.vocabulary.tokens
    for number in range(len(token_ids) + 1):
        if number in wanted:
            found[number] = digest(twin.words(place), len(tokens))
        if number < len(token_ids):
            place = twin.after(place, tokens[token_ids[number]])
            if twin.is_dead(place):
                break
    return found


def complete_cases() -> None:
    """Fill in token ids and digests of our own cases."""
    tokens, encode = vocabulary("default"), encoder("default")
    trie = trie_of(tokens)
    for path in sorted(CASES.glob("*.json")):
        case = json.loads(path.read_text(encoding="utf-8"))
        twin = TwinMasks(case["grammar"], case["kind"], case.get("whitespace", "flexible"), tokens, trie)
        for document in case["documents"]:
            document["tokens"] = encode(document["text"])
            masks = masks_of(twin, document["tokens"], set(range(len(document["tokens"]) + 1)))
            document["masks"] = list(masks.values())
        path.write_text(as_text(case), encoding="utf-8")


def as_text(case: dict[str, Any]) -> str:
    """JSON with a line for each part of the case and each part of a document."""
    lines = []
    for key, value in case.items():
        if key != "documents":
            lines.append(f"{_text(key)}: {_text(value)}")
    documents = []
    for document in case["documents"]:
        parts = ",\n   ".join(f"{_text(key)}: {_text(value)}" for key, value in document.items())
        documents.append(f"  {{{parts}}}")
    lines.append('"documents": [\n' + ",\n".join(documents) + "\n ]")
    return "{" + ",\n ".join(lines) + "}\n"


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def make_sample(vocabulary_name: str, whitespace: str, n_schemas: int) -> None:
    """Digests of some schemas of MaskBench, drawn with a seed; the sample of a file that is there is kept."""
    tokens = vocabulary(vocabulary_name)
    trie = trie_of(tokens)
    rows = [row for row in maskbench_rows(whitespace, vocabulary_name) if row.instances]
    random.Random(SEED).shuffle(rows)
    path = sample_file(vocabulary_name, whitespace)
    if path.exists():
        drawn = json.loads(path.read_text(encoding="utf-8"))["schemas"]
        rows = [row for row in rows if row.id in drawn]
    schemas: dict[str, list[str]] = {}
    too_large: list[str] = []
    for row in rows:
        if len(schemas) == n_schemas:
            break
        try:
            twin = TwinMasks(row.schema, row.kind, whitespace, tokens, trie)
            documents = [
                masks_of(twin, instance.token_ids, set(chosen_positions(len(instance.token_ids), MAX_POSITIONS)))
                for instance in row.instances[:MAX_DOCUMENTS]
            ]
        except LlmaskError:
            continue
        except TooLarge:
            too_large.append(row.id)
            continue
        schemas[row.id] = [_text({str(place): text for place, text in masks.items()}) for masks in documents]
    entries = [f"{_text(name)}: [\n   " + ",\n   ".join(texts) + "]" for name, texts in sorted(schemas.items())]
    path.parent.mkdir(exist_ok=True)
    left_out = f'{{"left out, too large for the twin": {_text(too_large)},\n'
    path.write_text(left_out + '"schemas": {\n ' + ",\n ".join(entries) + "}}\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=("own", "maskbench"), help="only our own cases, or only MaskBench's sample")
    options = parser.parse_args()
    if options.only != "maskbench":
        complete_cases()
    if options.only != "own":
        for sample in SAMPLES:
            make_sample(*sample)


if __name__ == "__main__":
    main()
