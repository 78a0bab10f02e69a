r"""The regular expressions with which BPE models split text into words, by the names that GGUF files give them.

They are part of a vocabulary: what each model's tokenizer.json says. Several patterns are applied one after the other,
each to the pieces of the one before. `llmask/encoders/pretokenize.py` runs them. Where llama.cpp writes a pattern in
another way than the model (its engine knows no `\p{Lu}`), its way is here, for the ids to be the same; tiktoken
encodings and tokenizer.json bring their own.

"tiny_aya", "afmoe" and "superbpe" group digits from the right, which only the package regex can do.

Names of CHARACTER_MERGES are no patterns: there characters are merged, not bytes, as in SPM (`encoders/spm.py`). Not
here: "sarvam-moe", "whitespace" and "hybriddna".

In: a value of tokenizer.ggml.pre, or a name of tiktoken's. Out: patterns. Cost: none.
"""

from __future__ import annotations

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_CONTRACTIONS = r"'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD]"
_WORD = r"[^\r\n\p{L}\p{N}]?"
_SPACES = r"|\s*[\r\n]+|\s+(?!\S)|\s+"
_OTHERS = r"| ?[^\s\p{L}\p{N}]+[\r\n]*"


def _words(letters: str = r"\p{L}+", digits: str = r"\p{N}", others: str = _OTHERS, spaces: str = _SPACES) -> str:
    """Contractions, words with what is before them, numbers, what is neither, white space."""
    return f"{_CONTRACTIONS}|{_WORD}{letters}|{digits}{others}{spaces}"


LLAMA3 = _words(digits=r"\p{N}{1,3}")
QWEN2 = _words()
QWEN35 = _words(r"[\p{L}\p{M}]+", others=r"| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*")  # marks belong to letters
_BAILING = (
    r"'(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])|" + _WORD + r"\p{L}+|\p{N}" + _OTHERS + r"|\s*[\r\n]|\s+(?!\S)|\s+"
)
_UFAKZEKA = _WORD + r"\p{L}+|\p{N}" + _OTHERS + _SPACES
_EXAONE_MOE = _words(
    r"(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+",
    others=r"| ?[^\s\p{L}\p{N}]+[\r\n/]?",
    spaces=r"|\s*[\r\n]|\s+(?!\S)|\s+",
)
_MINICPM5 = _words(digits=r"\p{N}+")
_POWERS_OF_TWO = "|".join(rf"\s{{{2**n}}}(?!\S)" for n in range(9, 1, -1))  # runs of blanks
_JAIS2 = _words(digits=r"\p{N}{1,3}", spaces=rf"|\s*[\r\n]+|{_POWERS_OF_TWO}|\s{{1,2}}(?!\S)|\s")
_SEED_CODER = _words(others=r"| ?[^\s\p{L}\p{N}\r\n]+")


def _by_kind(upper: str, lower: str, digits: str, ending: str, others: str = r"| ?[^\s\p{L}\p{N}]+[\r\n/]*") -> str:
    """Words that a capital inside cuts, by classes of letters: "camelCase" is "camel", "Case"."""
    words = f"{_WORD}{upper}*{lower}+{ending}|{_WORD}{upper}+{lower}*{ending}"
    return words + "|" + digits + others + _SPACES


def _by_case(letters: str, digits: str, ending: str) -> str:
    """As `_by_kind`, for letters that are capital or small, or without case."""
    return _by_kind(rf"(?:(?={letters})[^a-z])", rf"(?:(?={letters})[^A-Z])", digits, ending)


GPT4O = _by_case(r"\p{L}", r"\p{N}{1,3}", f"(?:{_CONTRACTIONS})?")
TEKKEN = _by_case(r"\p{L}", r"\p{N}", "")
_GRANITE = _by_case(r"[\p{L}\p{M}]", r"\p{N}{1,3}", f"(?:{_CONTRACTIONS})?")

# tiktoken's own, as its encodings of these names have them
CL100K = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|"
    r"\s+(?!\S)|\s"
)
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_ENDING = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
O200K = _by_kind(_UPPER, _LOWER, r"\p{N}{1,3}", _ENDING)


_YOUTU = (
    "[\uac00-\ud7a3\u3131-\u318e]+|[\uff01\u2026\u201c\u201d\u2018\u2019\u2014\uff1a\uff1b\uff0c\u3001-\u303f\ufe30-\ufe4f]+"
    "|[\u3105-\u312f]+|[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
    _by_kind(_UPPER, _LOWER, r"\p{N}", f"(?:{_CONTRACTIONS})?"),
)
_TINY_AYA = (r"\d{1,3}(?=(?:\d{3})*\b)", _by_kind(_UPPER, _LOWER, r"\p{N}{1,3}", f"(?:{_CONTRACTIONS})?"))
_SUPERBPE = (r"\p{N}+", r"(?=(\d{3})+(?!\d))")
_KIMI = r"\p{Han}+|" + _by_kind(
    rf"(?:(?!\p{{Han}}){_UPPER})", rf"(?:(?!\p{{Han}}){_LOWER})", r"\p{N}{1,3}", _ENDING, _OTHERS
)
_CHAMELEON = ("<sentinel:[0-9]+>", "IMGIMG[A-I]{1,4}Z", "[\\t\\n]|    |  ", r"\p{N}", r"[\p{P}!-/:-@\[-`{-~]", GPT2)

DIGIT = r"\p{N}"
DIGITS = r"\p{N}+"
PUNCTUATION = r"[\p{P}$+<=>^~|`]+"
_BLOOM = " ?[^(\\s|.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c)]+"
_LINES = r"[^\n]+|\n+"

# the letters with case of an early Unicode version
_CASED = (
    "A-Za-z\u00b5\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u01ba\u01bc-\u01bf\u01c4-\u0293\u0295-\u02af\u0370-\u0373\u0376"
    "\u0377\u037b-\u037d\u037f\u0386\u0388-\u038a\u038c\u038e-\u03a1\u03a3-\u03f5\u03f7-\u0481\u048a-\u052f"
    "\u0531-\u0556\u10a0-\u10c5\u13a0-\u13f5\u13f8-\u13fd\u1c90-\u1cba\u1cbd-\u1cbf\u1d00-\u1d2b\u1d6b-\u1d77"
    "\u1d79-\u1d9a\u1e00-\u1f15\u1f18-\u1f1d\u1f20-\u1f45\u1f48-\u1f4d\u1f50-\u1f57\u1f59\u1f5b\u1f5d\u1f5f-\u1f7d"
    "\u1f80-\u1fb4\u1fb6-\u1fbc\u1fbe\u1fc2-\u1fc4\u1fc6-\u1fcc\u1fd0-\u1fd3\u1fd6-\u1fdb\u1fe0-\u1fec\u1ff2-\u1ff4"
    "\u1ff6-\u1ffc\u2102\u2107\u210a-\u2113\u2115\u2119-\u211d\u2124\u2126\u2128\u212a-\u212d\u212f-\u2134\u2139"
    "\u213c-\u213f\u2145-\u2149\u214e\u2183\u2184\u2c00-\u2c7b\u2c7e-\u2ce4\u2ceb-\u2cee\u2cf2\u2cf3\ua640-\ua66d"
    "\ua680-\ua69b\ua722-\ua76f\ua771-\ua787\ua78b-\ua78e\uab70-\uabbf\ufb00-\ufb06\ufb13-\ufb17\uff21-\uff3a"
    "\uff41-\uff5a\U00010400-\U0001044f\U000104b0-\U000104d3\U000104d8-\U000104fb\U00010c80-\U00010cb2"
    "\U00010cc0-\U00010cf2\U000118a0-\U000118df\U0001e900-\U0001e943"
)
_CHINESE = "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+"
_DEEPSEEK_LLM = (
    r"[\r\n]",
    rf"\s?[{_CASED}]+",
    "\\s?[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002]+",
    r"\s+$",
    _CHINESE,
    DIGITS,
)
_DEEPSEEK_3 = (
    r"\p{N}{1,3}",
    "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*"
    + _SPACES,
)
_AFMOE = (
    # llama.cpp leaves what comes before a number with the number's first group
    r"[^\p{N}]*\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N}))",
    "[\u4e00-\u9fff\u3400-\u4dbf\uf900-\ufaff\u3040-\u309f\u30a0-\u30ff\uff65-\uff9f\u2f00-\u2fdf\u0e40-\u0e7f"
    "\u0e80-\u0eff\u1780-\u17ff\u1000-\u109f\uaa60-\uaa7f\ua9e0-\ua9ff\uac00-\ud7af\u1100-\u11ff]+",
    _DEEPSEEK_3[2],
)
_SPARK = (
    *_DEEPSEEK_3[:2],
    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+|[\r\n]|"
    r"\s+(?!\S)|\s+",
    DIGIT,
)

_GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "llama-bpe llama3 llama-v3 dbrx smaug-bpe chatglm-bpe glm4 falcon3 falcon-h1 pixtral lfm2 midm-2.0 "
        "jina-v5-nano",
        (LLAMA3,),
    ),
    ("qwen2 deepseek-r1-qwen stablelm2 hunyuan megrez grok-2 solar-open kormo f2llmv2", (QWEN2,)),
    ("qwen35", (QWEN35,)),
    (
        "gpt-2 phi-2 mpt olmo jais jais-de trillion granite-docling gigachat jina-es jina-de jina-v2-es jina-v2-de "
        "jina-v1-en jina-v2-code roberta-bpe a.x-4.0 mellum modern-bert exaone4",
        (GPT2,),
    ),
    ("starcoder refact command-r smollm codeshell exaone minerva-7b mellum2", (DIGIT, GPT2)),
    ("falcon", (PUNCTUATION, GPT2, "[0-9][0-9][0-9]")),
    ("deepseek-llm", _DEEPSEEK_LLM),
    ("deepseek-coder", (r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", _CHINESE, DIGIT)),
    ("deepseek-v3 hunyuan-dense joyai-llm hy_v4", _DEEPSEEK_3),
    ("spark2_5", _SPARK),
    ("afmoe", _AFMOE),
    ("gpt-4o llama4 minimax-m2 kanana2 talkie", (GPT4O,)),
    ("granite-embedding-multilingual granite-embed-multi-97m", (_GRANITE,)),
    ("tekken", (TEKKEN,)),
    ("poro-chat bloom gpt3-finnish", (_BLOOM,)),
    ("viking", (_BLOOM, DIGIT)),
    ("bailingmoe bailingmoe2 llada-moe", (_BAILING,)),
    ("seed-coder", (_SEED_CODER,)),
    ("ufakzeka", (_UFAKZEKA,)),
    ("exaone-moe", (_EXAONE_MOE,)),
    ("minicpm5", (r"\p{N}{1,3}", _MINICPM5)),
    ("jais-2", (_JAIS2,)),
    ("youtu", _YOUTU),
    ("tiny_aya cohere2moe", _TINY_AYA),
    ("superbpe", _SUPERBPE),
    ("kimi-k2", (_KIMI,)),
    ("chameleon", _CHAMELEON),
    ("laguna", (_LINES, QWEN2)),
    ("default", (r"[\p{P}$+<=>^~|]+", GPT2, DIGITS, "[0-9][0-9][0-9]")),
    ("r50k_base p50k_base", (GPT2,)),
    ("cl100k_base", (CL100K,)),
    ("o200k_base", (O200K,)),
)

# blanks are U+2581, bytes <0xNN>; merges never cross the end of a run of line breaks, and a run that is a token is it
CHARACTER_MERGES = ("gemma4", "granite-embed-multi-311m")

PATTERNS: dict[str, tuple[str, ...]] = {name: patterns for names, patterns in _GROUPS for name in names.split()}
