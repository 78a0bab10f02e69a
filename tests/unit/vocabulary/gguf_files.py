"""Small GGUF files for the tests, made with the gguf package's writer."""

from __future__ import annotations

from pathlib import Path

import gguf

from llmask.vocabulary.gguf import _add

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = 1, 2, 3, 4, 5, 6


def write_gguf(
    path: Path, model: str, tokens: list[bytes], types: list[int] | None = None, endianess=None, **fields: object
) -> Path:
    """A file with these tokens; `fields` are tokenizer.ggml.* entries."""
    writer = gguf.GGUFWriter(path, "test", endianess=endianess or gguf.GGUFEndian.LITTLE)
    writer.add_tokenizer_model(model)
    writer.add_token_list(tokens)
    if types is not None:
        writer.add_token_types(types)
    for name, value in fields.items():
        _add(writer, f"tokenizer.ggml.{name}", value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    return path
