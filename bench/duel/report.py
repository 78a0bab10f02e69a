"""The tables of a duel: what was compared, who was wrong, and the shortest cases.

In: `Result`s as they were written, one JSON line a schema. Out: Markdown. Cost: milliseconds.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any

from bench.duel.settle import ALLOWS, FORBIDS, NO_JUDGE, RULE, UNSETTLED

COMPARED = "compared"
MOST_SHOWN = 5  # cases of an engine and a kind


def table(ours: str, theirs: str, results: list[dict[str, Any]]) -> str:
    """What was counted for a pair of engines, in Markdown."""
    totals: Counter[str] = Counter()
    groups: Counter[tuple[str, str, str]] = Counter()
    schemas: defaultdict[tuple[str, str, str], set[str]] = defaultdict(set)
    statuses = Counter(result["status"] for result in results)
    for result in results:
        if result["status"] != COMPARED:
            continue
        totals.update(result["counts"])
        for finding in result["findings"]:
            kind, who = finding["kind"], finding["who"]
            key = (kind, who, finding["why"]) if kind == RULE else (kind, who if kind in (FORBIDS, ALLOWS) else "", "")
            groups[key] += 1
            schemas[key].add(finding["schema"])
    n_groups = sum(groups.values())
    open_groups = groups[UNSETTLED, "", ""]
    lines = [
        f"**{ours} and {theirs}**",
        "",
        "| | |",
        "|---|---:|",
        f"| schemas compared | {statuses[COMPARED]:,} of {len(results):,} |",
        *(f"| {status} | {count:,} |" for status, count in statuses.most_common() if status != COMPARED),
        f"| documents; left midway, a token refused | {totals['documents']:,}; {totals['documents left midway']:,} |",
        f"| positions; masks identical | {totals['positions']:,}; {share(totals['identical'], totals['positions'])} |",
        f"| places; groups of tokens | {totals['places']:,}; {n_groups:,} |",
        f"| settled | {share(n_groups - open_groups, n_groups)} |",
        "",
        "| verdict | groups | schemas |",
        "|---|---:|---:|",
    ]
    for engine in (ours, theirs):
        lines.append(_line(f"{engine} forbids too much", (FORBIDS, engine, ""), groups, schemas))
        lines.append(_line(f"{engine} allows too much", (ALLOWS, engine, ""), groups, schemas))
    rules = sorted((key for key in groups if key[0] == RULE), key=lambda key: (key[1] != ours, -groups[key]))
    lines += [_line(f"rule of {key[1]}: {key[2]}", key, groups, schemas) for key in rules]
    lines.append(_line("no judge", (NO_JUDGE, "", ""), groups, schemas))
    lines.append(_line("unsettled", (UNSETTLED, "", ""), groups, schemas))
    return "\n".join(lines)


def share(part: int, whole: int) -> str:
    """A share in per cent, rounded down: 100 % is all."""
    return f"{int(1000 * part / whole) / 10:.1f} %" if whole else "-"


def _line(title: str, key: tuple[str, str, str], groups: Any, schemas: Any) -> str:
    return f"| {title} | {groups[key]:,} | {len(schemas[key]):,} |"


def cases(ours: str, theirs: str, results: list[dict[str, Any]], n_shown: int = MOST_SHOWN) -> str:
    """The shortest case of each schema for every engine and way to be wrong, and of what is unsettled."""
    found = [finding for result in results for finding in result["findings"]]
    lines = []
    for who, kind in itertools.product((ours, theirs), (FORBIDS, ALLOWS, UNSETTLED)):
        chosen = list(_shortest(finding for finding in found if (finding["kind"], finding["who"]) == (kind, who)))
        if not chosen:
            continue
        title = "unsettled, allowed by" if kind == UNSETTLED else "wrong:"
        lines += ["", f"{title} {who} {'' if kind == UNSETTLED else kind + ' too much'}".strip(), ""]
        lines += [
            f"    {case['schema']}: after {case['text'][-80:]!r} the token {case['token']!r}: "
            f"{case['why'] or 'valid'}\n        {case['document'][:200]}"
            for case in chosen[:n_shown]
        ]
    return "\n".join(lines)


def _shortest(findings: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The shortest document of each schema, short ones first."""
    best: dict[str, dict[str, Any]] = {}
    for finding in findings:
        known = best.get(finding["schema"])
        if known is None or len(finding["document"]) < len(known["document"]):
            best[finding["schema"]] = finding
    return sorted(best.values(), key=lambda finding: len(finding["document"]))
