"""What copying and pickling do to objects whose state lies in tables of this process.

`copy.copy` of a matcher used to give one that shared the history and the cell with the first, so that a token accepted
by either was in both. A copy of a matcher is a fork. A grammar and a compiler are shared by all their users, who never
change them, so a copy is the object itself: what holds one, a request or a processor, can be copied whole.

In: objects. Out: copies, or the error that says what to pickle instead. Cost: that of a fork.
"""

from __future__ import annotations

from typing import Any, ClassVar, NoReturn

from ..errors import LlmaskError


class Unpicklable:
    """Base of what cannot be pickled, with a message that helps.

    Attributes
    ----------
    instead : what to pickle in its place.
    """

    __slots__ = ()
    instead: ClassVar[str]

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise LlmaskError(
            f"a {type(self).__name__} cannot be pickled: what it knows lies in tables of this process",
            help=self.instead,
        )


class Shared(Unpicklable):
    """Base of what all users share: a copy is the object itself."""

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self


class Forking(Unpicklable):
    """Base of matchers, which have a state of their own: a copy is a fork."""

    __slots__ = ()
    instead = "pickle what the grammar was compiled from, and matcher.tokens; compile there, and accept the tokens"

    def fork(self) -> Any:
        """An independent object in the same state."""
        raise NotImplementedError  # every kind of matcher has its own

    def __copy__(self) -> Any:
        return self.fork()

    def __deepcopy__(self, memo: Any) -> Any:
        return self.fork()
