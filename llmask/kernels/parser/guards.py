"""Guards: what an edge or a final state asks of a run through its rule, and how it changes the run's parameter.

A run of a rule carries one parameter, 0 on entry: a count, or the number of a set of small integers.

    guard      int32[GUARD_FIELDS]: kind, then
    COUNT      low, high, add, cap            passes iff low <= count <= high; then count = min(count + add, cap)
    ADD        member, high, required, cap    passes iff the member is new and there is room left for those required:
                                              |set + member| + |required - set - member| <= high; then it is added,
                                              ANOTHER only if |set| < cap
    CHECK      low, high, required, rule + 1  passes iff required is part of the set and low <= |set| <= high, and the
                                              rule (if any) derives a value that is not in the set
    MORE       passed, high, required         passes iff there is room for one more and those required with it
    FOLLOW     number, -, required            of skips that lead elsewhere for some values, see tracked_values.py

Sets are interned lists, set 0 is empty, so that equal sets are equal numbers and rows that differ in nothing else are
one row. Members without a name or a text are counted only.

    set        [size, its texts (text_sets.py), words of 32 bits: the named members; the last word is not 0]
    required   [size, number of words, words], one after the other in `required`; the one at 0 is empty
    condition  [CONDITION, number of nodes, nodes] instead: a decision diagram (grammar/diagrams.py) that tells which
               sets may end. Those required are then the fewest with which the set fulfils it; of members below
               `passed` none is to come (ADD of a member has it where ADD of ANOTHER has `cap`)

Whether a guard passes is asked of every edge of a row; the parameter after an edge is made only when the edge is
taken: a row of 600 keys would make 600 sets of 80 bytes.

In: a grammar's table, a guard, a parameter. Out: yes or no; parameters. Cost: a few loads; a new set about 0.1 us.
"""

from ..machine.jit import inline, kernel
from ..machine.lanes import count_bits
from ..tables.interning import intern_list, list_item, list_length
from ..tables.kinds import GuardKind
from ..tables.memory import reserve
from ..values.called_rules import FIRST_WORD, SIZE, variant

ANOTHER = -1  # the member without a name
UNLIMITED = 2**31 - 1
CONDITION = -1  # instead of a size
N_REQUIRED_WORDS, REQUIRED_WORDS = 1, 2  # of an entry of `required`, or the number of nodes, and these
NODE_FIELDS, (NODE_MEMBER, IF_ABSENT, IF_THERE) = 3, range(3)
FALSE, TRUE, FIRST_NODE = 0, 1, 2  # where nodes lead; FIRST_NODE is the first of them
NOBODY = -2  # no member


@inline
def passes(grammar, guard, parameter):
    """Whether a guard lets a run with this parameter through."""
    if guard == 0:
        return True
    asked = grammar.guards[guard]
    if asked.kind == GuardKind.COUNT:
        return asked.low <= parameter and parameter <= asked.high
    return _passes_set(grammar, guard, parameter)


@inline
def is_followed(grammar, edge):
    """Whether an edge is a skip by which known values are followed; where it leads is in the row itself."""
    return grammar.guards[grammar.edges[edge].guard].kind == GuardKind.FOLLOW


@kernel
def _passes_set(grammar, guard, number):
    asked = grammar.guards[guard]
    if asked.kind == GuardKind.FOLLOW:
        return False
    size = list_item(grammar.sets, number, SIZE)
    if asked.kind == GuardKind.CHECK:
        if size < asked.low or size > asked.high or n_missing(grammar, number, asked.required) != 0:
            return False
        return asked.rule == 0 or variant(grammar, asked.rule - 1, number) >= 0
    if asked.kind == GuardKind.MORE or grammar.required[asked.required] == CONDITION:
        return _leads_on(grammar, guard, number, size)
    member = asked.member
    if member != ANOTHER and _has(grammar, number, member):
        return False
    if asked.high == UNLIMITED:
        return True
    missing = n_missing(grammar, number, asked.required)
    if member != ANOTHER and _required_word(grammar, asked.required, member >> 5) >> (member & 31) & 1 != 0:
        missing -= 1
    return size + 1 + missing <= asked.high


@kernel
def _leads_on(grammar, guard, number, size):
    """Whether some members to come fulfil the condition of a guard of the kind MORE or ADD."""
    asked = grammar.guards[guard]
    if asked.kind == GuardKind.MORE:
        return size + _n_to_come(grammar, number, NOBODY, asked.required, asked.low, True) <= asked.high
    if asked.member != ANOTHER and _has(grammar, number, asked.member):
        return False
    return size + 1 + _n_to_come(grammar, number, asked.member, asked.required, asked.cap, False) <= asked.high


@inline
def after_guard(grammar, guard, parameter):
    """The parameter after a guard that let it through."""
    if guard == 0:
        return parameter
    asked = grammar.guards[guard]
    if asked.kind == GuardKind.COUNT:
        return min(parameter + asked.add, asked.cap)
    if asked.kind != GuardKind.ADD:
        return parameter
    member = asked.member
    if member == ANOTHER and list_item(grammar.sets, parameter, SIZE) >= asked.cap:
        return parameter
    return _with_member(grammar, parameter, member)


@kernel
def _with_member(grammar, number, member):
    """The set with one more member."""
    n = list_length(grammar.sets, number)
    n_after = n if member == ANOTHER else max(n, FIRST_WORD + (member >> 5) + 1)
    address = reserve(grammar.set_in_progress, n_after)
    for i in range(n):
        address[i] = list_item(grammar.sets, number, i)
    for i in range(n, n_after):
        address[i] = 0
    address[SIZE] = address[SIZE] + 1
    if member != ANOTHER:
        at = FIRST_WORD + (member >> 5)
        address[at] = address[at] | (1 << (member & 31))
    return intern_list(grammar.sets, address.address, 0, n_after)


@inline
def _word(grammar, number, position):
    """A word of a set."""
    at = FIRST_WORD + position
    return list_item(grammar.sets, number, at) if at < list_length(grammar.sets, number) else 0


@inline
def _has(grammar, number, member):
    return _word(grammar, number, member >> 5) >> (member & 31) & 1 != 0


@kernel
def _n_to_come(grammar, number, added, condition, passed, is_one_more):
    """The fewest members with which a set and `added` fulfil a condition; above UNLIMITED if none do.

    `is_one_more`: at least one. Nodes follow those to which they lead, so one sweep tells it of each.
    """
    lists = grammar.required
    n = lists[condition + N_REQUIRED_WORDS]
    grammar.work += n >> 3
    fewest = reserve(grammar.fewest_to_come, 2 * (n + FIRST_NODE))
    one_more = n + FIRST_NODE  # from here on: at least one
    fewest[FALSE] = UNLIMITED + 1
    fewest[TRUE] = 0
    fewest[one_more + FALSE] = UNLIMITED + 1
    fewest[one_more + TRUE] = UNLIMITED + 1
    at = condition + REQUIRED_WORDS
    for node in range(FIRST_NODE, one_more):
        member, absent, there = lists[at + NODE_MEMBER], lists[at + IF_ABSENT], lists[at + IF_THERE]
        at += NODE_FIELDS
        if member == added or _has(grammar, number, member):
            fewest[node] = fewest[there]
            fewest[one_more + node] = fewest[one_more + there]
        elif member < passed:
            fewest[node] = fewest[absent]
            fewest[one_more + node] = fewest[one_more + absent]
        else:
            come = min(fewest[there] + 1, UNLIMITED + 1)
            fewest[node] = min(fewest[absent], come)
            fewest[one_more + node] = min(fewest[one_more + absent], come)
    root = n + FIRST_NODE - 1
    return fewest[one_more + root] if is_one_more else fewest[root]


@inline
def _required_word(grammar, required, position):
    lists = grammar.required
    return lists[required + REQUIRED_WORDS + position] if position < n_required_words(grammar, required) else 0


@inline
def n_missing(grammar, number, required):
    """How many required members a set has not got; all edges of a row ask the same."""
    if grammar.missing_of_set != number or grammar.missing_of_required != required:
        grammar.missing_of_set = number
        grammar.missing_of_required = required
        grammar.missing_count = _count_missing(grammar, number, required)
    return grammar.missing_count


@kernel
def _count_missing(grammar, number, required):
    if grammar.required[required] == CONDITION:
        return _n_to_come(grammar, number, NOBODY, required, 0, False)
    n = 0
    for i in range(n_required_words(grammar, required)):
        n += count_bits(missing_word(grammar, number, required, i))
    return n


@inline
def n_required_words(grammar, required):
    """How many words name required members; 0 for a condition."""
    return 0 if grammar.required[required] == CONDITION else grammar.required[required + N_REQUIRED_WORDS]


@inline
def missing_word(grammar, number, required, position):
    """A word of the required members that a set has not got."""
    return _required_word(grammar, required, position) & ~_word(grammar, number, position) & 0xFFFFFFFF
