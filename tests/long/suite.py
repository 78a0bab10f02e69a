"""JSON-Schema-Test-Suite: `python -m tests.long suite [DIRECTORY]`.

A document counts as accepted when the matcher takes the bytes of `json.dumps(document)` and may end there; both
spellings are asked, with and without `ensure_ascii`. A valid one has to be accepted in both, an invalid one in neither.
A schema that is refused counts against its valid documents; one that no document fulfils rejects all of them, which is
right for invalid ones. Engines that write keys in one order get a column of their own: *order only* are valid documents
that are accepted with their keys in another order.

In: the suite's folder, engines. Out: a table a group, a list of all that is not right. Cost: seconds for llmask; peers
run in processes of their own with a time limit a schema.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench import tables
from bench.engines import CompileError, Engine, is_installed
from bench.orders import accepted_in_another_order
from tests.long.cases import DIALECTS, DIRECTORY, GROUPS, Case, cases, registry, typed_cases
from tests.long.subject import Refused, Subject, engine_of
from tests.long.workers import Worker, limit_memory

RIGHT, REFUSED, FALSE, ORDER, ONE_SPELLING, REJECTED, FAILED = (
    "right", "refused", "false acceptance", "order only", "one spelling", "rejected", "failed",
)  # fmt: skip
HEADINGS = ("draft", "tests", RIGHT, "share", REFUSED, REJECTED, ORDER, ONE_SPELLING, FAILED, FALSE)


def spellings(document: Any) -> list[str]:
    """The document with characters as they are and with escapes; one text where both are the same."""
    found = {json.dumps(document, ensure_ascii=is_ascii) for is_ascii in (False, True)}
    return sorted(text for text in found if all(not "\ud800" <= char <= "\udfff" for char in text))


def compiled(engine: Engine, directory: Path, case: Case) -> Any:
    """The grammar of a case, None when no document fulfils it. Raises `CompileError`."""
    if isinstance(engine, Subject):
        return engine.grammar(case.schema, case.asserted, registry(directory, case.draft))
    return engine.compile(case.schema)


def judged(engine: Engine, grammar: Any, document: Any, is_valid: bool) -> str:
    """One of the verdicts above."""
    accepted = []
    for text in spellings(document):
        after = None if grammar is None else engine.advance(engine.start(grammar), text)
        accepted.append(after is not None and engine.is_accepting(after))
    if not is_valid:
        return FALSE if any(accepted) else RIGHT
    if all(accepted):
        return RIGHT
    if any(accepted):
        return ONE_SPELLING
    in_order = grammar is not None and "property_order" not in getattr(engine, "options", {})
    return ORDER if in_order and accepted_in_another_order(engine, engine.start(grammar), document) else REJECTED


def make_handler(
    name: str, directory: Path, drafts: tuple[str, ...], groups: tuple[str, ...], is_typed: bool = False
) -> Callable[[int], Any]:
    """Verdicts on the documents of one case, by its number; for a worker."""
    engine = engine_of(name)
    if engine.memory_gb is not None:
        limit_memory(int(engine.memory_gb * 2**30))
    all_cases = (typed_cases if is_typed else cases)(directory, drafts, groups)

    def handler(number: int) -> dict[str, Any]:
        case = all_cases[number]
        try:
            grammar = compiled(engine, directory, case)
        except CompileError as error:
            kind = error.kind if isinstance(error, Refused) else "refused"
            verdicts = [REFUSED if is_valid else RIGHT for _, _, is_valid in case.tests]
            return {"verdicts": verdicts, "refusal": f"{kind}: {error}"[:600]}
        return {"verdicts": [judged(engine, grammar, data, is_valid) for _, data, is_valid in case.tests]}

    return handler


def run(
    name: str,
    directory: Path,
    drafts: tuple[str, ...],
    groups: tuple[str, ...] = GROUPS,
    timeout_s: float = 20,
    limit: int | None = None,
    is_typed: bool = False,
) -> list[tuple[Case, dict[str, Any]]]:
    """Every case with the verdicts of one engine; a crash or time-out counts as FAILED for all documents of a case.

    With `limit` only that number of cases, drawn with a fixed seed: outlines-core may take half a minute a schema.
    `is_typed`: `cases.typed_cases` instead.
    """
    worker = Worker(make_handler, (name, directory, drafts, groups, is_typed))
    found = []
    all_cases = (typed_cases if is_typed else cases)(directory, drafts, groups)
    chosen = list(range(len(all_cases)))
    if limit is not None and limit < len(chosen):
        chosen = sorted(random.Random(1).sample(chosen, limit))
    try:
        for number in chosen:
            case = all_cases[number]
            reply = worker.ask(number, timeout_s)
            result = {"verdicts": [FAILED] * len(case.tests), "failure": f"{reply.kind}: {reply.value}"}
            found.append((case, reply.value if reply.kind == "done" else result))
            tables.progress(f"{name}: {len(found)} of {len(chosen)} schemas")
    finally:
        worker.close()
    tables.progress("")
    return found


def counts(results: list[tuple[Case, dict[str, Any]]]) -> dict[tuple[str, str], Counter[str]]:
    """Verdicts by (group, draft)."""
    found: dict[tuple[str, str], Counter[str]] = {}
    for case, result in results:
        found.setdefault((case.group, case.draft), Counter()).update(result["verdicts"])
    return found


def by_file(results: list[tuple[Case, dict[str, Any]]]) -> dict[str, dict[str, int]]:
    """What became of the tests of each file; the suite has one for every keyword.

    tests, invalid      all of them, those that have to be refused
    refused, failed     tests of schemas without a grammar, valid and invalid ones; crashes and time-outs
    right, caught       of the rest: as they should be in some order of keys and some spelling; invalid among them
    strict, permissive  valid and rejected, invalid and accepted
    """
    found: dict[str, Counter[str]] = {}
    for case, result in results:
        count = found.setdefault(f"{case.draft}/{case.file}", Counter())
        for (_, _, is_valid), verdict in zip(case.tests, result["verdicts"], strict=True):
            count["tests"] += 1
            count["invalid"] += not is_valid
            if "refusal" in result:
                count["refused"] += 1
            elif verdict in (RIGHT, ORDER, ONE_SPELLING):
                count["right"] += 1
                count["caught"] += not is_valid
            else:
                count[{FALSE: "permissive", REJECTED: "strict", FAILED: "failed"}[verdict]] += 1
    return {file: dict(count) for file, count in found.items()}


def failures(results: list[tuple[Case, dict[str, Any]]]) -> list[dict[str, Any]]:
    """Everything that is not right, with its reason."""
    return [
        {
            "place": case.place,
            "schema": case.description,
            "test": description,
            "is_valid": is_valid,
            "verdict": verdict,
            "reason": result.get("refusal") or result.get("failure") or "",
            "document": data,
        }
        for case, result in results
        for (description, data, is_valid), verdict in zip(case.tests, result["verdicts"], strict=True)
        if verdict != RIGHT
    ]


def table(results: list[tuple[Case, dict[str, Any]]], group: str) -> str:
    """One row a draft."""
    rows = []
    for (its_group, draft), verdicts in counts(results).items():
        if its_group == group:
            n_tests = sum(verdicts.values())
            rest = [verdicts[kind] for kind in HEADINGS[4:]]
            rows.append([draft, n_tests, verdicts[RIGHT], tables.share(verdicts[RIGHT], n_tests), *rest])
    return tables.markdown(HEADINGS, rows)


def report(name: str, results: list[tuple[Case, dict[str, Any]]]) -> str:
    """The tables of one engine, its false acceptances and why schemas were refused."""
    lines = []
    for group in GROUPS:
        if any(case.group == group for case, _ in results):
            lines += [f"{name}, {group} tests", "", table(results, group), ""]
    wrong = failures(results)
    false = [entry for entry in wrong if entry["verdict"] == FALSE]
    lines += [f"false acceptances: {len(false)}"]
    for entry in false:
        document = json.dumps(entry["document"])[:120]
        lines.append(f"  {entry['place']} {entry['schema']}: {entry['test']}: {document}")
    reasons = Counter(entry["reason"].split("\n")[0] for entry in wrong if entry["verdict"] in (REFUSED, FAILED))
    lines += ["reasons of refusals and failures, by documents:"]
    lines += [f"  {count:6,}  {reason}" for reason, count in reasons.most_common(40)]
    return "\n".join(lines)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("directory", nargs="?", type=Path, default=DIRECTORY, help="the suite's folder")
    parser.add_argument("--engines", default="llmask", help="comma-separated: llmask,llguidance,xgrammar,outlines-core")
    parser.add_argument("--drafts", default=",".join(DIALECTS))
    parser.add_argument("--groups", default=",".join(GROUPS))
    parser.add_argument("--timeout", type=float, default=20, help="seconds a schema with its documents may take")
    parser.add_argument("--limit", type=int, help="only so many schemas, drawn with a fixed seed")
    parser.add_argument("--typed", action="store_true", help="name the type beside keywords of one type")
    parser.add_argument("--output", type=Path, default=Path("results"), help="folder for {suite,files}-ENGINE.json")


def main(options: argparse.Namespace) -> int:
    """Run the engines one after the other; 1 when llmask accepts what is invalid."""
    drafts, groups = tuple(options.drafts.split(",")), tuple(options.groups.split(","))
    if not cases(options.directory, drafts, groups):
        raise SystemExit(f"error: no {' or '.join(drafts)} below {options.directory}")
    is_wrong = False
    for name in options.engines.split(","):
        if not is_installed(name):
            print(f"{name} is not installed")
            continue
        results = run(name, options.directory, drafts, groups, options.timeout, options.limit, options.typed)
        text = report(name, results)
        if name == "llmask":
            is_wrong = any(entry["verdict"] == FALSE for entry in failures(results))
            text += "\noptions that this version lacks: " + (", ".join(Subject().missing) or "none")
        print(text, flush=True)
        name += "-typed" * options.typed
        path = tables.write_json(options.output, f"suite-{name}.json", failures(results))
        tables.write_json(options.output, f"files-{name}.json", by_file(results))
        path.with_suffix(".md").write_text(text + "\n", encoding="utf-8")
    return int(is_wrong)
