"""Mistakes in calls: arguments of the wrong kind, or at the wrong time."""

from __future__ import annotations

import numpy as np

import llmask
from llmask.errors import BudgetError, GrammarError, TokenRejected
from llmask.samplers import llama_cpp, transformers

from . import Mistake, compiling


class Point:
    """A type that a schema could be made of."""


MISTAKES = [
    Mistake(
        "Call: compiler of a name",
        lambda w: llmask.Compiler("gpt2"),
        "a tokenizer is a llmask.Tokenizer, not str",
        "make one with Tokenizer.from_huggingface, from_gguf, from_tiktoken or from_bytes",
    ),
    Mistake(
        "Call: limits a dict",
        lambda w: llmask.Compiler(w.tokenizer, limits={"max_rows": 3}),
        "limits are a llmask.Limits, not dict",
        "llmask.Limits(max_rows=...)",
    ),
    Mistake(
        "Call: limit negative",
        lambda w: llmask.Compiler(w.tokenizer, llmask.Limits(max_rows=-1)),
        "limits.max_rows is a positive integer, not -1",
        "it is below 2**62",
    ),
    Mistake(
        "Call: processor of a dict",
        lambda w: transformers.GrammarLogitsProcessor({"type": "object"}, max_tokens=5),
        "a processor takes a compiled grammar, not dict",
        (
            "compile it first: compiler = llmask.Compiler(tokenizer), and then compiler.json_schema(...) of "
            "a dict, JSON text or type, compiler.regex(...), compiler.lark(...), ..."
        ),
    ),
    Mistake(
        "Call: processor of a matcher",
        lambda w: transformers.GrammarLogitsProcessor(w.matcher(), max_tokens=5),
        "a processor takes a compiled grammar, not Matcher",
        (
            "compile it first: compiler = llmask.Compiler(tokenizer), and then compiler.json_schema(...) of "
            "a dict, JSON text or type, compiler.regex(...), compiler.lark(...), ..."
        ),
    ),
    Mistake(
        "Call: processor of no grammars",
        lambda w: transformers.GrammarLogitsProcessor([], max_tokens=5),
        "no grammar was given",
        "pass a compiled grammar, or one for each prompt",
    ),
    Mistake(
        "Call: processor with max_tokens 0",
        lambda w: transformers.GrammarLogitsProcessor(w.grammar(), max_tokens=0),
        "a budget is at least 1, not 0",
        "it counts the next token and the end of sequence, too",
    ),
    Mistake(
        "Call: processor with max_tokens a text",
        lambda w: transformers.GrammarLogitsProcessor(w.grammar(), max_tokens="500"),
        "a budget is an integer, not str",
        "give it as an int",
    ),
    Mistake(
        "Call: processor with a negative prompt",
        lambda w: transformers.GrammarLogitsProcessor(w.grammar(), prompt_length=-1, max_tokens=5),
        "prompt_length is -1; it counts tokens and cannot be negative",
        "leave it out to take what the first call brings",
    ),
    Mistake(
        "Call: processor of llama.cpp of a dict",
        lambda w: llama_cpp.GrammarLogitsProcessor({"type": "object"}, max_tokens=5),
        "a processor takes a compiled grammar, not dict",
        (
            "compile it first: compiler = llmask.Compiler(tokenizer), and then compiler.json_schema(...) of "
            "a dict, JSON text or type, compiler.regex(...), compiler.lark(...), ..."
        ),
    ),
    Mistake(
        "Call: processor not in a list",
        lambda w: llmask.generate(w.model, w.chat_tokenizer, w.grammar(), "x", logits_processor=len),
        "logits_processor is a list of processors, not builtin_function_or_method",
        "put it into a list: logits_processor=[...]; llmask.generate adds its own",
    ),
    Mistake(
        "Call: generate without a model",
        lambda w: llmask.generate("gpt2", None, w.grammar(), "x"),
        "a model is one of transformers, or a llama_cpp.Llama, not str",
        "load it with AutoModelForCausalLM.from_pretrained(name) or llama_cpp.Llama(path)",
    ),
    Mistake(
        "Call: generate with a tokenizer of llmask",
        lambda w: llmask.generate(w.model, w.tokenizer, w.grammar(), "x"),
        "a model of transformers does not go with a tokenizer that is a Tokenizer",
        "give AutoTokenizer.from_pretrained(...)",
    ),
    Mistake(
        "Call: generate with max_new_tokens",
        lambda w: llmask.generate(w.model, w.chat_tokenizer, w.grammar(), "x", max_new_tokens=5),
        "max_new_tokens is no option of llmask.generate with transformers",
        "it has max_tokens, prompts and on_value; for more use the logits processor: docs/loops.md",
    ),
    Mistake(
        "Call: generate with a number as prompt",
        lambda w: llmask.generate(w.model, w.chat_tokenizer, w.grammar(), 3),
        "a prompt is a text or the messages of a chat",
        'give "...", or [{"role": "user", "content": "..."}], or a list of these',
    ),
    Mistake(
        "Call: mask of a wrong dtype",
        lambda w: w.matcher().fill_bitmask(np.zeros((1, 10), np.int64)),
        (
            "a bitmask is a writable int32 array of one or two dimensions, the words of a row side by side, not "
            "int64[1, 10]"
        ),
        "make it with llmask.allocate_bitmask(batch, tokenizer.vocab_size)",
    ),
    Mistake(
        "Call: mask too narrow",
        lambda w: w.matcher().fill_bitmask(np.zeros((1, 2), np.int32)),
        "row 0 of a bitmask of shape (1, 2) cannot hold 10 words",
        "make it with llmask.allocate_bitmask(batch, tokenizer.vocab_size)",
    ),
    Mistake(
        "Call: mask of booleans",
        lambda w: w.matcher().fill_bitmask(np.ones((1, 304), bool)),
        (
            "a bitmask is a writable int32 array of one or two dimensions, the words of a row side by side, not "
            "bool[1, 304]"
        ),
        "make it with llmask.allocate_bitmask(batch, tokenizer.vocab_size)",
    ),
    Mistake(
        "Call: row beyond the mask",
        lambda w: w.matcher().fill_bitmask(w.bitmask(), row=1),
        "row 1 of a bitmask of shape (1, 10) cannot hold 10 words",
        "make it with llmask.allocate_bitmask(batch, tokenizer.vocab_size)",
    ),
    Mistake(
        "Call: budget 0",
        lambda w: w.matcher().fill_bitmask(w.bitmask(), budget=0),
        "a budget is at least 1, not 0",
        "it counts the next token and the end of sequence, too",
    ),
    Mistake(
        "Call: budget too small",
        lambda w: w.compiler.regex("a{9}").matcher().fill_bitmask(w.bitmask(), budget=3),
        "a budget of 3 tokens is too small: the shortest document found takes 6 tokens, the end of sequence included",
        "give a budget of at least 6",
        error=BudgetError,
    ),
    Mistake(
        "Call: budget a text",
        lambda w: w.matcher().fill_bitmask(w.bitmask(), budget="9"),
        "a budget is an integer, not str",
        "give it as an int",
    ),
    Mistake(
        "Call: token a text",
        lambda w: w.matcher().accept_token("a"),
        "a token id is an integer, not str",
        "give it as an int",
    ),
    Mistake(
        "Call: token a list",
        lambda w: w.matcher().accept_token([100]),
        "a token id is an integer, not list",
        "give it as an int",
    ),
    Mistake(
        "Call: token refused",
        lambda w: w.matcher().accept_token(123),
        "token 123 'x' cannot come next; expected 'a'..'c'",
        "fill_bitmask tells which tokens may come next, explain why",
        where="token 0, after ''",
        error=TokenRejected,
    ),
    Mistake(
        "Call: token beyond the vocabulary",
        lambda w: w.matcher().accept_token(9999),
        "token 9999 is not in the vocabulary of 304 tokens; expected 'a'..'c'",
        "fill_bitmask tells which tokens may come next, explain why",
        where="token 0, after ''",
        error=TokenRejected,
    ),
    Mistake(
        "Call: text a str",
        lambda w: w.matcher().accept_bytes("a"),
        "text is given as bytes, not as str",
        "encode it as UTF-8 first",
    ),
    Mistake(
        "Call: text refused",
        lambda w: w.matcher().accept_bytes(b"ax"),
        "byte 1 of 'ax' cannot come next; expected 'a'..'c'",
        "fill_bitmask tells which tokens may come next, explain why",
        where="byte 1, after 'a'",
        error=TokenRejected,
    ),
    Mistake(
        "Call: end too early",
        lambda w: w.matcher().accept_token(1),
        "token 1 (end of sequence) cannot come next; expected 'a'..'c'",
        "fill_bitmask tells which tokens may come next, explain why",
        where="token 0, after ''",
        error=TokenRejected,
    ),
    Mistake(
        "Call: matcher used after its end",
        lambda w: w.ended().accept_token(100),
        "token 100 'a' cannot come next; the document has ended",
        "fill_bitmask tells which tokens may come next, explain why",
        where="token 2, after 'c'",
        error=TokenRejected,
    ),
    Mistake(
        "Call: rollback too far",
        lambda w: w.matcher().rollback(1),
        "cannot roll back 1 tokens: 0 were accepted",
        "give a number between 0 and that",
    ),
    Mistake(
        "Call: rollback negative",
        lambda w: w.matcher().rollback(-1),
        "cannot roll back -1 tokens: 0 were accepted",
        "give a number between 0 and that",
    ),
    Mistake(
        "Call: rollback a fraction",
        lambda w: w.matcher().rollback(0.5),
        "the number of tokens to roll back is an integer, not float",
        "give it as an int",
    ),
    Mistake(
        "Call: prefix a str",
        lambda w: w.grammar().matcher(prefix="a"),
        "a prefix is bytes, not str",
        "give what tokenizer.heal gave",
    ),
    Mistake(
        "Call: stop token a text",
        lambda w: w.grammar().matcher(stop_tokens=["</s>"]),
        "a stop token is an integer, not str",
        "give it as an int",
    ),
    Mistake(
        "Call: stop token beyond the vocabulary",
        lambda w: w.grammar().matcher(stop_tokens=[9999]),
        "the stop token 9999 is not in the vocabulary of 304 tokens",
        "stop tokens are token ids; for texts use the framework's stop strings",
    ),
    Mistake(
        "Call: stop tokens and canonical masks",
        lambda w: llmask.Compiler(llmask.Tokenizer.default(), canonical=True).regex("a").matcher(stop_tokens=[3]),
        "stop tokens and canonical masks do not go together",
        "compile without canonical=True; ends of every sequence may be given to the tokenizer as eos",
    ),
    Mistake(
        "Call: bytes while it thinks",
        lambda w: llmask.Reasoning(w.grammar(), end=[5]).matcher().accept_bytes(b"hm"),
        "the thinking is told by its tokens, not by bytes",
        "accept the tokens one by one",
    ),
    Mistake(
        "Call: on_limit unknown",
        lambda w: w.grammar().matcher(on_limit="ignore"),
        'on_limit is "error" or "finish", not \'ignore\'',
        "leave it out",
    ),
    Mistake(
        "Call: two compilers mixed",
        lambda w: w.grammar().union(llmask.Compiler(w.tokenizer).regex("a")),
        "the grammars belong to different compilers, or the compiler has begun a new store between them",
        "compile both with one compiler, one after the other",
        error=GrammarError,
    ),
    Mistake(
        "Call: two tokenizers mixed",
        lambda w: w.grammar().union(w.other_compiler.regex("a")),
        "the grammars belong to different compilers, or the compiler has begun a new store between them",
        "compile both with one compiler, one after the other",
        error=GrammarError,
    ),
    Mistake(
        "Call: union with a text",
        lambda w: w.grammar().union("a"),
        "union takes what Compiler returns, not str",
        "compile it first",
        error=GrammarError,
    ),
    Mistake(
        "Call: repeat the wrong way round",
        lambda w: w.grammar().repeat(3, 2),
        "a grammar cannot be repeated 3 to 2 times",
        "bounds are whole numbers in order, at most 1000000000; None is without end",
        error=GrammarError,
    ),
    Mistake(
        "Call: load of a text",
        compiling("load", "abc"),
        "a saved grammar is bytes, not str",
        "give what grammar.save() returned",
    ),
    Mistake(
        "Call: load of something else",
        compiling("load", b"abc"),
        "this is no saved grammar",
        "give what grammar.save() returned",
        error=GrammarError,
    ),
    Mistake(
        "Call: batch of one matcher",
        lambda w: llmask.Batch(w.matcher()).fill(w.bitmask()),
        "matchers are a sequence, not Matcher",
        "give a list",
    ),
    Mistake(
        "Call: batch of grammars",
        lambda w: llmask.Batch([w.grammar()]).fill(w.bitmask()),
        "a matcher is a Matcher, not CompiledGrammar",
        "give what g.matcher() made",
    ),
    Mistake(
        "Call: batch with too few rows",
        lambda w: llmask.Batch([w.matcher(), w.matcher()]).fill(w.bitmask()),
        "row 1 is not in a bitmask of 1 rows",
        "rows count from 0; give one for each matcher",
    ),
    Mistake(
        "Call: batch with a row twice",
        lambda w: llmask.Batch([w.matcher(), w.matcher()]).fill(w.bitmask(2), rows=[0, 0]),
        "a row is given twice: [0, 0]",
        "give each matcher a row of its own",
    ),
    Mistake(
        "Call: batch with the matcher twice",
        lambda w: llmask.Batch([w.matcher()] * 2).fill(w.bitmask(2), rows=[0, 5]),
        "row 5 is not in a bitmask of 2 rows",
        "rows count from 0; give one for each matcher",
    ),
    Mistake(
        "Call: logits a list",
        lambda w: llmask.apply_bitmask([0.0] * 304, w.bitmask()),
        "logits are a list; only a NumPy array or a torch tensor can be changed in place",
        "convert them first, for instance with numpy.asarray(logits, dtype=numpy.float32)",
    ),
    Mistake(
        "Call: logits of integers",
        lambda w: llmask.apply_bitmask(np.zeros(304, int), w.bitmask()),
        "logits have dtype int64, which cannot hold minus infinity as a score",
        "use float16, float32 or float64",
    ),
    Mistake(
        "Call: logits of three dimensions",
        lambda w: llmask.apply_bitmask(np.zeros((1, 1, 304), np.float32), w.bitmask()),
        "logits have shape (1, 1, 304); they must have one dimension, or two for a batch",
        "pass one position of the sequences: logits[:, -1, :]",
    ),
    Mistake(
        "Call: logits of other rows",
        lambda w: llmask.apply_bitmask(np.zeros((2, 304), np.float32), w.bitmask(3)),
        "logits of shape (2, 304) and a mask of shape (3, 10) do not have the same rows",
        "each row of logits needs the row of the mask with the same number",
    ),
    Mistake(
        "Call: mask of booleans applied",
        lambda w: llmask.apply_bitmask(np.zeros(304, np.float32), np.ones(304, bool)),
        "the mask has dtype bool; it must be int32, one bit a token",
        "make one with llmask.allocate_bitmask(batch, vocab_size)",
    ),
    Mistake(
        "Call: allocate for a tokenizer",
        lambda w: llmask.allocate_bitmask(1, w.tokenizer),
        "vocab_size must be an integer of at least 1, not Tokenizer(304 tokens, eos_ids=[1], encoder='greedy')",
        "for example llmask.allocate_bitmask(1, tokenizer.vocab_size)",
    ),
    Mistake(
        "Call: allocate a negative batch",
        lambda w: llmask.allocate_bitmask(-1, 304),
        "batch must be an integer of at least 0, not -1",
        "for example llmask.allocate_bitmask(1, tokenizer.vocab_size)",
    ),
    Mistake(
        "Call: sample of a text",
        lambda w: w.grammar().sample("a"),
        "seed is a whole number, not 'a'",
        "for example sample(1)",
    ),
    Mistake(
        "Call: reasoning of a schema",
        lambda w: llmask.Reasoning({"type": "object"}, end=[5]),
        "a dict is no compiled grammar",
        "make one with a llmask.Compiler",
    ),
    Mistake(
        "Call: reasoning without an end",
        lambda w: llmask.Reasoning(w.grammar(), end=[]),
        "the tokens [] cannot end the thinking",
        "give at least one id, each below 304",
    ),
    Mistake(
        "Call: counts of other length",
        lambda w: llmask.Batch([w.matcher()]).rollback([1, 2]),
        "1 matchers, but 2 counts",
        "give one count for each matcher",
    ),
    Mistake(
        "Call: a type without pydantic",
        lambda w: w.without("pydantic", lambda: w.compiler.json_schema(Point)),
        "a schema from the type Point needs pydantic 2, which is not installed",
        "pip install 'llmask-engine[pydantic]', or give the schema as a dict or JSON text",
    ),
]
