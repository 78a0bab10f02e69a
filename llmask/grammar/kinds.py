"""Kinds of edges and guards, and the numbers that each takes: the words that rules are written in (rules.py).

In: nothing. Out: constants and types. Cost: none.
"""

from __future__ import annotations

from struct import Struct
from typing import NewType

RuleId = NewType("RuleId", int)
StateId = NewType("StateId", int)
GuardId = NewType("GuardId", int)

SCAN = 0  # kinds of edges
CALL = 1
SKIP = 2
CALL_NEW = 3  # a value of a rule that is not in the set
CALL_PLAIN = 4  # the same, of a plain rule
CALL_OPEN = 5  # the same, of an open rule
CALL_AGAIN = 6  # a value of a rule that is in the set
SKIP_LATE = 7  # to a state that is written when a run first gets there
CALLS = (CALL, CALL_NEW, CALL_PLAIN, CALL_OPEN, CALL_AGAIN)
NO_GUARD = GuardId(0)
COUNT = 0  # kinds of guards
ADD = 1
CHECK = 2
MORE = 3
FOLLOW = 4
OTHERS, OWN, OWN_COUNTED = range(3)  # whose values are followed, see `Rules.follow_guard`
NESTED = -1  # in place of the number of a guard of the kind FOLLOW: of calls for members, see `Rules.follow_guard`
FIRST_FOLLOWING = 1 << 30  # in place of a rule: a state for known values, see `Rules.follow_guard`
ANOTHER = -1  # a member that is counted, without a number of its own
CONDITION = -1  # what begins a condition in place of the number of required members
GUARD_FIELDS = 5  # COUNT, low, high, add, cap | ADD, member, high, required, cap | CHECK, low, high, required, rule + 1
# | MORE, passed, high, required, 0 | FOLLOW, number, whose, required, endless
UNBOUNDED = 2**31 - 1
EDGE_FIELDS = 5  # state, kind, symbol (regex node or rule), next state, guard
# for `edges.frombytes`, which takes a fifth of the time of `extend`
pack_edge, pack_edges = (Struct(f"{n * EDGE_FIELDS}i").pack for n in (1, 2))
PRIORITY_FIELDS = 3  # edge, priority, 1 where nothing ignored comes before it
