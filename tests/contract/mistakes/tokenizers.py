"""Mistakes where a tokenizer comes from, and what is given to it."""

from __future__ import annotations

from llmask import Tokenizer

from . import Mistake

MISTAKES = [
    Mistake(
        "Tokenizer: name of a model for GGUF",
        lambda w: Tokenizer.from_gguf("gpt2"),
        'there is no file or folder "gpt2", and llmask downloads nothing',
        (
            "give the path of its .gguf file, or pass the tokenizer itself: "
            'Tokenizer.from_huggingface(AutoTokenizer.from_pretrained("gpt2"))'
        ),
    ),
    Mistake(
        "Tokenizer: name of a model",
        lambda w: Tokenizer.from_huggingface("gpt2"),
        'there is no file or folder "gpt2", and llmask downloads nothing',
        'pass the tokenizer itself: Tokenizer.from_huggingface(AutoTokenizer.from_pretrained("gpt2"))',
    ),
    Mistake(
        "Tokenizer: name of a model for tiktoken",
        lambda w: Tokenizer.from_tiktoken("gpt-4o"),
        'there is no file or folder "gpt-4o", and llmask downloads nothing',
        'pass the encoding itself: Tokenizer.from_tiktoken(tiktoken.encoding_for_model("gpt-4o"))',
    ),
    Mistake(
        "Tokenizer: name of an encoding",
        lambda w: Tokenizer.from_tiktoken("cl100k_base"),
        'there is no file or folder "cl100k_base", and llmask downloads nothing',
        'pass the encoding itself: Tokenizer.from_tiktoken(tiktoken.get_encoding("cl100k_base"))',
    ),
    Mistake(
        "Tokenizer: name of a model to load",
        lambda w: Tokenizer.load("meta-llama/Llama-3.1-8B"),
        'there is no file or folder "meta-llama/Llama-3.1-8B", and llmask downloads nothing',
        (
            "pass the tokenizer itself: "
            'Tokenizer.from_huggingface(AutoTokenizer.from_pretrained("meta-llama/Llama-3.1-8B"))'
        ),
    ),
    Mistake(
        "Tokenizer: GGUF of a text file",
        lambda w: Tokenizer.from_gguf(w.file("model.gguf", "Hello")),
        "FOLDER/model.gguf: not a GGUF file: it does not begin with GGUF",
        "give a model.gguf, or read files of other kinds with Tokenizer.load(path)",
        where="byte 0 (magic)",
    ),
    Mistake(
        "Tokenizer: load a text file",
        lambda w: Tokenizer.load(w.file("notes.txt", "Hello")),
        "FOLDER/notes.txt is neither a GGUF file nor a tokenizer.json, a SentencePiece .model or a .tiktoken file",
        "give a file of one of these kinds",
        where="byte 0",
    ),
    Mistake(
        "Tokenizer: GGUF of a tokenizer.json",
        lambda w: Tokenizer.from_gguf(w.file("tokenizer.json", "{}")),
        "FOLDER/tokenizer.json is a Hugging Face tokenizer.json, not a GGUF file",
        "Tokenizer.from_huggingface(path) reads it, and so does Tokenizer.load(path)",
        where="byte 0",
    ),
    Mistake(
        "Tokenizer: empty file",
        lambda w: Tokenizer.from_gguf(w.file("empty.gguf", "")),
        "FOLDER/empty.gguf: the file is empty",
        "the file may be damaged or cut off: get it again",
        where="byte 0 (magic)",
    ),
    Mistake(
        "Tokenizer: tokenizer.json of something else",
        lambda w: Tokenizer.from_huggingface(w.file("config.json", '{"model_type": "llama"}')),
        'FOLDER/config.json is not a tokenizer.json: it has no object "model"',
        "give the tokenizer.json of a model, or the folder that it is in",
    ),
    Mistake(
        "Tokenizer: tokenizer.json malformed",
        lambda w: Tokenizer.from_huggingface(w.file("tokenizer.json", '{"model": ')),
        "FOLDER/tokenizer.json is not JSON: Expecting value",
        "the file may be damaged or cut off: get it again",
        where="line 1, column 11",
    ),
    Mistake(
        "Tokenizer: safetensors",
        lambda w: Tokenizer.load(w.file("model.safetensors", "\0\0\0\0\0\0\0\0{}")),
        (
            "FOLDER/model.safetensors is neither a GGUF file nor a tokenizer.json, a SentencePiece .model "
            "or a .tiktoken file"
        ),
        "give a file of one of these kinds",
        where="byte 0",
    ),
    Mistake(
        "Tokenizer: a slow tokenizer",
        lambda w: Tokenizer.from_huggingface(object()),
        "object is neither a path nor a fast tokenizer",
        "pass a tokenizer.json, its folder, or AutoTokenizer.from_pretrained(..., use_fast=True)",
    ),
    Mistake(
        "Tokenizer: a dict",
        lambda w: Tokenizer.from_huggingface({"a": 0}),
        "dict is neither a path nor a fast tokenizer",
        "pass a tokenizer.json, its folder, or AutoTokenizer.from_pretrained(..., use_fast=True)",
    ),
    Mistake(
        "Tokenizer: a tokenizer already",
        lambda w: Tokenizer.from_huggingface(w.tokenizer),
        "Tokenizer is neither a path nor a fast tokenizer",
        "pass a tokenizer.json, its folder, or AutoTokenizer.from_pretrained(..., use_fast=True)",
    ),
    Mistake(
        "Tokenizer: bytes a str",
        lambda w: Tokenizer.from_bytes("model.gguf", eos=0),
        "tokens are a list of bytes, not str",
        "Tokenizer.load(path) reads a file",
    ),
    Mistake(
        "Tokenizer: tokens are strs",
        lambda w: Tokenizer.from_bytes(["a", "b"], eos=1),
        "token 0 is str, not bytes",
        'encode it: "text".encode("utf-8")',
    ),
    Mistake(
        "Tokenizer: tokens are a dict",
        lambda w: Tokenizer.from_bytes({b"a": 0, b"b": 1}, eos=1),
        "tokens are a list of bytes, not a dict",
        "give them in order: sorted(ids, key=ids.get)",
    ),
    Mistake(
        "Tokenizer: tokens are a number",
        lambda w: Tokenizer.from_bytes(3, eos=1),
        "tokens are a list of bytes, not int",
        'for example [b"a", b"b", b"</s>"]',
    ),
    Mistake(
        "Tokenizer: no tokens",
        lambda w: Tokenizer.from_bytes([], eos=0),
        "the vocabulary has no tokens",
        "give at least one token, and one that ends a sequence",
    ),
    Mistake(
        "Tokenizer: eos beyond the vocabulary",
        lambda w: Tokenizer.from_bytes([b"a", b"b"], eos=2),
        "eos contains 2, but token ids are 0 to 1",
        "give an id in this range",
    ),
    Mistake(
        "Tokenizer: eos a text",
        lambda w: Tokenizer.from_bytes([b"a", b"</s>"], eos="</s>"),
        "eos is str, not an id or a list of ids",
        "give an int, or a list of ints",
    ),
    Mistake(
        "Tokenizer: eos None",
        lambda w: Tokenizer.from_bytes([b"a", b"</s>"], eos=None),
        "eos is NoneType, not an id or a list of ids",
        "give an int, or a list of ints",
    ),
    Mistake(
        "Tokenizer: no eos",
        lambda w: Tokenizer.from_bytes([b"a", b"</s>"], eos=[]),
        "no end-of-sequence id is given, so nothing could ever end",
        "pass eos=ID or eos=[ID, ...]",
    ),
    Mistake(
        "Tokenizer: special beyond the vocabulary",
        lambda w: Tokenizer.from_bytes([b"a", b"</s>"], eos=1, special=[7]),
        "special contains 7, but token ids are 0 to 1",
        "give an id in this range",
    ),
    Mistake(
        "Tokenizer: vocab_size too small",
        lambda w: Tokenizer.from_bytes([b"a", b"</s>"], eos=1, vocab_size=1),
        'vocab_size=1 cuts token 1, "</s>", which ends a sequence',
        "give at least 2, or leave it out: a mask may be wider than the logits it is applied to",
        where="token 1 of 2",
    ),
    Mistake(
        "Tokenizer: vocab_size a text",
        lambda w: Tokenizer.from_bytes([b"a", b"</s>"], eos=1, vocab_size="2"),
        "vocab_size is an integer, not str",
        "give the number of the model's logits, or leave it out",
    ),
    Mistake(
        "Tokenizer: encode bytes",
        lambda w: w.tokenizer.encode(b"a"),
        "only strings can be encoded, not bytes",
        "give a str; decode bytes first",
    ),
    Mistake(
        "Tokenizer: decode a text",
        lambda w: w.tokenizer.decode("a"),
        "ids contains 'a', which is not a token id",
        "give the id of the token, an int",
    ),
    Mistake(
        "Tokenizer: decode beyond the vocabulary",
        lambda w: w.tokenizer.decode([10**6]),
        "ids contains 1000000, but token ids are 0 to 303",
        "give an id in this range",
    ),
    Mistake(
        "Tokenizer: encode by an unknown method",
        lambda w: w.tokenizer.encode("a", method="fast"),
        'method "fast" is not known',
        'use "exact", "greedy" or "minimal"',
    ),
    Mistake(
        "Tokenizer: a path that is a number",
        lambda w: Tokenizer.from_gguf(3),
        "int is not a path",
        "give the name of a file, as a str or a Path",
    ),
    Mistake(
        "Tokenizer: batch of one text",
        lambda w: w.tokenizer.encode_batch("ab"),
        "a batch is a sequence of texts, not one text",
        "put it into a list",
    ),
]
