"""A grammar backend of SGLang, `--grammar-backend llmask`.

    requests    SGLang's tokenizer as a compiler; the key of a request as a compiled grammar
    grammar     the grammar of one request, how far its text has come, and the number of tokens for it
    backend     what compiles keys in threads, and remembers them

SGLang calls `register` in each of its processes, by the entry point `llmask` of the group `sglang.srt.plugins`. Written
for SGLang 0.5.23.

In: SGLang's registry of grammar backends. Out: a further one in it. Cost: an import of SGLang's base classes.
"""

from __future__ import annotations

from typing import Any

NAME = "llmask"
MARK = "is_of_llmask"  # on a function that has taken the place of one of SGLang's


def register() -> None:
    """Make the backend known, and its name a choice of the command line; again changes nothing.

    Raises
    ------
    ImportError : this SGLang has no registry. SGLang logs what a plug-in raises and goes on without it.
    """
    from sglang.srt.arg_groups.choices import GRAMMAR_BACKEND_CHOICES, add_grammar_backend_choices
    from sglang.srt.constrained.base_grammar_backend import register_grammar_backend
    from sglang.srt.constrained.grammar_manager import GrammarManager

    from .grammar import within_tokens

    register_grammar_backend(NAME, make_backend)
    if NAME not in GRAMMAR_BACKEND_CHOICES:
        add_grammar_backend_choices([NAME])
    manager: Any = GrammarManager
    if not hasattr(manager._apply_request_reasoning_config, MARK):
        manager._apply_request_reasoning_config = within_tokens(manager._apply_request_reasoning_config)


def make_backend(server_args: Any, tokenizer: Any, vocab_size: int, eos_token_ids: Any = None) -> Any:
    """What SGLang calls for the backend of a scheduler.

    Where a model thinks before it answers, SGLang wraps the backends that it knows, and no backend of the registry. So
    that is done here, and with SGLang's own class: its scheduler tells no other one of a request's thinking budget.

    Parameters
    ----------
    server_args : of the server; what it resolved them to is read.
    tokenizer : SGLang's.
    vocab_size : the number of the model's logits.
    eos_token_ids : set of int, from the model's configuration, or None.

    Raises
    ------
    VocabularyError : the tokenizer cannot be read; the server does not start.
    """
    from sglang.srt.runtime_context import get_serving

    from llmask import warm

    from .backend import backend_class
    from .requests import compiler_for, json_options

    warm()
    serving = get_serving()
    compiler = compiler_for(tokenizer, vocab_size, eos_token_ids)
    compiler.tokenizer.warm()
    return _after_thinking(backend_class()(compiler, json_options(serving)), tokenizer, serving)


def _after_thinking(backend: Any, tokenizer: Any, serving: Any) -> Any:
    """The backend itself, or one whose grammars begin after the thinking, as `create_grammar_backend` wraps others."""
    if not serving.reasoning_parser:
        return backend
    from sglang.srt.parser.reasoning_parser import ReasoningParser

    from .backend import thinking_backend_class

    parser = ReasoningParser(model_type=serving.reasoning_parser, stream_reasoning=False, tokenizer=tokenizer)
    if not parser.detector.get_think_end_token_ids(tokenizer):
        return backend
    return thinking_backend_class()(backend, parser, tokenizer, enable_strict_thinking=serving.enable_strict_thinking)
