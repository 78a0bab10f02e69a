"""Guards: what an edge or a final state asks of a run through its rule, and how it changes the run's parameter.

A run of a rule carries one parameter, 0 on entry: a count, or the number of a set of small integers.

    guard      int32[GUARD_FIELDS]: kind, then
    COUNT      low, high, add, cap            passes iff low <= count <= high; then count = min(count + add, cap)
    ADD        member, high, required, cap    passes iff the member is new and there is room left for those required:
                                              |set + member| + |required - set - member| <= high; then it is added,
                                              ANOTHER only if |set| < cap
    CHECK      low, high, required, rule + 1  passes iff required is part of the set and low <= |set| <= high, and the
                                              rule (if any) derives a value that is not in the set
    MORE       passed, -, required            passes iff one more may come, and those required with it
    FOLLOW     number, whose, required, endless
                                              of skips that lead elsewhere for some values, and of calls of rules that
                                              have such skips (with NESTED for a number), see tracked_values.py

Sets are interned lists, set 0 is empty, so that equal sets are equal numbers and rows that differ in nothing else are
one row. Members without a name or a text are counted only.

    set        [size, its texts (values/called_rules.py), words of 32 bits: the named members; the last word is not 0]
    required   [size, number of words, words], one after the other in `required`; the one at 0 is empty
    condition  [CONDITION, number of nodes, nodes] instead: a decision diagram (grammar/diagrams.py) that tells which
               sets may end. ADD and MORE then ask whether members to come fulfil it, none of them below `passed` (ADD
               of a member has it where ADD of ANOTHER has `cap`); those missing are the fewest that do

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
NESTED = -1  # in place of the number of a guard of the kind FOLLOW


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
    asked = grammar.guards[grammar.edges[edge].guard]
    return asked.kind == GuardKind.FOLLOW and asked.low != NESTED


@inline
def is_decided(grammar, guard, number):
    """Whether what is left of a run with this set may be known: all required is there, all endless members but one."""
    asked = grammar.guards[guard]
    return n_missing(grammar, number, asked.required) == 0 and n_missing(grammar, number, asked.endless) <= 1


@kernel
def _passes_set(grammar, guard, number):
    asked = grammar.guards[guard]
    if asked.kind == GuardKind.FOLLOW:
        return asked.low == NESTED
    size = list_item(grammar.sets, number, SIZE)
    if asked.kind == GuardKind.CHECK:
        if size < asked.low or size > asked.high or n_missing(grammar, number, asked.required) != 0:
            return False
        return asked.rule == 0 or variant(grammar, asked.rule - 1, number) >= 0
    if asked.kind == GuardKind.MORE or grammar.required[asked.required] == CONDITION:
        return _leads_on(grammar, guard, number)
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
def _leads_on(grammar, guard, number):
    """Whether some members to come fulfil the condition of a guard of the kind MORE or ADD."""
    asked = grammar.guards[guard]
    if asked.kind == GuardKind.MORE:
        return _can_fulfil(grammar, number, NOBODY, asked.required, asked.low)
    if asked.member != ANOTHER and _has(grammar, number, asked.member):
        return False
    return _can_fulfil(grammar, number, asked.member, asked.required, asked.cap)


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
def _can_fulfil(grammar, number, added, condition, passed):
    """Whether a set fulfils a condition with `added` and some members to come; at least one if `added` is NOBODY.

    Ways down the diagram are tried one by one, first those on which no other member comes; not those on which the set
    alone leads nowhere. No node is tried twice: of those that were, each has the one before it in a chain.
    """
    n_missing(grammar, number, condition)
    fewest = grammar.fewest_to_come
    lists = grammar.required
    n = lists[condition + N_REQUIRED_WORDS] + FIRST_NODE
    chain = reserve(grammar.tried_ways, 2 * n)  # by 2 * node + 1 where a member comes; all 0 between calls
    waiting = reserve(grammar.ways_to_try, 2 * n)
    waiting[0] = 2 * (n - 1) + (added != NOBODY)
    n_waiting = 1
    last = NOBODY
    found = False
    while n_waiting > 0 and not found:
        n_waiting -= 1
        way = waiting[n_waiting]
        node, has_come = way >> 1, way & 1
        if node < FIRST_NODE:
            found = node == TRUE and has_come != 0
            continue
        if chain[way] != 0 or fewest[node] > UNLIMITED:
            continue
        chain[way] = last
        last = way
        at = condition + REQUIRED_WORDS + (node - FIRST_NODE) * NODE_FIELDS
        member = lists[at + NODE_MEMBER]
        is_there = member == added or _has(grammar, number, member)
        if not is_there and member >= passed:
            waiting[n_waiting] = 2 * lists[at + IF_THERE] + 1
            n_waiting += 1
        waiting[n_waiting] = 2 * lists[at + (IF_THERE if is_there else IF_ABSENT)] + has_come
        n_waiting += 1
    while last != NOBODY:
        grammar.work += 1
        before = chain[last]
        chain[last] = 0
        last = before
    return found


@kernel
def _fewest_to_come(grammar, number, condition):
    """The fewest members with which a set fulfils a condition; above UNLIMITED if none do.

    Nodes follow those to which they lead, so one sweep tells it of each.
    """
    lists = grammar.required
    n = lists[condition + N_REQUIRED_WORDS] + FIRST_NODE
    grammar.work += n >> 3
    fewest = reserve(grammar.fewest_to_come, n)
    fewest[FALSE] = UNLIMITED + 1
    fewest[TRUE] = 0
    at = condition + REQUIRED_WORDS
    for node in range(FIRST_NODE, n):
        there = fewest[lists[at + IF_THERE]]
        if _has(grammar, number, lists[at + NODE_MEMBER]):
            fewest[node] = there
        else:
            fewest[node] = min(fewest[lists[at + IF_ABSENT]], there + 1, UNLIMITED + 1)
        at += NODE_FIELDS
    return fewest[n - 1]


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
        return _fewest_to_come(grammar, number, required)
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
