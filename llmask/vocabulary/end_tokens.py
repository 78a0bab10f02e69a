"""Which tokens end a sequence.

A chat model ends its turn with a token other than the end-of-text token of its base model, and files often declare only
the latter. Like llama.cpp (`llama-vocab.cpp`, end-of-generation tokens) we also look for well-known names. Its tokens
for fill-in-the-middle padding are left out: they end no document. Names that are common text in other vocabularies
("</s>" closes a tag in HTML) count only when the file itself calls the token a control token.

In: the ids a file declares, all token texts and types. Out: the ids that end a sequence. Cost: one search a name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from .vocabulary import TokenType

END_NAMES = (
    b"<|eot_id|>",
    b"<|eom_id|>",
    b"<|im_end|>",
    b"<|end|>",
    b"<|return|>",
    b"<|call|>",
    b"<end_of_turn>",
    b"<|endoftext|>",
    b"<|end_of_text|>",
    b"<EOT>",
    b"_<EOT>",
    b"<end_of_utterance>",
)
CONTROL_END_NAMES = (b"</s>", b"<eos>", b"[EOS]", b"[EOT]", b"<turn|>", b"<|flush|>", b"<|calls|>")


def find_end_ids(
    declared: Iterable[int], find_text: Callable[[bytes], int], type_of: Callable[[int], int]
) -> tuple[int, ...]:
    """Ids that end a sequence: the declared ones first, then those found by name.

    Parameters
    ----------
    declared : ids that the file declares (end of sequence, of turn, of message).
    find_text : id of the token with this text, or -1.
    type_of : `TokenType` of an id.
    """
    found = dict.fromkeys(declared)
    by_name = {name: find_text(name) for name in (*END_NAMES, *CONTROL_END_NAMES)}
    for name, token in by_name.items():
        if token >= 0 and (name in END_NAMES or type_of(token) == TokenType.CONTROL):
            found[token] = None
    # gpt-oss ends a message, not its turn, with <|end|>; llama.cpp drops it when these three stand together
    if by_name[b"<|return|>"] >= 0 and by_name[b"<|call|>"] >= 0 and len(found) > 1:
        found.pop(by_name[b"<|end|>"], None)
    return tuple(found)
