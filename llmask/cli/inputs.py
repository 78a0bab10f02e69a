"""Arguments that several subcommands share: the grammar (`--schema`, `--regex`, ...), its options and the tokenizer.

Where a file with JSON is asked for, its text may be given: what begins with `{` is no file.

In: parsed arguments. Out: a tokenizer and a compiled grammar. Cost: reading the file, compiling the grammar.
"""

from __future__ import annotations

import argparse
import errno
import json
import os
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from llmask import Compiler, Tokenizer
    from llmask.compiling.compiled_grammar import CompiledGrammar


TEXT_GRAMMARS = {
    "gbnf": "llama.cpp",
    "ebnf": "XGrammar",
    "lark": "lark",
}  # methods of `Compiler`, and who else reads them
MOST_FILES = 10_000  # of a folder, among which a similar name is looked for
OF_FILES = ("schema", *TEXT_GRAMMARS, "structural_tag", "tools", "response_format")  # grammars with a file, or its text


def add_grammar_arguments(parser: argparse.ArgumentParser, positional: str = "") -> None:
    """Add `--schema FILE`, `--regex PATTERN` and other grammars (one must be given), their options, and the tokenizer.

    `positional` is the help of a schema that may be given without an option, as `arguments.given`.
    """
    grammar = parser.add_mutually_exclusive_group(required=True)
    if positional:
        grammar.add_argument("given", metavar="SCHEMA", nargs="?", help=positional)
    grammar.add_argument("--schema", metavar="FILE|JSON", help="JSON schema that the text must fulfil")
    grammar.add_argument("--regex", metavar="PATTERN", help="regular expression that the whole text must match")
    grammar.add_argument("--grammar", metavar="NAME", help="ready grammar: json, sql, python, ... (folder grammars/)")
    for option, command in TEXT_GRAMMARS.items():
        grammar.add_argument(f"--{option}", metavar="FILE", help=f"grammar that {command} reads")
    add_lexer_option(parser)
    grammar.add_argument(
        "--structural-tag", metavar="FILE|JSON", help="structural tag that XGrammar reads: text, tags and schemas"
    )
    grammar.add_argument(
        "--tools",
        metavar="FILE|JSON",
        help="functions that a model may call: a list in the form of OpenAI, MCP or Anthropic",
    )
    grammar.add_argument(
        "--response-format",
        metavar="FILE|JSON",
        help="what OpenAI's clients send: `response_format`, `text.format` or a custom tool; a schema in it takes the "
        "options of --schema",
    )
    add_schema_options(parser)
    add_tool_options(parser)
    add_tokenizer_argument(parser)


def _choice(choices: tuple[str, ...], help: str) -> dict[str, Any]:
    """The arguments of `add_argument` for an option with a few values; its default is the first one."""
    return {"choices": choices, "default": choices[0], "help": f"{help} (default: {choices[0]})"}


def add_lexer_option(parser: argparse.ArgumentParser) -> None:
    """Add the option of `Compiler.lark`."""
    parser.add_argument(
        "--lexer",
        **_choice(
            ("greedy", "exact"), "terminals of --lark: as long as they can be, or of any length that a rule can use"
        ),
    )


def add_tool_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `Compiler.tools`, with `tool-` before the names that others have, too."""
    group = parser.add_argument_group("how tools are called")
    group.add_argument(
        "--tool-model",
        metavar="NAME",
        default="llama-3",
        help="family of models (default: llama-3; others: docs/tools.md)",
    )
    group.add_argument(
        "--tool-choice",
        metavar="auto|required|none|FUNCTION",
        default="auto",
        help="text with calls, calls only, text only, or calls of one function (default: auto)",
    )
    group.add_argument("--one-tool-call", action="store_true", help="end after the first call (default: no)")
    group.add_argument(
        "--reasoning",
        **_choice(
            ("none", "section", "optional", "open"),
            "a section of reasoning before all else; open: the prompt ends inside of it",
        ),
    )
    group.add_argument(
        "--tool-property-order", **_choice(("any", "declared"), "arguments in any order, or in that of the schema")
    )
    group.add_argument(
        "--tool-unsupported", **_choice(("error", "ignore"), "refuse an argument that cannot be enforced, or loosen it")
    )


def add_schema_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `Compiler.json_schema` under their names."""
    group = parser.add_argument_group("how a schema is enforced")
    group.add_argument(
        "--whitespace",
        metavar="flexible|compact|PATTERN",
        default="flexible",
        help="white space between the parts of a document: JSON's, none, or what a pattern matches (default: flexible)",
    )
    group.add_argument(
        "--max-whitespace", metavar="N", type=int, default=64, help="bytes of white space in a row (default: 64)"
    )
    group.add_argument(
        "--indent", metavar="N|TEXT", type=_indent, help="lines indented as by json.dumps(indent=...) (default: free)"
    )
    group.add_argument(
        "--property-order", **_choice(("schema", "any"), "properties in the order of the schema or in any")
    )
    group.add_argument("--format", **_choice(("assert", "annotate"), "enforce formats or not"))
    group.add_argument(
        "--format-pattern",
        metavar="NAME=PATTERN",
        type=_named_pattern,
        action="append",
        default=[],
        help="a further format, or another pattern for a known one; may be given several times",
    )
    group.add_argument(
        "--escapes",
        metavar="free|all|minimal|LETTERS",
        default="free",
        help="escapes in strings: all, all in free ones only, or letters that may follow a backslash (default: free)",
    )
    group.add_argument(
        "--literals",
        **_choice(
            ("json", "any"), "declared keys and strings of const and enum as json.dumps spells them, or in any way"
        ),
    )
    group.add_argument(
        "--numbers",
        **_choice(
            ("json", "typed", "plain"), "numbers in every writing, integers without fractions, or no exponents either"
        ),
    )
    group.add_argument(
        "--unique-keys", action="store_true", help="never repeat a key, also where that is harmless (default: no)"
    )
    group.add_argument(
        "--closed", action="store_true", help="no keys but declared ones where a schema says nothing of others"
    )
    group.add_argument(
        "--registry",
        metavar="FILE|JSON",
        action="append",
        default=[],
        help="document that references may name, by its $id or else by FILE; may be given several times",
    )
    group.add_argument(
        "--dialect",
        choices=("openapi-3.0",),
        help="what the schema is written in (default: JSON Schema, of the draft that its $schema names)",
    )
    group.add_argument(
        "--unsupported", **_choice(("error", "ignore"), "refuse a schema with a keyword that is not enforced, or warn")
    )


READERS = (
    (add_schema_options, ("schema", "response_format")),
    (add_tool_options, ("tools",)),
    (add_lexer_option, ("lark",)),
)  # options, and the grammars that read them


def warn_of_unread(arguments: argparse.Namespace) -> None:
    """Name on standard error the options that do nothing for the grammar that the arguments name."""
    for add_options, grammars in READERS:
        if all(getattr(arguments, grammar) is None for grammar in grammars):
            plain = argparse.ArgumentParser(add_help=False)
            add_options(plain)
            defaults = vars(plain.parse_args([]))
            readers = " and ".join(map(_option, grammars))
            for name in (name for name, value in defaults.items() if getattr(arguments, name) != value):
                sys.stderr.write(f"llmask: warning: {_option(name)} is read for {readers} only\n")


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")


def schema_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Arguments of `Compiler.json_schema`."""
    spacing = ("whitespace", "max_whitespace", "indent")
    forms = ("property_order", "unique_keys", "closed", "numbers", "escapes", "literals")
    names = (*spacing, *forms, "format", "dialect", "unsupported")
    options = {name: getattr(arguments, name) for name in names}
    registry = _registry(arguments.registry) if arguments.registry else None
    return {**options, "formats": dict(arguments.format_pattern), "registry": registry}


def _registry(files: list[str]) -> Any:
    """A registry of the documents in files."""
    from llmask.errors import GrammarError, LlmaskError, how_to_install

    try:
        from referencing import Registry, Resource
        from referencing.jsonschema import DRAFT202012
    except ImportError:
        raise LlmaskError("--registry needs referencing", help=how_to_install("schema")) from None
    documents = []
    for file in files:
        where = "the text of --registry" if is_text(file) else file
        try:
            contents = json.loads(read_given(file))
        except (ValueError, RecursionError) as error:
            raise GrammarError(
                f"the document is not JSON: {error}", where, help="give a JSON document, or the name of a file with one"
            ) from None
        if not isinstance(contents, (dict, bool)):
            raise GrammarError("the document is no schema", where, "give an object or a boolean")
        try:
            resource = Resource.from_contents(contents, default_specification=DRAFT202012)
            documents.append((resource.id() or file, resource))
        except AttributeError:  # what `referencing` asks of them without looking
            raise GrammarError('"$schema" and "$id" must be strings', where, "write a text, in quotes") from None
    return Registry().with_resources(documents)


def _indent(text: str) -> int | str:
    return int(text) if text.isdecimal() else text.replace("\\t", "\t")


def _named_pattern(text: str) -> tuple[str, str]:
    name, equals, pattern = text.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f"must be NAME=PATTERN, not {text}")
    return name, pattern


def add_tokenizer_argument(parser: argparse.ArgumentParser) -> None:
    """Add `--tokenizer FILE`."""
    parser.add_argument(
        "--tokenizer",
        metavar="FILE",
        type=Path,
        help="take the vocabulary of this file: GGUF, tokenizer.json (or its folder), SentencePiece .model, .tiktoken "
        "(default: the tokenizer in the package)",
    )
    parser.add_argument("--eos", metavar="ID", type=int, help="token that ends a sequence (default: by the file)")
    parser.add_argument(
        "--vocab-size", metavar="N", type=int, help="number of the model's logits (default: of the file's tokens)"
    )


def load_tokenizer(arguments: argparse.Namespace) -> Tokenizer:
    """Load the tokenizer that the arguments name: that of a file of any kind, or the one in the package.

    Raises
    ------
    VocabularyError : the file is of no known kind, or corrupt.
    OSError : the file cannot be read.
    """
    from llmask import Tokenizer
    from llmask.tokenizer.token_sources import DEFAULT_FILE

    return Tokenizer.load(arguments.tokenizer or DEFAULT_FILE, arguments.eos, arguments.vocab_size)


def is_text(given: str) -> bool:
    """Whether what is given for a file is its text: an object, one of the schemas that are words, or an array."""
    text = given.strip()
    return text[:1] == "{" or text in ("true", "false") or (text[:1], text[-1:]) == ("[", "]")


def read_given(given: str) -> bytes:
    """What is in a file, or the text that is given for it.

    Raises
    ------
    OSError : the file cannot be read.
    """
    if not given.strip():  # as of a shell's variable that is not set; to a `Path` it is the folder
        raise FileNotFoundError(errno.ENOENT, "the name of the file is empty")
    return given.encode("utf-8", "surrogateescape") if is_text(given) else Path(given).read_bytes()


def of_file(error: OSError) -> str:
    """An operating system's error in a message; where there is no file of the name, the one that may be meant."""
    reason = error.strerror or str(error)
    if not isinstance(error.filename, (str, os.PathLike)):
        return reason
    path = Path(error.filename)
    help = ""
    if isinstance(error, FileNotFoundError):
        near: list[str] = []
        with suppress(OSError):  # no such folder, or one that cannot be read
            near = get_close_matches(path.name, sorted(os.listdir(path.parent))[:MOST_FILES], 1)
        help = f"\n  it was looked for in {path.parent.absolute()}"
        help += f"; did you mean {path.parent / near[0]}?" if near else ""
    elif isinstance(error, IsADirectoryError):
        help = "\n  give the name of a file in it"
    return f"{reason}: {error.filename}{help}"


def name_of_grammar(arguments: argparse.Namespace) -> str | None:
    """What messages call the grammar that the arguments name: its file, if it has one."""
    for option in OF_FILES:
        given = getattr(arguments, option)
        if given is not None:
            text = "the schema" if option == "schema" else f"the text of {_option(option)}"
            return text if is_text(given) else given
    return None


def compile_grammar(tokenizer: Tokenizer, arguments: argparse.Namespace) -> CompiledGrammar:
    """Compile what the arguments name; errors in a file say which one it is. Warnings go to standard error."""
    from llmask import Compiler
    from llmask.errors import LlmaskError

    warn_of_unread(arguments)
    try:
        grammar = compiled(Compiler(tokenizer), arguments)
    except LlmaskError as error:  # of a limit, too
        name = name_of_grammar(arguments)
        if name is not None:
            error.where = name if error.where is None else f"{name}: {error.where}"
        raise
    for warning in grammar.warnings:
        sys.stderr.write(f"llmask: warning: {warning}\n")
    return grammar


def compiled(
    compiler: Compiler, arguments: argparse.Namespace, read: Callable[[str], bytes] = read_given
) -> CompiledGrammar:
    """Compile what the arguments name; `read` reads files. What is to be known of the grammar is in its warnings."""
    from llmask.errors import GrammarWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GrammarWarning)
        if arguments.regex is not None:
            return compiler.regex(arguments.regex)
        if arguments.grammar is not None:
            return compiler.grammar(arguments.grammar)
        if arguments.lark is not None:
            folder = Path(arguments.lark).parent
            return compiler.lark(_text_of(read(arguments.lark)), directory=folder, lexer=arguments.lexer)
        for given, compile_text in ((arguments.gbnf, compiler.gbnf), (arguments.ebnf, compiler.ebnf)):
            if given is not None:
                return compile_text(_text_of(read(given)))
        if arguments.structural_tag is not None:
            return compiler.structural_tag(read(arguments.structural_tag))
        if arguments.tools is not None:
            return compiler.tools(_json_of(read(arguments.tools)), **tool_options(arguments))
        if arguments.response_format is not None:
            return compiler.response_format(read(arguments.response_format), **schema_options(arguments))
        return compiler.json_schema(read(arguments.schema), **schema_options(arguments))


def is_json(arguments: argparse.Namespace) -> bool:
    """Whether texts are JSON and nothing else, so far as the arguments tell; what is malformed is told by compiling."""
    if arguments.response_format is None:
        return arguments.schema is not None
    try:
        document = json.loads(read_given(arguments.response_format))
    except (OSError, ValueError, RecursionError):
        return False
    forms = (document, document.get("format")) if isinstance(document, dict) else ()
    return any(isinstance(form, dict) and form.get("type") in ("json_schema", "json_object") for form in forms)


def tool_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Arguments of `Compiler.tools`."""
    choice = arguments.tool_choice
    return {
        "model": arguments.tool_model,
        "tool_choice": choice if choice in ("auto", "required", "none") else {"name": choice},
        "parallel": not arguments.one_tool_call,
        "reasoning": {"none": False, "section": True}.get(arguments.reasoning, arguments.reasoning),
        "property_order": arguments.tool_property_order,
        "unsupported": arguments.tool_unsupported,
    }


def _json_of(data: bytes) -> Any:
    from llmask.errors import GrammarError

    help = "save it as a JSON array of functions"
    try:
        return json.loads(data)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise GrammarError(f"the file is not JSON: {error.msg}", place, help) from None
    except (ValueError, RecursionError) as error:
        raise GrammarError(f"the file is not JSON: {error}", help=help) from None


def _text_of(data: bytes) -> str:
    from llmask.errors import GrammarError

    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise GrammarError("the grammar is not UTF-8", f"byte {error.start}", "save it as UTF-8") from None
