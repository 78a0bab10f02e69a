"""Models with random weights and a few hundred tokens: the contract of a framework is tested without a download."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

# Every document has less than 150 tokens of one byte: a random model then always comes to the end.
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 6},
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "tags": {"type": "array", "items": {"enum": ["red", "green", "blue"]}, "maxItems": 3},
        "member": {"type": "boolean"},
    },
    "required": ["name", "age", "tags"],
    "additionalProperties": False,
}
MAX_TOKENS = 150
PIECES = ('{"', '"}', '":', '","', '"]', "name", '"name"', "age", "tags", "red", "green", "true", "false", "12", " a")


def is_valid(text: str) -> bool:
    """Whether `text` is a JSON document that fulfils SCHEMA, by an outside judge."""
    import jsonschema

    try:
        document = json.loads(text)
    except ValueError:
        return False
    return jsonschema.Draft202012Validator(SCHEMA).is_valid(document)


def write_gguf(path: Path, seed: int = 0) -> Path:
    """Write a Llama of one layer whose vocabulary is every byte (`<0xNN>`) and PIECES, SentencePiece style."""
    import gguf

    width, hidden, n_heads = 32, 64, 2
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    tokens += [piece.replace(" ", "\u2581") for piece in PIECES]
    types = [gguf.TokenType.UNKNOWN, gguf.TokenType.CONTROL, gguf.TokenType.CONTROL]
    types += [gguf.TokenType.BYTE] * 256 + [gguf.TokenType.NORMAL] * len(PIECES)
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_context_length(512)
    writer.add_embedding_length(width)
    writer.add_block_count(1)
    writer.add_feed_forward_length(hidden)
    writer.add_head_count(n_heads)
    writer.add_head_count_kv(n_heads)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(width // n_heads)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores([-float(number) for number in range(len(tokens))])
    writer.add_token_types(types)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    rng = np.random.default_rng(seed)

    def add_random(name: str, *shape: int) -> None:
        writer.add_tensor(name, rng.normal(0, 0.3, shape).astype(np.float32))

    add_random("token_embd.weight", len(tokens), width)
    add_random("output.weight", len(tokens), width)
    for name in ("output_norm", "blk.0.attn_norm", "blk.0.ffn_norm"):
        writer.add_tensor(f"{name}.weight", np.ones(width, np.float32))
    for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
        add_random(f"blk.0.{name}.weight", width, width)
    add_random("blk.0.ffn_gate.weight", hidden, width)
    add_random("blk.0.ffn_up.weight", hidden, width)
    add_random("blk.0.ffn_down.weight", width, hidden)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def make_hf_tokenizer() -> Any:
    """A byte-level BPE tokenizer of transformers, trained on a few JSON documents; pads on the left."""
    import tokenizers
    from transformers import PreTrainedTokenizerFast

    bpe = tokenizers.ByteLevelBPETokenizer()
    documents = [json.dumps({"name": "ann", "age": age, "tags": ["red", "blue"], "member": True}) for age in range(99)]
    specials = ["<pad>", "<s>", "</s>"]
    bpe.train_from_iterator(documents, vocab_size=340, min_frequency=2, special_tokens=specials, show_progress=False)
    pad, bos, eos = specials
    return PreTrainedTokenizerFast(
        tokenizer_object=bpe._tokenizer, pad_token=pad, bos_token=bos, eos_token=eos, padding_side="left"
    )


def make_hf_model(tokenizer: Any, seed: int = 0) -> Any:
    """A Llama of one layer with random weights; its logits are 13 wider than the vocabulary, as padding makes them."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.set_num_threads(1)  # so small a model is ten times slower on several threads of a busy machine
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=len(tokenizer) + 13,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=512,
        initializer_range=0.5,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )
    return LlamaForCausalLM(config).eval()
