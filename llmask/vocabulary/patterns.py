r"""The regular expressions with which BPE models split text into words, by the names that GGUF files give them.

They are part of a vocabulary: what each model's tokenizer.json says. Several patterns are applied one after the other,
each to the pieces of the one before. `llmask/encoders/pretokenize.py` runs them.

In: a value of tokenizer.ggml.pre. Out: patterns. Cost: none.
"""

from __future__ import annotations

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_CONTRACTIONS = r"'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD]"
_LLAMA3_REST = r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
LLAMA3 = _CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}" + _LLAMA3_REST
QWEN2 = _CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}" + _LLAMA3_REST
DIGIT = r"\p{N}"
DIGITS = r"\p{N}+"
PUNCTUATION = r"[\p{P}$+<=>^~|`]+"

PATTERNS: dict[str, tuple[str, ...]] = {
    "llama-bpe": (LLAMA3,),
    "llama3": (LLAMA3,),
    "llama-v3": (LLAMA3,),
    "qwen2": (QWEN2,),
    "deepseek-r1-qwen": (QWEN2,),
    "stablelm2": (QWEN2,),
    "gpt-2": (GPT2,),
    "phi-2": (GPT2,),
    "olmo": (GPT2,),
    "starcoder": (DIGIT, GPT2),
    "refact": (DIGIT, GPT2),
    "command-r": (DIGIT, GPT2),
    "smollm": (DIGIT, GPT2),
    "codeshell": (DIGIT, GPT2),
    "falcon": (PUNCTUATION, GPT2, "[0-9][0-9][0-9]"),
}
