"""GBNF beside llama.cpp: masks after the same tokens, for the grammars of the tests and damaged ones.

llama.cpp runs in a process of its own: damaged grammars may crash it or never end (left recursion, repetition of what
may be empty), which is counted and set aside. llmask takes more grammars (docs/grammars.md), so one that only it takes
is counted; one that only llama.cpp takes is wrong, unless llmask says that no text exists or names a limit. Set aside
are special tokens, texts that are no UTF-8, and, where a class is negated, tokens that end inside of a character.

In: masks of 32,000 tokens (Llama 2's vocabulary in the shared data). Out: counts. Cost: 5 ms a mask.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

import llmask
from bench.vocabularies import SHARED
from tests.contract.gbnf_grammars import GRAMMARS
from tests.generators.damaged_grammars import swap_elements
from tests.long.corpora import Masks
from tests.long.harness import Skipped, Tally, needed
from tests.long.workers import Worker

TURNED = "the bounds of this range are the wrong way round"  # llama.cpp drops such a range
VOCABULARY = SHARED / "data" / "vocab" / "llama-spm.gguf"
WALKS = 2  # of a grammar
PLACES = 12  # of a walk, at most
SECONDS = 20.0  # for llama.cpp to answer
ROUND = 200  # grammars of one compiler


def run(tally: Tally) -> None:
    """Compare until `tally.size` masks are counted."""
    needed("llama_cpp")
    if not VOCABULARY.exists():
        raise Skipped(f"no vocabulary at {VOCABULARY}; LLMASK_SHARED names another folder")
    tokenizer = llmask.Tokenizer.from_gguf(str(VOCABULARY))
    masks, judge = Masks(tokenizer), Worker(make_judge, (str(VOCABULARY),))
    compiler: Any = None
    try:
        for number, rng in enumerate(tally.cases()):
            if number % ROUND == 0:
                compiler = llmask.Compiler(tokenizer, cache_bytes=0)
            text = rng.choice(list(GRAMMARS.values()))
            if rng.random() < 0.7:
                text = swap_elements(rng, text, rng.choice((1, 1, 2, 3)))
            _compare(tally, compiler, masks, judge, text, rng)
    finally:
        judge.close()


def make_judge(path: str) -> Callable[[Any], Any]:
    """Masks of llama.cpp along walks, each as its packed bits; None for a grammar that it refuses. For a worker."""
    from tests.generators.llama_cpp_judge import Judge, llama_cpp

    judge = Judge(path)  # type: ignore[arg-type] # it is made a text again

    def handler(request: tuple[str, list[list[int]]]) -> list[list[bytes]] | None:
        text, walks = request
        start = judge.sampler(text)
        if not start:
            return None
        found = []
        for tokens in walks:
            sampler = llama_cpp.llama_sampler_clone(start)
            found.append([np.packbits(judge.mask(sampler)).tobytes()])
            for token in tokens[:-1]:
                before = np.unpackbits(np.frombuffer(found[-1][-1], np.uint8))
                if not before[token]:  # the difference shows in the mask; llama.cpp does not go on there
                    break
                llama_cpp.llama_sampler_accept(sampler, token)
                found[-1].append(np.packbits(judge.mask(sampler)).tobytes())
            llama_cpp.llama_sampler_free(sampler)
        llama_cpp.llama_sampler_free(start)
        return found

    return handler


def _compare(
    tally: Tally, compiler: llmask.Compiler, masks: Masks, judge: Worker, text: str, rng: random.Random
) -> None:
    """Compare one grammar along some walks."""
    try:
        grammar = compiler.gbnf(text)
    except llmask.LlmaskError as error:
        refusal: llmask.LlmaskError | None = error
    except Exception as error:
        tally.fault(f"compile raises {type(error).__name__}", repr(text), error)
        return
    else:
        refusal = None
    ours = [] if refusal else [_walk(grammar, masks, rng) for _ in range(WALKS)]
    tally.begin(tally.case)
    reply = judge.ask((text, [tokens for tokens, _, _ in ours]), SECONDS)
    if reply.kind != "done":
        tally.sums[f"set aside: llama.cpp: {reply.kind}"] += 1
    elif reply.value is None:
        tally.sums["refused by both" if refusal else "taken by llmask alone"] += 1
    elif refusal is not None:
        tally.sums[f"taken by llama.cpp alone: {type(refusal).__name__}"] += 1
        is_meant = isinstance(refusal, (llmask.UnsatisfiableSchema, llmask.LimitExceeded)) or refusal.message == TURNED
        if not is_meant:
            tally.fault("refused, llama.cpp takes it", repr(text), refusal.message)
    else:
        tally.sums["grammars compared"] += 1
        for (tokens, texts, walked), theirs in zip(ours, reply.value, strict=True):
            for place, packed in enumerate(theirs):
                tally.done += 1
                other = np.unpackbits(np.frombuffer(packed, np.uint8))[: masks.n_tokens].astype(bool)
                _compare_masks(tally, compiler.tokenizer, text, texts[place], tokens[:place], walked[place], other)


def _walk(grammar: Any, masks: Masks, rng: random.Random) -> tuple[list[int], list[bytes], list[Any]]:
    """Tokens, and at each the text before it and the mask."""
    matcher, special = grammar.matcher(), {*grammar.tokenizer.special_ids}
    tokens: list[int] = []
    texts, found = [], []
    for _ in range(rng.randint(1, PLACES)):
        texts.append(matcher.text())
        found.append(masks.read(matcher))
        tokens.append(masks.chosen(found[-1], rng))
        if tokens[-1] in special or tokens[-1] in grammar.tokenizer.eos_ids:
            break
        matcher.accept_token(tokens[-1])
    return tokens, texts, found


def _compare_masks(
    tally: Tally, tokenizer: llmask.Tokenizer, grammar: str, text: bytes, tokens: list[int], ours: Any, theirs: Any
) -> None:
    """Compare two masks after the same tokens."""
    from tests.generators.llama_cpp_judge import is_text

    different = []
    for token in np.flatnonzero(ours != theirs).tolist():
        data = tokenizer.token_bytes(token)
        if not data or not is_text(text + data):
            continue
        if "[^" in grammar and _ends_inside(text + data):
            tally.sums["set aside: tokens that end inside of a character"] += 1
            continue
        different.append((token, data, "llmask" if ours[token] else "llama.cpp"))
    if different:
        tally.fault("masks differ", repr(grammar), text, tokens, different[:5])


def _ends_inside(data: bytes) -> bool:
    """Whether the text ends inside of a character."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return error.end == len(data)
    return False
