"""What a grammar says of a rule beside what it derives: its name in captures, how it is sampled, when it is closed.

In: a frontend. Out: `Attributes` of rules. Cost: none.
"""

from __future__ import annotations

from typing import NamedTuple


class Ending(NamedTuple):
    """A terminal that ends with a part which is not captured: `[suffix=...]`.

    body     node of what is captured
    suffix   node of what ends it
    capture  name under which the suffix is captured, or None
    """

    body: int
    suffix: int
    capture: str | None = None


class Attributes(NamedTuple):
    """Of one rule; None: nothing was said.

    capture      the bytes that it derives are captured under this name
    temperature  of the sampler, while tokens of its terminal are written
    max_tokens   its terminal is closed after so many tokens
    ending       how its terminal ends
    """

    capture: str | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    ending: Ending | None = None

    def __str__(self) -> str:
        said = {"capture": self.capture, "temperature": self.temperature, "max_tokens": self.max_tokens}
        parts = [
            f'{name}="{value}"' if name == "capture" else f"{name}={value}"
            for name, value in said.items()
            if value is not None
        ]
        return f"[{', '.join(parts)}]" if parts else ""
