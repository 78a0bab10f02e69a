"""A line on standard error for work that takes longer than a second.

On a terminal the line is rewritten in place five times a second and removed at the end; elsewhere a new line is written
every ten seconds, so that a log stays short.

In: reports of the worker. Out: text on standard error. Cost: a look at the clock a report.
"""

from __future__ import annotations

import sys
import time

_QUIET_SECONDS = 1.0
_TERMINAL_SECONDS = 0.2
_LOG_SECONDS = 10.0


class Progress:
    """Report with `progress("12 of 200 documents")`; use it as a context manager, so that the line is removed."""

    def __init__(self) -> None:
        self._next_report = time.monotonic() + _QUIET_SECONDS
        self._is_drawn = False

    def __call__(self, text: str) -> None:
        """Show `text` if it is time to."""
        now = time.monotonic()
        if now < self._next_report:
            return
        if sys.stderr.isatty():
            self._next_report = now + _TERMINAL_SECONDS
            self._is_drawn = True
            sys.stderr.write(f"\r\x1b[Kllmask: {text}")
        else:
            self._next_report = now + _LOG_SECONDS
            sys.stderr.write(f"llmask: {text}\n")
        sys.stderr.flush()

    def clear(self) -> None:
        """Remove the line, so that other output can be written."""
        if self._is_drawn:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._is_drawn = False

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *exception: object) -> None:
        self.clear()
