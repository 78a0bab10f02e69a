"""What copying does to objects whose state lies in tables of this process.

`copy.copy` of a matcher used to give one that shared the history and the cell with the first, so that a token accepted
by either was in both. A copy of a matcher is a fork. A grammar and a compiler are shared by all their users, who never
change them, so a copy is the object itself: what holds one, a request or a processor, can be copied whole.

Pickles are another matter: they hold what the objects were made from (compiling/stores.py).

In: objects. Out: copies. Cost: that of a fork.
"""

from __future__ import annotations

from typing import Any


class Shared:
    """Base of what all users share: a copy is the object itself."""

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self


class Forking:
    """Base of matchers, which have a state of their own: a copy is a fork."""

    __slots__ = ()

    def fork(self) -> Any:
        """An independent object in the same state."""
        raise NotImplementedError  # every kind of matcher has its own

    def __copy__(self) -> Any:
        return self.fork()

    def __deepcopy__(self, memo: Any) -> Any:
        return self.fork()
