"""Tokens that a model need not be asked for: `python -m bench.forced`.

Each document of the corpus is written as a loop with forced tokens as drafts would: what `forced_tokens` gives is taken
as it is, any other token costs a call of the model. The document's own ids say whether the forced ones are those that
the tokenizer writes; one that is not counts as different, and ends the document.

In: command line. Out: share of tokens saved, documents and tokens that differ. Cost: a minute.
"""

from __future__ import annotations

import argparse
import warnings
from collections import Counter
from collections.abc import Iterable

import llmask
from bench.data import LLAMA3_EOS, LLAMA3_VOCABULARY, Row, maskbench_rows, own_rows


def count(rows: Iterable[Row], compiler: llmask.Compiler, **options: str) -> Counter[str]:
    """Documents, tokens, and how many of these are forced, of all valid documents that the schemas accept."""
    found: Counter[str] = Counter()
    for row in rows:
        if row.kind != "schema":
            continue
        try:
            grammar = compiler.json_schema(row.schema, **options)
        except llmask.LlmaskError:
            found["schemas refused"] += 1
            continue
        for instance in row.instances:
            if instance.is_valid:
                _write(grammar.matcher(), instance.token_ids, found)
    return found


def _write(matcher: llmask.Matcher, ids: list[int], found: Counter[str]) -> None:
    """Write one document and count it; one in an order of keys that the schema does not take counts as refused."""
    if matcher.validate_tokens(ids) < len(ids):
        found["documents refused"] += 1
        return
    found["documents"] += 1
    found["tokens"] += len(ids)
    at = 0
    while at < len(ids):
        forced = matcher.forced_tokens()
        same = ids[at : at + len(forced)]
        if forced != same:
            found["different"] += 1
            return
        found["forced"] += len(forced)
        taken = forced or [ids[at]]
        matcher.accept_tokens(taken)
        at += len(taken)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", choices=("maskbench", "own"), default="maskbench")
    parser.add_argument("--limit", type=int, help="schemas; all unless given")
    parser.add_argument("--property-order", choices=("schema", "any"), default="schema")
    options = parser.parse_args()
    warnings.simplefilter("ignore", llmask.GrammarWarning)
    if options.corpus == "own":
        tokenizer = llmask.Tokenizer.default()
    else:
        tokenizer = llmask.Tokenizer.from_gguf(LLAMA3_VOCABULARY, eos=LLAMA3_EOS)
    print("| white space | documents | refused | tokens | forced | share | different |")
    print(f"|---|{'---:|' * 6}")
    for whitespace in ("compact", "flexible"):
        rows = own_rows(whitespace) if options.corpus == "own" else maskbench_rows(whitespace)
        compiler = llmask.Compiler(tokenizer)
        found = count(rows[: options.limit], compiler, whitespace=whitespace, property_order=options.property_order)
        print(
            f"| {whitespace} | {found['documents']:,} | {found['documents refused']:,} | {found['tokens']:,} "
            f"| {found['forced']:,} | {found['forced'] / max(1, found['tokens']):.1%} | {found['different']:,} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
