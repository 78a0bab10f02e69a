"""What the runs of some rules derived: captures, found when they are asked for.

    history -- units --> lexemes of the text -- chart, over networks of the grammar --> derivation --> spans

Nothing of it is known to masks: the text that was accepted is parsed once more, this time with positions.

A text may be derived in several ways. Of these one is taken, by two rules:

    of two last parts of a rule the shorter one, so what comes before is as long as it can be
    of options the first

In: a matcher. Out: spans by name. Cost: about 10 us a lexeme and rule that it may belong to.
"""

from __future__ import annotations

from llmask.matching.captures.chart import Capture, find_captures

__all__ = ["Capture", "find_captures"]
