"""What a request of SGLang asks for, its key, as a compiled grammar.

    json                a JSON schema as text; $$ANY$$: any JSON
    regex               a pattern
    ebnf                a grammar in EBNF, as XGrammar reads it; GBNF and Lark, as llguidance does, are told by their
                        signs (`notation_of`)
    full_assistant_ebnf the same, for a whole turn
    structural_tag      in XGrammar's form, or the older one with `structures`

The compiler of a scheduler is made of SGLang's tokenizer. Ends of sequence are the tokens at which SGLang ends a
request: the model's configuration and the tokenizer name them. The masks are as wide as the model's logits, or wider
where the tokenizer is.

In: kind and text of a key. Out: compiled grammars. Cost: that of compiling.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from llmask.compiling.compiled_grammar import CompiledGrammar
from llmask.compiling.compiler import Compiler
from llmask.errors import GrammarError
from llmask.frontends.documents import document_of
from llmask.integrations.limits import compile_text, compiler_of_server, notation_of, read_tokenizer
from llmask.tokenizer.tokenizer import Tokenizer

ANY_JSON = "$$ANY$$"
KINDS = ("json", "regex", "ebnf", "full_assistant_ebnf", "structural_tag")
HOLDERS = ("format", "content", "elements", "tags", "rules", "structures")  # fields of structural tags with formats in
WITH_SCHEMA = ("json_schema", "qwen_xml_parameter")  # types of formats


def compiler_for(tokenizer: Any, vocab_size: int, eos_token_ids: Iterable[int] | None) -> Compiler:
    """A compiler for a tokenizer of SGLang.

    Parameters
    ----------
    tokenizer : one that `read_tokenizer` reads, SGLang's own of tiktoken among them.
    vocab_size : the number of the model's logits.
    eos_token_ids : the ends of the model's configuration.

    Raises
    ------
    VocabularyError : the tokenizer is of a kind that cannot be read.
    LlmaskError : the environment names no limits.
    """
    ends = [*(eos_token_ids or ()), getattr(tokenizer, "eos_token_id", None)]
    ends += getattr(tokenizer, "additional_stop_token_ids", None) or ()
    return compiler_of_server(read_tokenizer(tokenizer, ends, vocab_size))


def without_text(compiler: Compiler, token_ids: Iterable[int]) -> Compiler:
    """A compiler for whose grammars some tokens have no text: they stand only where a grammar names them.

    It is the same one where that is so already, as for special tokens.
    """
    tokenizer = compiler.tokenizer
    special = set(tokenizer.special_ids)
    reserved = set(token_ids) - special
    if not reserved:
        return compiler
    hidden = special | reserved
    tokens = [
        tokenizer.decode([token], skip_special=False).encode() if token in hidden else tokenizer.token_bytes(token)
        for token in range(tokenizer.vocab_size)
    ]
    return compiler_of_server(Tokenizer.from_bytes(tokens, eos=tokenizer.eos_ids, special=hidden), compiler.limits)


def json_options(serving: Any) -> dict[str, Any]:
    """Options of `Compiler.json_schema` for the arguments of the server.

    Parameters
    ----------
    serving : has `constrained_json_whitespace_pattern`, `constrained_json_disable_any_whitespace` and
        `constrained_json_max_whitespace_cnt`, as the command line does.
    """
    options: dict[str, Any] = {"whitespace": "flexible"}
    if serving.constrained_json_whitespace_pattern is not None:
        options["whitespace"] = serving.constrained_json_whitespace_pattern
    elif serving.constrained_json_disable_any_whitespace:
        options["whitespace"] = "compact"
    if serving.constrained_json_max_whitespace_cnt is not None:
        options["max_whitespace"] = serving.constrained_json_max_whitespace_cnt
    return options


def compile_key(compiler: Compiler, kind: str, text: str, options: Mapping[str, Any]) -> CompiledGrammar:
    """Compile what a request asks for.

    Parameters
    ----------
    kind, text : the key, see the module's text.
    options : of JSON, from `json_options`.

    Raises
    ------
    GrammarError, UnsupportedSchema, UnsatisfiableSchema, LimitExceeded : as the compiler has them; places are line and
        column of a grammar, JSON pointers of a schema.
    """
    if kind == "json":
        return compiler.json_schema(True if text == ANY_JSON else text, **options)
    if kind == "regex":
        return compiler.regex(text)
    if kind in ("ebnf", "full_assistant_ebnf"):
        return compile_text(compiler, text)
    if kind == "structural_tag":
        document = document_of(text, compiler.limits, "structural tag")
        return compiler.structural_tag(_with_schemas(document))
    raise GrammarError(f'there is no request of kind "{kind}"', help=f"the kinds are {', '.join(KINDS)}")


def format_of(kind: str, text: str, options: Mapping[str, Any]) -> dict[str, Any] | None:
    """The texts of a key as a format within a structural tag; None: no format says them."""
    if kind == "json" and options["whitespace"] in ("flexible", "compact"):
        most = 0 if options["whitespace"] == "compact" else options.get("max_whitespace")
        return {"type": "json_schema", "json_schema": True if text == ANY_JSON else text, "max_whitespace_cnt": most}
    if kind == "regex":
        return {"type": "regex", "pattern": text}
    if kind == "ebnf" and notation_of(text) == "ebnf":
        return {"type": "grammar", "grammar": text}
    return None


def _with_schemas(value: Any) -> Any:
    """A structural tag in which no schema is null: tools without parameters come so."""
    if isinstance(value, list):
        return [_with_schemas(one) for one in value]
    if not isinstance(value, dict):
        return value
    found = {name: _with_schemas(one) if name in HOLDERS else one for name, one in value.items()}
    if value.get("type") in WITH_SCHEMA and value.get("json_schema") is None:
        found["json_schema"] = {}
    elif "begin" in value and value.get("schema", ...) is None:  # in the older form
        found["schema"] = {}
    return found
