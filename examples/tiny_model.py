"""Models with random weights, for examples that are run without the name of a model.

They have one layer, a few hundred tokens and no idea of anything: what they write under a grammar is valid nonsense,
which is what the examples need. Nothing is downloaded.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

WORDS = ["name", "Ada", "age", "city", "Paris", "kind", "note", "items", "price", "true", "false", "add", "weather"]
TEMPLATE = (
    "{% for message in messages %}<s>{{ message['role'] }}: {{ message['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}<s>assistant: {% endif %}"
)


def load(name: str | None = None) -> tuple[Any, Any]:
    """A causal model of transformers and its tokenizer: `name` or its folder, or None, a tiny random one."""
    if name is not None:
        from transformers import AutoModelForCausalLM, AutoTokenizer

        return AutoModelForCausalLM.from_pretrained(name), AutoTokenizer.from_pretrained(name, padding_side="left")
    import tokenizers
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    bpe = tokenizers.ByteLevelBPETokenizer()
    texts = [f'{{"{key}": "{word} {number}"}}' for key in WORDS for number, word in enumerate(WORDS)]
    specials = ["<pad>", "<s>", "</s>"]
    bpe.train_from_iterator(texts, vocab_size=340, min_frequency=2, special_tokens=specials, show_progress=False)
    pad, bos, eos = specials
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=bpe._tokenizer, pad_token=pad, bos_token=bos, eos_token=eos, padding_side="left"
    )
    tokenizer.chat_template = TEMPLATE
    torch.manual_seed(0)
    torch.set_num_threads(1)  # so small a model is slower on several
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=1024,
        initializer_range=0.5,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )
    return LlamaForCausalLM(config).eval(), tokenizer


def write_gguf(path: Path) -> Path:
    """Write a Llama of one layer for llama.cpp; its tokens are every byte and WORDS."""
    import gguf

    width, hidden = 32, 64
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), *WORDS]
    kinds = [gguf.TokenType.UNKNOWN, gguf.TokenType.CONTROL, gguf.TokenType.CONTROL]
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_context_length(512)
    writer.add_embedding_length(width)
    writer.add_block_count(1)
    writer.add_feed_forward_length(hidden)
    writer.add_head_count(2)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores([-float(number) for number in range(len(tokens))])
    writer.add_token_types(kinds + [gguf.TokenType.BYTE] * 256 + [gguf.TokenType.NORMAL] * len(WORDS))
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    shapes = {"token_embd": (len(tokens), width), "output": (len(tokens), width)}
    shapes |= {f"blk.0.attn_{part}": (width, width) for part in ("q", "k", "v", "output")}
    shapes |= {"blk.0.ffn_gate": (hidden, width), "blk.0.ffn_up": (hidden, width), "blk.0.ffn_down": (width, hidden)}
    rng = np.random.default_rng(0)
    for name, shape in shapes.items():
        writer.add_tensor(f"{name}.weight", rng.normal(0, 0.3, shape).astype(np.float32))
    for name in ("output_norm", "blk.0.attn_norm", "blk.0.ffn_norm"):
        writer.add_tensor(f"{name}.weight", np.ones(width, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
