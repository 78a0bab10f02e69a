"""What kind of tokenizer file a path is, told by its first bytes.

    GGUF...                    GGUF
    {                          a Hugging Face tokenizer.json; a folder is one, too
    base64, blank, number      a .tiktoken file: its first line
    0A                         a SentencePiece .model: its first field is a piece

In: a path. Out: the name of a constructor of `Tokenizer`, or an error that names the right one. Cost: 20 us.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from ..arguments import as_path
from ..errors import VocabularyError

HEAD_BYTES = 4096
# what models are called on hubs, `gpt2` or `owner/model`; names of files say so at their end
MODEL_NAME = re.compile(r"[\w-][\w.-]*(?:/[\w.-]+)?(?<!\.json)(?<!\.gguf)(?<!\.model)(?<!\.tiktoken)")
HUGGING_FACE = 'pass the tokenizer itself: Tokenizer.from_huggingface(AutoTokenizer.from_pretrained("NAME"))'
RANKED_TOKEN = re.compile(rb"[A-Za-z0-9+/]+={0,2} [0-9]+\s")  # the first line of a .tiktoken file
FIRST_PIECE = b"\x0a"  # field 1 of the protocol buffer, of length-delimited type: the pieces come first
# constructors of `Tokenizer`, and what they read
NAMES = {
    "from_gguf": "a GGUF file",
    "from_huggingface": "a Hugging Face tokenizer.json",
    "from_tiktoken": "a .tiktoken file",
    "from_sentencepiece": "a SentencePiece .model",
}


def kind_of(path: str | os.PathLike[str]) -> str | None:
    """The constructor that reads a file or folder, one of NAMES; None: it is of no known kind.

    Raises
    ------
    VocabularyError : not a path.
    OSError : the file cannot be read.
    """
    if os.path.isdir(as_path(path)):
        return "from_huggingface"
    with open(path, "rb") as file:
        head = file.read(HEAD_BYTES)
    if head.startswith(b"GGUF"):
        return "from_gguf"
    if head.lstrip().startswith(b"{"):
        return "from_huggingface"
    if RANKED_TOKEN.match(head.lstrip()):
        return "from_tiktoken"
    return "from_sentencepiece" if head.startswith(FIRST_PIECE) else None


def refuse_names(path: object, otherwise: str = HUGGING_FACE) -> None:
    """Say that nothing is downloaded to who gives the name of a model, as `gpt2`, where a file is asked for.

    `otherwise` is what to give in place of the name; NAME in it is replaced by the name.

    Raises
    ------
    VocabularyError : no file is called so, and models are.
    """
    if isinstance(path, str) and MODEL_NAME.fullmatch(path) and not os.path.exists(path):
        raise VocabularyError(
            f'there is no file or folder "{path}", and llmask downloads nothing', help=otherwise.replace("NAME", path)
        )


def refuse_other_kinds(path: str | os.PathLike[str], constructor: str) -> None:
    """Say which constructor reads a file that is certainly not for this one. What is no file says its reader.

    Raises
    ------
    VocabularyError : the file is of another kind.
    OSError : the file cannot be read.
    """
    if not os.path.isfile(as_path(path)) and not os.path.isdir(path):
        return  # missing, or a stream, which can be read once only
    kind = kind_of(path)
    if kind is None or kind == constructor:
        return
    name = "a folder, as of a Hugging Face tokenizer" if os.path.isdir(path) else NAMES[kind]
    raise VocabularyError(
        f"{Path(path)} is {name}, not {NAMES[constructor]}",
        where=None if os.path.isdir(path) else "byte 0",
        help=f"Tokenizer.{kind}(path) reads it, and so does Tokenizer.load(path)",
    )
