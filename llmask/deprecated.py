"""Names of earlier releases, which go on working for one more (docs/versions.md).

They are no part of `llmask.__all__`; `llmask.NAME` finds them here. They are a contract with those who measure and
integrate, and warn nobody. `Tokenizer.prepare`, which is `Tokenizer.warm`, is in its class.

In: an old call. Out: what the new one returns.
"""

from __future__ import annotations

from . import counting
from .compiling.first_uses import warm

ENDS = "0.3.0, not before 2027-03-01"  # the release without these names

AppendableEncoder = counting.AppendableEncoder
PrependableEncoder = counting.PrependableEncoder
IntervalCounter = counting.IntervalCounter
warm_up = warm
