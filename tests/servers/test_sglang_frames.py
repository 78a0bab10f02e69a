"""Masks of SGLang beyond an answer's own: trees of drafts, thinking before it, a frame of the model's around it."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest

from llmask import Compiler, Tokenizer
from llmask.integrations.sglang.backend import backend_class
from tests.servers.sglang_here import (
    N_BEYOND,
    InvalidGrammarObject,
    ReasonerGrammarBackend,
    ReasonerGrammarObject,
    allowed,
    batch_of,
    bits,
    compiled,
    generate_token_bitmask,
    hf_tokenizer,
    manager_of,
    request,
    served,
    torch,
    traverse_tree,
)


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return hf_tokenizer()


# --- drafts


def chain(*tokens: int) -> tuple[Any, Any, Any]:
    """A tree without a branch, as SGLang writes it; node 0 is the last accepted token."""
    n = len(tokens) + 1
    next_token = torch.tensor([*range(1, n), -1])
    return next_token, torch.full((n,), -1), torch.tensor([0, *tokens])


def test_a_tree_of_drafts_is_walked_and_leaves_no_trace(tokenizer: Any) -> None:
    n_logits = len(tokenizer) + N_BEYOND
    a, b, c = (tokenizer.encode(letter)[0] for letter in "abc")
    #         0 -> a -> b (sibling c) ; a's sibling is c, which is refused, with b after it
    next_token = torch.tensor([1, 2, -1, -1, 5, -1])
    next_sibling = torch.tensor([-1, 4, 3, -1, -1, -1])
    drafts = torch.tensor([0, a, b, c, c, b])
    with served(tokenizer) as backend:
        grammar = compiled(backend, "regex", "a[bc]d|bd")
        mask = grammar.allocate_vocab_mask(n_logits, 6, "cpu")
        traverse_tree(next_token, next_sibling, drafts, grammar, mask, vocab_size=n_logits)
        assert bits(mask[0]) == allowed(grammar, n_logits)
        for node, path in ((1, [a]), (2, [a, b]), (3, [a, c])):
            walked = grammar.copy()
            for token in path:
                walked.accept_token(token)
            assert bits(mask[node]) == allowed(walked, n_logits)
        assert (mask[4:] == -1).all()


def test_drafts_go_beyond_the_end_of_sequence(tokenizer: Any) -> None:
    n_logits = len(tokenizer) + N_BEYOND
    end = tokenizer.eos_token_id
    a = tokenizer.encode("a")[0]
    with served(tokenizer) as backend:
        grammar = compiled(backend, "regex", "a")
        requests = [request("regex", None), request("regex", "a")]
        requests[1].grammar = grammar
        trees = [chain(a, end, a), chain(a, end, a)]
        masks, of = generate_token_bitmask(
            requests, *(torch.stack([tree[part] for tree in trees]) for part in range(3)), vocab_size=n_logits
        )
        assert of is grammar
        assert (masks[:4] == -1).all()
        assert a in bits(masks[4])
        assert bits(masks[5]) == {end}
        assert (masks[6:] == -1).all()  # the text has ended there
        assert not grammar.is_terminated()
        assert a in allowed(grammar, n_logits)


def random_tree(rng: random.Random, n_nodes: int) -> tuple[list[int], Any, Any]:
    """The parent of each node, and the links of the tree as SGLang writes them."""
    parents = [-1, *(rng.randrange(node) for node in range(1, n_nodes))]
    next_token, next_sibling = torch.full((n_nodes,), -1), torch.full((n_nodes,), -1)
    for parent in range(n_nodes):
        children = [node for node in range(n_nodes) if parents[node] == parent]
        next_token[parent] = children[0] if children else -1
        for one, other in itertools.pairwise(children):
            next_sibling[one] = other
    return parents, next_token, next_sibling


def mask_after(grammar: Any, tokens: list[int], n_logits: int) -> set[int] | None:
    """What may follow some tokens; None where one is refused, or comes after the end, or the text has ended."""
    for token in tokens:
        if grammar.is_terminated() or token not in allowed(grammar, n_logits):
            return None
        grammar.accept_token(token)
    return None if grammar.is_terminated() else allowed(grammar, n_logits)


@pytest.mark.parametrize("is_thinking", [False, True])
def test_random_trees_of_drafts_have_the_masks_of_their_paths(
    tokenizer: Any, rng: random.Random, is_thinking: bool
) -> None:
    """Rows of other nodes keep their ones. In some trees the thinking ends, in some the text."""
    n_nodes, n_logits = 12, len(tokenizer) + N_BEYOND
    think_end = tokenizer.encode("</think>", add_special_tokens=False)
    likely = [*think_end, tokenizer.eos_token_id, *tokenizer.encode('["a",12]')] * 2
    key = ("json", '{"items": {"enum": ["a", 12]}, "type": "array"}')
    with served(tokenizer, think_end_ids=think_end, reasoning_parser="qwen3") as backend:
        n_free = n_bound = 0
        for _ in range(60):
            before = [*(think_end if is_thinking else []), *tokenizer.encode("[")][: rng.randrange(3)]
            grammar = compiled(backend, *key, is_thinking)
            for token in before:
                grammar.accept_token(token)
            parents, next_token, next_sibling = random_tree(rng, n_nodes)
            tokens = [0, *(rng.choice([*likely, rng.randrange(n_logits)]) for _ in range(n_nodes - 1))]
            mask = grammar.allocate_vocab_mask(n_logits, n_nodes, "cpu")
            traverse_tree(next_token, next_sibling, torch.tensor(tokens), grammar, mask, vocab_size=n_logits)
            paths: list[list[int]] = [[]]
            for node in range(1, n_nodes):
                paths.append([*paths[parents[node]], tokens[node]])
            for node, path in enumerate(paths):
                expected = mask_after(compiled(backend, *key, is_thinking), [*before, *path], n_logits)
                assert bits(mask[node]) == (bits(torch.full_like(mask[0], -1)) if expected is None else expected)
                n_bound += expected is not None
                n_free += expected is None
        assert min(n_free, n_bound) > 50


# --- thinking


def test_a_request_that_thinks_is_free_until_its_thinking_ends(tokenizer: Any) -> None:
    n_logits = len(tokenizer) + N_BEYOND
    (end,) = tokenizer.encode("</think>", add_special_tokens=False)
    a = tokenizer.encode("a")[0]
    x = tokenizer.encode("x")[0]
    with served(tokenizer, think_end_ids=[end], reasoning_parser="qwen3") as backend:
        assert isinstance(backend, ReasonerGrammarBackend)
        for n in range(2):  # compiled, and from the cache
            grammar = compiled(backend, "regex", "a+", True)
            assert isinstance(grammar, ReasonerGrammarObject)
            info = batch_of([grammar], n_logits)
            info.update_regex_vocab_mask()
            assert (info.grammar_mask.vocab_mask == -1).all()
            for token in (x, x, end):
                grammar.accept_token(token)
            expected = allowed(grammar, n_logits)
            assert a in expected
            assert x not in expected
            grammar.rollback(2)
            assert x in allowed(grammar, n_logits)
            mask = grammar.allocate_vocab_mask(n_logits, 5, "cpu")
            traverse_tree(*chain(x, end, a, x), grammar, mask, vocab_size=n_logits)
            assert (mask[:2] == -1).all()
            assert bits(mask[2]) == expected
            assert bits(mask[3]) == expected | {tokenizer.eos_token_id}
            assert (mask[4] == -1).all(), n
        plain = compiled(backend, "regex", "a+", False)
        assert allowed(plain, n_logits) == expected
        assert not isinstance(compiled(backend, "full_assistant_ebnf", 'root ::= "a"', True), ReasonerGrammarObject)
        assert isinstance(compiled(backend, "regex", "(a", True), InvalidGrammarObject)


def test_thinking_has_a_budget(tokenizer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """SGLang enforces one with --enable-strict-thinking; a request may have its own."""
    monkeypatch.setenv("SGLANG_MAX_THINK_TOKENS", "3")
    (end,) = tokenizer.encode("</think>", add_special_tokens=False)
    x = tokenizer.encode("x")[0]
    n_logits = len(tokenizer) + N_BEYOND
    with manager_of(tokenizer, reasoning_parser="qwen3", enable_strict_thinking=True) as manager:
        for budget, n_free in ((None, 3), (1, 1)):
            custom = {} if budget is None else {"thinking_budget": budget}
            for kind, text in (("regex", "a+"), ("regex", None)):
                asked = request(kind, text, True, **custom)
                if manager.process_req_with_grammar(asked):
                    assert manager.get_ready_grammar_requests() == [asked]
                for _ in range(n_free):
                    info = batch_of([asked.grammar], n_logits)
                    info.update_regex_vocab_mask()
                    found = bits(info.grammar_mask.vocab_mask[0])
                    assert {x, end} <= found
                    assert tokenizer.convert_tokens_to_ids("<tool_call>") not in found
                    asked.grammar.accept_token(x)
                assert allowed(asked.grammar, n_logits) == {end}


def test_tokens_are_filtered_as_sglang_does_it(tokenizer: Any, rng: random.Random) -> None:
    from sglang.srt.constrained.torch_ops.token_filter_torch_ops import set_token_filter_torch

    with served(tokenizer) as backend:
        assert backend.is_support_token_filter
        for n in range(40):
            ours = torch.randint(-(2**31), 2**31, (3, 10), dtype=torch.int32)
            theirs = ours.clone()
            tokens = [rng.randrange(320) for _ in range(n % 5)]
            flags = {"is_allowed": bool(n & 1), "reset_vocab_mask": bool(n & 2)}
            backend.set_token_filter(ours, tokens, 1, **flags)
            set_token_filter_torch(theirs, tokens, 1, **flags)
            assert torch.equal(ours, theirs)


# --- answers in a frame

TRIGGERED = '{"structures": [{"begin": "<f=a>", "schema": null, "end": "</f>"}], "triggers": ["<f="]}'


@pytest.fixture(scope="module")
def framing() -> Any:
    """A backend for a model with Inkling's tokens, numbers above 200,000, which its tokenizer has as text."""
    from sglang.srt.parser.inkling_tokenizer import INKLING_SPECIAL_TOKEN_IDS

    tokens = [bytes([byte]) for byte in range(256)] + [b""] * 199_844
    for name, token in INKLING_SPECIAL_TOKEN_IDS.items():
        tokens[token] = name.encode()
    return backend_class()(Compiler(Tokenizer.from_bytes(tokens, eos=256)), {"whitespace": "flexible"})


@pytest.mark.parametrize(
    ("kind", "source", "text"),
    [
        ("json", '{"const": {"a": "b"}}', b'{"a": "b"}'),
        ("json", "$$ANY$$", b"[1]"),
        ("regex", "[ab]{2}", b"ab"),
        ("ebnf", 'root ::= "a" root | "b"', b"ab"),
    ],
)
def test_an_answer_stands_in_a_frame_of_its_model(framing: Any, kind: str, source: str, text: bytes) -> None:
    from sglang.srt.parser.answer_frame import InklingAnswerFrame
    from sglang.srt.parser.inkling_tokenizer import INKLING_SPECIAL_TOKEN_IDS as IDS

    frame = InklingAnswerFrame()
    framing.reserve_framing_tokens(frame.framing_token_ids())
    model, content, thinking, end = (
        IDS[f"<|{name}|>"] for name in ("message_model", "content_text", "content_thinking", "end_message")
    )
    n_logits = 200_100
    for is_open, n_thoughts in ((True, -1), (False, -1), (False, 2)):
        framed = framing.compile_framed_grammar(
            compiled(framing, kind, source),
            lambda content, is_open=is_open, most=n_thoughts: frame.structural_tag(
                content, in_answer_block=is_open, max_think_tokens=most
            ),
        )
        grammar = framed.copy()
        thoughts = [ord("x")] * abs(2 * n_thoughts if n_thoughts < 0 else n_thoughts)
        before = [] if is_open else [model, thinking, *thoughts, end, model, content]
        for token in [*before, *text, end]:
            assert token in allowed(grammar, n_logits)
            grammar.accept_token(token)
        assert allowed(grammar, n_logits) == {256}
        if n_thoughts == 2:
            grammar.rollback(len(text) + 4)
            assert allowed(grammar, n_logits) == {end}


def test_a_text_in_a_frame_does_not_spell_its_tokens(framing: Any) -> None:
    from sglang.srt.parser.answer_frame import InklingAnswerFrame
    from sglang.srt.parser.inkling_tokenizer import INKLING_SPECIAL_TOKEN_IDS as IDS

    frame = InklingAnswerFrame()
    framing.reserve_framing_tokens(frame.framing_token_ids())
    grammar = compiled(framing, "json", '{"type": "string"}')
    framed = framing.compile_framed_grammar(
        grammar, lambda content: frame.structural_tag(content, in_answer_block=True, max_think_tokens=-1)
    )
    for one in (grammar, framed):
        one.accept_token(ord('"'))
    end = IDS["<|end_message|>"]
    assert end in allowed(grammar, 200_100)  # as text
    assert end not in allowed(framed, 200_100)
    assert ord("x") in allowed(framed, 200_100)


def test_tokens_of_a_frame_are_no_text(tokenizer: Any) -> None:
    """Also where the tokenizer has them as text: a token that spells "a" alone is kept for the frame."""
    a, x = (tokenizer.encode(letter)[0] for letter in "ax")

    def frame(content: dict[str, Any]) -> dict[str, Any]:
        parts = [{"type": "token", "token": a}, content, {"type": "token", "token": a}]
        return {"type": "structural_tag", "format": {"type": "sequence", "elements": parts}}

    with served(tokenizer) as backend:
        grammar = compiled(backend, "regex", "[ax]")
        backend.reserve_framing_tokens([a])
        framed = backend.compile_framed_grammar(grammar, frame)
        assert allowed(framed, len(tokenizer)) == {a}
        framed.accept_token(a)
        assert allowed(framed, len(tokenizer)) == {x}
        assert allowed(grammar, len(tokenizer)) == {a, x}
        refused = backend.compile_framed_grammar(grammar, lambda content: {"format": {"type": "token", "token": -1}})
        assert isinstance(refused, InvalidGrammarObject)
        assert "#/format/token" in refused.error_message


def test_what_has_no_form_in_a_frame_is_left_to_sglang(tokenizer: Any) -> None:
    with served(tokenizer) as backend:
        for kind, source in (("ebnf", 'start: "a"'), ("ebnf", "root ::= ."), ("structural_tag", TRIGGERED)):
            assert backend.compile_framed_grammar(compiled(backend, kind, source), dict) is None
