"""Many texts encoded by several threads.

Texts lie side by side in groups, a group is one compiled call, and while it runs other threads do. The lists are made
with the interpreter's lock held, which is a tenth of the time. The calling thread works like the others: a pool of
threads, which hands every result to a caller that sleeps meanwhile, took a tenth of the time for itself.

In: a tokenizer, texts. Out: ids of each. Cost: as encoding them, divided by what more processors gain.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from threading import Thread

from ..arguments import as_flag, as_integer
from ..errors import VocabularyError
from .parts import TokenizerParts

GROUP_SIZE = 25_000  # characters that a thread encodes at a time: 0.3 ms
LARGE_GROUP = 100_000  # where several threads work: one that waits for the lock wakes up late, so it waits less often
GROUPS = 4  # groups of a thread, none smaller than the first or larger than the second: all end at about one time


def encode_all(
    parts: TokenizerParts,
    encode_one: Callable[[str, bool], list[int]],
    texts: Sequence[str],
    parse_special: bool,
    threads: int | None,
) -> list[list[int]]:
    """`[encode_one(text, parse_special) for text in texts]`, by several threads; `encode_one` is the tokenizer's.

    Raises
    ------
    VocabularyError : as `encode`, for the first text that has a reason; or `texts` is one text.
    """
    if isinstance(texts, str):
        raise VocabularyError("a batch is a sequence of texts, not one text", help="put it into a list")
    try:
        texts = list(texts)
    except TypeError:
        raise VocabularyError(
            f"a batch is a sequence of texts, not {type(texts).__name__}", help="give a list of str"
        ) from None
    parse_special = as_flag(parse_special, "parse_special")
    encoder = None if parse_special else parts.part_encoder

    def encode(group: Sequence[str]) -> list[list[int]]:
        if encoder is not None:
            try:
                if not parts.has_names("\0".join(group)):
                    return encoder.encode_many(group)
            except (AttributeError, TypeError, UnicodeEncodeError, VocabularyError):
                pass  # encoding one by one names the reason
        return [encode_one(text, parse_special) for text in group]

    n_threads = (0 if threads is None else as_integer(threads, "the number of threads")) or os.cpu_count() or 1
    groups = _group(texts, n_threads)
    n_threads = min(n_threads, len(groups))
    if n_threads <= 1:
        return [ids for group in groups for ids in encode(group)]
    encode([""])  # tables are built once
    found: list[list[list[int]]] = [[]] * len(groups)
    errors: dict[int, Exception] = {}
    numbers = iter(range(len(groups)))

    def work() -> None:
        for number in numbers:
            try:
                found[number] = encode(groups[number])
            except Exception as error:
                errors[number] = error

    helpers = [Thread(target=work) for _ in range(n_threads - 1)]
    try:
        for helper in helpers:
            helper.start()
        work()
    finally:
        for _ in numbers:  # interrupted: the helpers find no more groups
            pass
        for helper in helpers:
            if helper.ident is not None:
                helper.join()
    if errors:
        raise errors[min(errors)]
    return [ids for group in found for ids in group]


def _group(texts: Sequence[str], n_threads: int) -> list[Sequence[str]]:
    """Texts in groups that are worth a call of their own."""
    sizes = [len(text) if isinstance(text, str) else 0 for text in texts]
    enough = GROUP_SIZE
    if n_threads > 1:
        enough = max(GROUP_SIZE, min(LARGE_GROUP, sum(sizes) // (GROUPS * n_threads)))
    groups: list[Sequence[str]] = []
    first = size = 0
    for i, n_characters in enumerate(sizes):
        size += n_characters
        if size >= enough:
            groups.append(texts[first : i + 1])
            first, size = i + 1, 0
    return [*groups, texts[first:]] if first < len(texts) else groups
