"""EBNF and structural tags beside XGrammar: masks after the same tokens.

Grammars and tags are those of the contract tests, and the same with elements swapped for others of their kind. What
only one side takes is counted; masks must be the same but for special tokens, tokens without bytes, and surrogates,
which XGrammar takes for the beginning of a character. Tags that differ on purpose, and those with JSON schemas, whose
white space has no bound there, are left out (tests/contract/structural_tag_specs.py), and so are texts with U+0000, at
which XGrammar ends a string, and triggers inside of other ones or of excluded texts. Where masks differ, but XGrammar
reads the bytes of the token as llmask does, that is counted.

In: masks of the tests' small vocabulary. Out: counts. Cost: 1 ms a mask. Needs xgrammar, which needs torch.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import numpy as np

import llmask
from tests.conftest import tiny_vocabulary
from tests.contract.gbnf_grammars import GRAMMARS
from tests.contract.structural_tag_specs import CASES
from tests.generators.damaged_grammars import damaged, swap_elements
from tests.long.corpora import Masks
from tests.long.harness import Tally, needed

# what only GBNF writes so, in GRAMMARS
OTHER_DIALECT = ("json", "escapes", "anything", "anything and a mark", "palindromes")
EBNF = [text for name, text in GRAMMARS.items() if name not in OTHER_DIALECT]
NO_MASKS = {"exclude==trigger", "exclude prefix of trigger"}  # compiling refuses what reading a tag accepts
TAGS = [case.format for name, case in CASES.items()
        if not case.different and "json_schema" not in json.dumps(case.format) and name not in NO_MASKS]  # fmt: skip
PLACES = 12  # of a walk, at most
WALKS = 3  # of a grammar


def run(tally: Tally) -> None:
    """Compare until `tally.size` masks are counted."""
    xgrammar = needed("xgrammar")
    tokens, eos, special = tiny_vocabulary()
    tokenizer = llmask.Tokenizer.from_bytes(tokens, eos=eos, special=special)
    info = xgrammar.TokenizerInfo(
        tokens, vocab_type=xgrammar.VocabType.RAW, vocab_size=len(tokens), stop_token_ids=[eos]
    )
    compiler, theirs = llmask.Compiler(tokenizer), xgrammar.GrammarCompiler(info)
    masks, words = Masks(tokenizer), xgrammar.allocate_token_bitmask(1, len(tokens))
    judged = np.array([token not in special and is_text(data) for token, data in enumerate(tokens)])
    for rng in tally.cases():
        is_tag = rng.random() < 0.5
        text, ours_made, theirs_made = _made(compiler, xgrammar, theirs, is_tag, rng)
        kind = "tags" if is_tag else "EBNF"
        if "\\u0000" in text or (is_tag and has_trigger_inside(json.loads(text)["format"])):
            continue
        if isinstance(ours_made, Exception) or isinstance(theirs_made, Exception):
            sides = [
                type(made).__name__ if isinstance(made, Exception) else "taken" for made in (ours_made, theirs_made)
            ]
            tally.sums[f"{kind}: llmask {sides[0]}, xgrammar {sides[1]}"] += 1
            if isinstance(ours_made, Exception) and not isinstance(ours_made, llmask.LlmaskError):
                tally.fault(f"compile raises {type(ours_made).__name__}", text, ours_made)
            continue
        tally.sums[f"{kind}: compared"] += 1
        for _ in range(WALKS):
            made = ours_made, lambda grammar=theirs_made: xgrammar.GrammarMatcher(grammar)
            _walk(tally, rng, text, *made, masks, words, judged, tokens)


def _made(
    compiler: llmask.Compiler, xgrammar: Any, theirs: Any, is_tag: bool, rng: random.Random
) -> tuple[str, Any, Any]:
    """The text of a grammar, and what either side makes of it: compiled, or the exception."""
    is_damaged = rng.random() < 0.5
    if is_tag:
        format_ = rng.choice(TAGS)
        tag = {"type": "structural_tag", "format": damaged(rng, format_, TAGS) if is_damaged else format_}
        text = json.dumps(tag)
    else:
        text = rng.choice(EBNF)
        text = swap_elements(rng, text, rng.choice((1, 2))) if is_damaged else text
    made: list[Any] = []
    for make in (
        lambda: compiler.structural_tag(tag) if is_tag else compiler.ebnf(text),
        lambda: theirs.compile_grammar(
            xgrammar.Grammar.from_structural_tag(text) if is_tag else xgrammar.Grammar.from_ebnf(text)
        ),
    ):
        try:
            made.append(make())
        except Exception as error:
            made.append(error)
    return text, made[0], made[1]


def _walk(
    tally: Tally, rng: random.Random, text: str, ours: Any, new_other: Callable[[], Any], masks: Masks, words: Any,
    judged: Any, tokens: list[bytes],
) -> None:  # fmt: skip
    """Compare the masks of one walk."""
    matcher, other = ours.matcher(), new_other()
    for _ in range(rng.randint(1, PLACES)):
        other.fill_next_token_bitmask(words)
        bits = np.unpackbits(words.numpy().view(np.uint8), bitorder="little")[: len(tokens)].astype(bool)
        found = masks.read(matcher)
        before = matcher.text()
        looked_at = judged
        if before.endswith(b"\xed"):
            looked_at = judged & np.array([data[:1] < b"\xa0" for data in tokens])
        tally.done += 1
        different = np.flatnonzero((found != bits) & looked_at).tolist()
        if different and all(new_other().accept_string(before + tokens[token]) == found[token] for token in different):
            tally.sums["xgrammar's mask is not what it reads"] += 1
            return
        if different:
            shown = [(token, tokens[token], "llmask" if found[token] else "xgrammar") for token in different[:5]]
            tally.fault("masks differ", text, before, shown)
            return
        both = found & bits & looked_at
        both[ours.tokenizer.eos_ids] = False
        if not both.any():
            return
        token = masks.chosen(both, rng)
        matcher.accept_token(token)
        if not other.accept_token(token):
            tally.fault("xgrammar refuses a token that its mask allows", text, before, token)
            return


def has_trigger_inside(form: Any) -> bool:
    """Whether a trigger is inside of another one or of an excluded text: XGrammar may overlook it there."""
    if not isinstance(form, dict):
        return False
    found = {name: form[name] for name in ("rules", "triggers", "excludes") if isinstance(form.get(name), list)}
    rules = [one[0] for one in found.get("rules", ()) if isinstance(one, list) and one]
    triggers = [one for one in (*rules, *found.get("triggers", ())) if isinstance(one, str)]
    texts = [one for one in found.get("excludes", ()) if isinstance(one, str)]
    return any(one != text and one in text for one in triggers for text in (*triggers, *texts))


def is_text(data: bytes) -> bool:
    """Whether a token is whole characters."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return bool(data)
