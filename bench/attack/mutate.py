"""Schemas mutated from a corpus, with documents, judged by jsonschema and jsonschema-rs.

A schema of MaskBench (or a random one) is changed in one to three places: bounds moved, keywords taken out, copied from
other schemas or negated, parts wrapped into alternatives. Its documents are those of the corpus, drawn ones, changes of
both, and what llmask itself writes under its masks. Both judges read the same text; where they differ, or one of them
cannot read the schema, the case is set aside and counted. llmask is asked with keys in any order, unique keys, texts
in any spelling and formats as annotations.

In: pairs of a schema and a document. Out: counts. Cost: 1 ms a pair.
"""

from __future__ import annotations

import copy
import json
import random
from typing import Any

import llmask
from bench.attack.corpora import Masks, schemas
from bench.attack.harness import Tally, needed
from bench.conformance.subject import accepts
from tests.generators.instances import Drawer, mutated
from tests.generators.judge import Judge, Unjudgeable
from tests.generators.schemas import MAPS, VALUES, random_schema, random_value

OPTIONS = {"property_order": "any", "unique_keys": True, "literals": "any", "format": "annotate"}
MOST_LETTERS = 20_000  # of a schema as JSON
POOL = 400  # schemas from which keywords are copied
CORPUS_SHARE = 0.7
EACH = 4  # documents of each kind
TOKENS = 100  # of a walk that writes a document
SIGNS = ({"type": "string"}, {"type": "integer"}, {"minLength": 2}, {"maximum": 3}, True, False, {"uniqueItems": True})


def run(tally: Tally) -> None:
    """Judge until so many pairs are counted."""
    jsonschema_rs = needed("jsonschema_rs")
    tokenizer = llmask.Tokenizer.default()
    compiler, masks = llmask.Compiler(tokenizer, cache_bytes=0), Masks(tokenizer)
    corpus = [entry for entry in schemas() if len(json.dumps(entry.schema)) < MOST_LETTERS]
    drawn = random.Random(f"{tally.seed} pool")
    pool = [entry.schema for entry in drawn.sample(corpus, min(POOL, len(corpus)))]
    pool += [random_schema(drawn) for _ in range(POOL // 2)]
    for rng in tally.cases():
        if rng.random() < CORPUS_SHARE:
            entry = rng.choice(corpus)
            schema, known = entry.schema, [data for _, data in entry.documents]
        else:
            schema, known = random_schema(rng), []
        schema = mutated_schema(rng, schema, pool)
        if has_remote(schema):
            tally.sums["set aside: refers to other documents"] += 1
            continue
        try:
            judge = Judge(schema, formats=False)
            other = jsonschema_rs.validator_for(schema, validate_formats=False, offline=True)
        except (Unjudgeable, ValueError, TypeError, AttributeError, KeyError, RecursionError) as error:
            tally.sums[f"set aside: a judge cannot read the schema: {type(error).__name__}"] += 1
            continue
        try:
            grammar = compiler.json_schema(schema, **OPTIONS)
        except llmask.UnsatisfiableSchema:
            tally.sums["schemas without a document"] += 1
            grammar = None
        except llmask.LlmaskError as error:
            tally.sums[f"refused: {type(error).__name__}"] += 1
            continue
        except Exception as error:
            tally.fault(f"compile raises {type(error).__name__}", json.dumps(schema), error)
            continue
        texts = _documents(rng, schema, known)
        if grammar is not None:
            texts += _written(tally, grammar, masks, rng, schema)
        for kind, text in texts:
            _compare(tally, schema, grammar, judge, other, kind, text)


def _compare(tally: Tally, schema: Any, grammar: Any, judge: Judge, other: Any, kind: str, text: str) -> None:
    """Count one pair."""
    try:
        is_valid = judge.is_valid(text)
        also_valid = other.is_valid(json.loads(text))
    except (Unjudgeable, ValueError, RecursionError):
        tally.sums["set aside: a judge cannot read the document"] += 1
        return
    if is_valid != also_valid:
        tally.sums["set aside: the judges differ"] += 1
        return
    try:
        is_accepted = grammar is not None and accepts(grammar.matcher(), text)
    except llmask.LimitExceeded as error:
        tally.fault("limit in the middle", json.dumps(schema), text[:200], error.message)
        return
    except Exception as error:
        tally.fault(f"a document raises {type(error).__name__}", json.dumps(schema), text[:200], error)
        return
    tally.done += 1
    tally.sums[f"{kind}, {'valid' if is_valid else 'invalid'}"] += 1
    if is_accepted != is_valid:
        tally.fault("valid rejected" if is_valid else "invalid accepted", json.dumps(schema), text)


def _documents(rng: random.Random, schema: Any, known: list[Any]) -> list[tuple[str, str]]:
    """Kinds and texts: of the corpus, drawn, and changes of both."""
    found = [("of the corpus", data) for data in rng.sample(known, min(EACH, len(known)))]
    for _ in range(EACH):
        try:
            found.append(("drawn", Drawer(schema, rng).value()))
        except (KeyError, TypeError, AttributeError, ValueError, IndexError, RecursionError):
            break  # the drawer knows the keywords of 2020-12, and three formats
    found.append(("any value", random_value(rng)))
    near = [("changed", mutated(rng, rng.choice(found)[1])) for _ in range(2 * EACH)]
    return [(kind, json.dumps(data, ensure_ascii=rng.random() < 0.3)) for kind, data in found + near]


def _written(tally: Tally, grammar: Any, masks: Masks, rng: random.Random, schema: Any) -> list[tuple[str, str]]:
    """The last document that a random walk under the masks comes by."""
    matcher, found = grammar.matcher(), []
    try:
        for _ in range(TOKENS):
            token = masks.chosen(masks.read(matcher), rng)
            if matcher.is_accepting():
                found = [("written under masks", matcher.text().decode())]
            matcher.accept_token(token)
            if matcher.is_terminated():
                return found
    except llmask.LimitExceeded as error:
        tally.fault("limit in the middle", json.dumps(schema), matcher.text(), error.message)
    except Exception as error:
        tally.fault(f"a walk raises {type(error).__name__}", json.dumps(schema), matcher.text(), error)
    tally.sums["walks that were cut"] += 1
    return found


def mutated_schema(rng: random.Random, schema: Any, pool: list[Any]) -> Any:
    """A copy with one to three changes."""
    holder = [copy.deepcopy(schema)]
    for _ in range(rng.choice((1, 1, 2, 3))):
        places = [here for here in subschemas(holder[0]) if isinstance(here, dict)]
        if not places:
            return holder[0]
        here = rng.choice(places)
        _changed(rng, here, _without_identity(rng.choice(subschemas(copy.deepcopy(rng.choice(pool))))))
    return holder[0]


def _without_identity(schema: Any) -> Any:
    """The schema in place, without what only the root of a document may say: its dialect and its name."""
    for here in subschemas(schema):
        if isinstance(here, dict):
            for key in ("$schema", "$id", "id"):
                here.pop(key, None)
    return schema


def _changed(rng: random.Random, here: dict[str, Any], other: Any) -> None:
    """One change of one subschema in place."""
    kind = rng.randrange(8)
    numbers = [key for key, value in here.items() if type(value) in (int, float) and key != "const"]
    if kind == 0 and here:
        here.pop(rng.choice(list(here)))
    elif kind == 1 and numbers:
        key = rng.choice(numbers)
        here[key] = max(0, here[key] + rng.choice((1, -1, 2))) if here[key] >= 0 else here[key] + 1
    elif kind <= 3 and isinstance(other, dict) and other:
        key = rng.choice(list(other))
        here[key] = other[key]
    elif kind == 4:
        key = rng.choice(("allOf", "anyOf", "oneOf"))
        here[key] = [*here.get(key, ()), other, _sign(rng)][-3:]
    elif kind == 5:
        here[rng.choice(("not", "if", "then", "else", "contains", "propertyNames", "items"))] = _sign(rng)
    elif kind == 6 and isinstance(here.get("properties"), dict):
        names = list(here["properties"])
        here["required"] = rng.sample(names, rng.randint(0, len(names)))
        here["additionalProperties"] = _sign(rng)
    else:
        here.update(rng.choice(({"uniqueItems": True}, {"minItems": 1}, {"maxProperties": 3}, {"minProperties": 1})))


def _sign(rng: random.Random) -> Any:
    """A small schema; a copy, for it may be changed where it is put."""
    return copy.deepcopy(rng.choice(SIGNS))


def subschemas(schema: Any) -> list[Any]:
    """The schema and everything in it that is one, as far as keywords tell."""
    found = [schema]
    for here in found:  # grows
        if not isinstance(here, dict):
            continue
        for key, value in here.items():
            if key in MAPS and isinstance(value, dict):
                found += [member for member in value.values() if isinstance(member, dict)]
            elif isinstance(value, dict) and key not in VALUES:
                found.append(value)
            elif isinstance(value, list) and key not in VALUES:
                found += [member for member in value if isinstance(member, dict)]
    return found


def has_remote(schema: Any) -> bool:
    """Whether a reference leads, or may lead, to another document; judges would fetch it."""
    for here in subschemas(schema):
        for key in ("$ref", "$dynamicRef", "$recursiveRef"):
            reference = here.get(key) if isinstance(here, dict) else None
            if isinstance(reference, str) and not reference.startswith("#"):
                return True
    return False
