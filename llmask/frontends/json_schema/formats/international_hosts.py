r"""Host names beyond ASCII: RFC 5890 to 5893, with the dots of RFC 3490, section 3.1.

A name is one of ASCII (see `patterns`), or what all of these allow, each a node of its own over the whole name:

    permitted code points, contextual rules, the Bidi rule, hyphens, letters with marks: `idna_automata`
    length of a label in Punycode, at most 63, and of the name, at most 253 (section 4.2.4; not in a mailbox)

None is a complement: complements that are intersected become the complement of one union, whose derivatives are new
for each combination of what the rules remember. Written as look-arounds, the same rules took 100 ms a mask.

Left out, so that the set is a part of the valid names: A-labels ("xn--"), see `patterns`; a mark that composes with the
last starter, even where a mark between them blocks it, and after a letter of ASCII one that composes with another;
marks that compose where marks of two scripts follow one letter; joiners between letters that those automata do
not know to join; names of more than four labels, unless all is ASCII; and labels whose Punycode might be too long. That
length is not regular, but a search over all states of the encoder (RFC 3492, section 6.3: bias, code points so far,
distance left to the greatest one) bounds it: labels of at most LENGTHS code points always fit, and so do four of them
with their dots.

In: a store's nodes. Out: the node of all JSON spellings of the texts. Cost: 0.1 s a store.
"""

from __future__ import annotations

from llmask.frontends.regex import compile_pattern
from llmask.regex.nodes import RegexNodes

from ..lexical.strings import once
from .patterns import ADDRESS_LITERAL, HOSTNAME, NAME, local_part, mailbox

BEYOND_ASCII = r"\u0080-\u{10FFFF}"
# Members of a class beside ASCII, and how many code points of it always make a label of 62 octets at most: four of
# them make a name.
LENGTHS = (
    ("", 62),
    (r"\u0080-\u07FF", 19),
    (r"\u0900-\u0DFF", 19),
    (r"\u3005-\u9FFF", 14),
    (r"\uAC00-\uD7A3", 15),
    (r"\u0080-\u3001\u3003-\uFF0D\uFF0F-\uFF60\uFF62-\u{10FFFF}", 11),
)
MORE_LABELS = "{0,3}"  # after the first one: four of 62 octets and their dots are a name


def international_hostname(nodes: RegexNodes) -> int:
    """Node of the names."""
    return _names(nodes, HOSTNAME, MORE_LABELS)


def _names(nodes: RegexNodes, ascii_names: str, more_labels: str) -> int:
    def make() -> int:
        rules = [_pattern(nodes, lengths(more_labels)), *once(nodes, __name__, lambda: _rules(nodes))]
        return nodes.union([_pattern(nodes, ascii_names), nodes.intersect(rules)])

    return once(nodes, (__name__, more_labels), make)


def _rules(nodes: RegexNodes) -> list[int]:
    """A node for each of the automata, of spellings in the default style: `lengths` leaves what another style has."""
    from .idna_automata import automata, node_of  # late: for names beyond ASCII only

    return [node_of(nodes, *arrays) for arrays in automata()]


def _pattern(nodes: RegexNodes, text: str) -> int:
    return compile_pattern(nodes, f"^(?:{text})$", "ecma", json_string=True)


def lengths(more_labels: str) -> str:
    """Pattern of how long labels are, and of how many there may be."""
    windows = "|".join(rf"[0-9a-z\-{window}]{{1,{most}}}" for window, most in LENGTHS[1:])
    label = rf"(?:[0-9A-Za-z\-]{{1,{LENGTHS[0][1]}}}|{windows})"
    return rf"{label}(?:[.\u3002\uFF0E\uFF61]{label}){more_labels}"


def international_mailbox(nodes: RegexNodes) -> int:
    """Node of the mailboxes whose local part and host may go beyond ASCII (RFC 6531, section 3.3).

    As in `email` only labels are limited, not the host: a count over all of it makes the states after each dot new.
    """
    host = nodes.union([_names(nodes, NAME, "*"), _pattern(nodes, ADDRESS_LITERAL)])
    return nodes.concat([_pattern(nodes, f"{local_part(BEYOND_ASCII)}@"), host])


# Supersets, for negation: nothing is asked of characters beyond ASCII.
HOSTNAME_AT_MOST = rf"[0-9A-Za-z.\-{BEYOND_ASCII}]+"
MAILBOX_AT_MOST = mailbox(BEYOND_ASCII, HOSTNAME_AT_MOST)
