"""From schemas, patterns and choices to compiled grammars: one `Compiler` for each tokenizer.

It owns the store that all its grammars share, and remembers what it compiled, least recently used out first. When the
store has outgrown `limits.renew_store_bytes` the next grammar begins a new one; the old one dies with its last grammar.

In: a tokenizer. Out: `CompiledGrammar`. Cost: making one 50 ms for 128,000 tokens; a median schema about 0.3 ms.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from .. import forks
from ..arguments import as_flag, as_list, check_type
from ..asking.warming import check_time, warm_new
from ..errors import GrammarError, LlmaskError
from ..frontends.json_schema.reading.inputs import is_document, key_of, schema_of
from ..frontends.json_schema.reading.options import options_within
from ..frontends.json_schema.reading.owned import owned
from ..limits import Limits, checked
from ..store.loaded_grammar import Shared
from ..store.lock import Waits
from ..store.store import Store
from ..tokenizer.tokenizer import Tokenizer
from ..work import Meter, active
from . import notices
from .compiled_grammar import CompiledGrammar
from .grammar_cache import GrammarCache
from .made_grammar import MadeGrammar
from .making import made, made_lark
from .recipes import Recipe, loaded
from .sources import check_length, find_ready, grammar_text, tag_of_tools
from .stores import is_outgrown, new_store, store_in_use

CACHE_BYTES = 64 * 2**20  # 3,500 small schemas; compiling one again takes 0.3 ms
Settings = tuple[Tokenizer, Limits, int, bool, tuple[str, ...], float | str | None]  # as `Compiler` has its parameters


class Compiler(Shared):
    """Compiles grammars for one tokenizer; may be used from several threads.

    A pickle holds the tokenizer and the settings. Where it arrives the compiler shares the store of grammars that came
    with it; its cache is empty.

    Parameters
    ----------
    tokenizer : whose tokens the masks are about.
    limits : budgets of everything compiled here.
    cache_bytes : memory for grammars compiled before, in bytes, with all that they hold; 0 compiles every time.
    canonical : masks allow only what the tokenizer itself would write, while that is possible; see docs/tokenizers.md.
    slices : families of tokens whose masks are made once, besides those for JSON and for free text: a class of
        characters and how many of them, as `[^*]+` or `[a-z]{1,10}`. They make masks faster, and change none.
    warm : seconds for which masks of a new grammar are built ahead, see `CompiledGrammar.warm`; None: not at all;
        "documents": a helping thread reads documents of it, and whoever asks for a mask comes first.
    on_warnings : called with each new grammar that has `warnings`. None: Python warns, once a grammar, unless `limits`
        are as tight as `Limits.for_untrusted()`. No pickle holds it.

    Raises
    ------
    GrammarError : a slice is malformed.
    LlmaskError : an argument is of the wrong type.
    LimitExceeded : the limits are too low for what all grammars share.
    VocabularyError : canonical masks are not built for this vocabulary.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        limits: Limits | None = None,
        cache_bytes: int = CACHE_BYTES,
        canonical: bool = False,
        slices: Iterable[str] = (),
        warm: float | str | None = None,
        on_warnings: notices.OnWarnings | None = None,
    ) -> None:
        how = "make one with Tokenizer.from_huggingface, from_gguf, from_tiktoken or from_bytes"
        check_type(tokenizer, Tokenizer, "a tokenizer is a llmask.Tokenizer", how)
        if type(cache_bytes) is not int or cache_bytes < 0:
            raise LlmaskError(f"cache_bytes is a number of bytes, not {cache_bytes!r}", help="give 0 for no cache")
        check_type(slices, Iterable, "slices are a list of str", 'for example ["[^*]+"]')
        limits = checked(Limits() if limits is None else limits)
        if warm is not None:
            check_time("warm", warm)
        settings = tokenizer, limits, cache_bytes, as_flag(canonical, "canonical"), tuple(slices), warm
        if on_warnings is not None and not callable(on_warnings):
            raise LlmaskError(
                f"on_warnings is called with a grammar, and {type(on_warnings).__name__} cannot be called",
                help="give a function, for example lambda grammar: log(grammar.warnings)",
            )
        self._begin(settings, on_warnings)
        self._store = self._new_store()

    def _begin(self, settings: Settings, on_warnings: notices.OnWarnings | None = None) -> None:
        self._on_warnings = on_warnings
        self.tokenizer, self.limits, cache_bytes, self._is_canonical, self._slices, self._warm = settings
        self._cache = GrammarCache(cache_bytes)
        self._options = options_within(self.limits)
        self._lock = forks.new_lock(forks.COMPILER)
        self._compiled = dict.fromkeys(("compiled", "refused", "work", "store_renewals"), 0)  # under the lock
        self._waits = Waits(self.limits.max_step_work)

    def __getstate__(self) -> Settings:
        """What is pickled: the tokenizer and the settings; the store is one that is in use there, or a new one."""
        return self.tokenizer, self.limits, self._cache.max_bytes, self._is_canonical, self._slices, self._warm

    def __setstate__(self, settings: Settings) -> None:
        self._begin(settings)
        self._store = store_in_use(self.tokenizer, self.limits, self._slices, self._is_canonical)
        self._waits = self._store.waits

    def _new_store(self) -> Store:
        return new_store(self.tokenizer, self.limits, self._slices, self._is_canonical, self._waits)

    def _newest_store(self) -> Store:
        """The store for the next grammar."""
        with self._lock:
            if is_outgrown(self._store):
                self._store = self._new_store()
                self._compiled["store_renewals"] += 1
                self._cache.keep_only(self._store)
            return self._store

    def _make(self, recipe: Recipe) -> MadeGrammar:
        return made(self._newest_store(), recipe)

    def json_schema(
        self,
        schema: Any,
        *,
        whitespace: str = "flexible",
        max_whitespace: int = 64,
        indent: int | str | None = None,
        property_order: str = "schema",
        format: str = "assert",
        formats: Mapping[str, str] | None = None,
        registry: Any = None,
        unique_keys: bool = False,
        closed: bool | None = None,
        numbers: str | None = None,
        escapes: str | Iterable[str] = "free",
        literals: str = "json",
        dialect: str | None = None,
        unsupported: str = "error",
    ) -> CompiledGrammar:
        r"""Compile a JSON Schema.

        Parameters
        ----------
        schema : the schema as a mapping or bool, as JSON text (`str` or `bytes`, read exactly), or, with pydantic
            installed, a type: a model, dataclass, TypedDict, NamedTuple, Enum, Literal, Union or any other annotation.
            A function means an object of its parameters.
        whitespace : "flexible" (JSON's, between any two lexemes), "compact" (none), or a pattern in Python's syntax:
            white space between two lexemes matches it, and is required unless it matches the empty text.
        max_whitespace : longest run of white space, in bytes.
        indent : write the document as `json.dumps(indent=indent)` does, line by line; exact down to 32 levels of what
            the schema refers to (fewer where that takes 100,000 edges), below that by at least as many.
        property_order : "schema": declared properties in their order, other required ones, then free ones; "any":
            properties in any order, each declared one once.
        format : "assert" enforces the formats of the specification, "annotate" none.
        formats : further formats, or others of the same name: name to pattern (ECMA-262).
        registry : a `referencing.Registry` with the documents that references name.
        unique_keys : False: keys without a schema of their own may be repeated where that is harmless.
        closed : objects that declare properties and say nothing of other keys (no `additionalProperties`,
            `patternProperties`, `unevaluatedProperties`) take no others. None: the objects of types are closed.
        numbers : "json": in every writing, but where a keyword constrains them with an exponent only from 1e16 on and
            below 1e-4; integers without exponent, where `const` and `enum` do not list them; 1.0 is the integer 1.
            "typed": nor with a fraction. "plain": no exponents, listed numbers short. None: for types "typed".
        escapes : in strings: "free", all, but with a pattern or format none of a letter, digit or sign that no program
            escapes; "all"; "minimal", where JSON has no other spelling; or letters after a backslash, of `"/\bfnrtu`.
        literals : "json": declared keys and strings of `const` and `enum` are written as
            `json.dumps(ensure_ascii=False)` does; "any": in every spelling.
        dialect : "openapi-3.0" reads a Schema Object of OpenAPI 3.0, with `nullable`; None: what `$schema` declares.
        unsupported : "error" refuses a schema with a keyword that is not enforced; "ignore" lists it in `warnings`.

        Raises
        ------
        GrammarError : the schema or an option is malformed, or pydantic does not describe the type.
        UnsupportedSchema : it uses what is not enforced; the message has the JSON pointer.
        UnsatisfiableSchema : no document fulfils it.
        LimitExceeded : it is too large for the limits.
        LlmaskError : the schema is a type, and pydantic is not installed.

        Examples
        --------
        >>> import llmask
        >>> compiler = llmask.Compiler(llmask.Tokenizer.default())
        >>> grammar = compiler.json_schema({"type": "integer", "minimum": 1})
        """
        options = self._options(
            whitespace=whitespace,
            max_whitespace=max_whitespace,
            indent=indent,
            format=format,
            formats=formats,
            unsupported=unsupported,
            property_order=property_order,
            unique_keys=unique_keys,
            closed=False if closed is None else closed,
            numbers=("json" if is_document(schema) else "typed") if numbers is None else numbers,
            escapes=escapes,
            literals=literals,
            registry=registry,
            dialect=dialect,
        )
        schema = schema_of(schema, self.limits.max_schema_bytes, closed is not False)
        recipe = Recipe("json_schema", schema, options, taken=() if registry is None else [])
        if not self._cache.max_bytes:
            return self._metered(lambda: self._make(recipe))
        return self._cached(("schema", key_of(schema), *options.key), lambda: self._make(recipe))

    def json_object(
        self,
        *,
        whitespace: str = "flexible",
        max_whitespace: int = 64,
        indent: int | str | None = None,
        escapes: str | Iterable[str] = "free",
    ) -> CompiledGrammar:
        """Any JSON object; `json_schema` explains the options.

        Raises
        ------
        GrammarError : an option is malformed.
        LimitExceeded : white space or escapes are too large for the limits.
        """
        return self.json_schema(
            {"type": "object"}, whitespace=whitespace, max_whitespace=max_whitespace, indent=indent, escapes=escapes
        )

    def regex(self, pattern: str, method: str = "fullmatch") -> CompiledGrammar:
        r"""Compile a pattern of Python's `re`, with `\p{...}`: texts that `re.fullmatch`, or "search", finds it in.

        What its named groups match are the captures of a text that is matched, as `re` says.

        Raises
        ------
        GrammarError : the pattern is malformed, no regular language can express it (references), or matches nothing.
        LimitExceeded : its look-arounds and atomic groups need too many states.
        """
        how = "give its text: pattern.pattern" if hasattr(pattern, "pattern") else "decode bytes first"
        check_type(pattern, str, "a pattern is a str", how, GrammarError)
        if not isinstance(method, str) or method not in ("fullmatch", "search"):
            raise GrammarError(f'method "{method}" is not one of a pattern\'s', help='use "fullmatch" or "search"')
        check_length(self.limits, "pattern", pattern)
        recipe = Recipe("regex", pattern, {"method": method})
        return self._cached(("regex", pattern, method), lambda: self._make(recipe))

    def gbnf(self, text: str) -> CompiledGrammar:
        r"""Compile a grammar in GBNF, as llama.cpp reads it; it means what it derives, byte by byte.

        Raises
        ------
        GrammarError : the grammar is malformed (with line and column), names an unknown token, or derives nothing.
        LimitExceeded : it is too large, or nests too deep.

        Examples
        --------
        >>> import llmask
        >>> compiler = llmask.Compiler(llmask.Tokenizer.default())
        >>> grammar = compiler.gbnf('root ::= "yes" | "no" " thanks"?')
        """
        return self._from_text("gbnf", text)

    def ebnf(self, text: str) -> CompiledGrammar:
        """Compile a grammar in EBNF, as XGrammar reads it; it means what it derives, byte by byte.

        Raises
        ------
        GrammarError : the grammar is malformed (with line and column), uses look-ahead assertions, attributes of rules
            or macros, or derives nothing.
        LimitExceeded : it is too large, or nests too deep.
        """
        return self._from_text("ebnf", text)

    def _from_text(self, kind: str, text: str) -> CompiledGrammar:
        text = grammar_text(text)
        check_length(self.limits, "grammar", text)
        return self._cached((kind, text), lambda: self._make(Recipe(kind, text)))

    def lark(
        self,
        text: str,
        *,
        start: str = "start",
        lexer: str = "greedy",
        ties: str | None = None,
        directory: str | os.PathLike[str] | None = None,
        grammars: Mapping[str, Any] | None = None,
    ) -> CompiledGrammar:
        """Compile a grammar in Lark's notation, with llguidance's additions.

        As in Lark with `lexer="contextual"`, a terminal is as long as it can be among those that are expected where it
        begins, and of several that end together one is taken: the one of the higher priority, a string rather than a
        pattern, the pattern that can match more, the longer one. Here these come after the length: Lark takes the
        first pattern in that order that matches at all, so it never finds `"ab"` where `/a+/` may come, too. What is
        expected is known exactly here, where LALR tables merge places. What is ignored gives way to what a rule
        expects. Grammars need not be LALR; ambiguity is no error, and priorities of rules, aliases, `?` and `!` change
        no text.

        Parameters
        ----------
        text : the grammar.
        start : the rule that derives whole documents.
        lexer : "greedy": as above. "exact": where a terminal could end here or go on, both are followed, as Lark's
            Earley parser does with `lexer="dynamic_complete"`; priorities and `ties` have no meaning there.
        ties : "first": as above. "all": every terminal that ends there is followed, as llguidance does. By default
            "all" in grammars with a line `%llguidance {...}`, "first" in others.
        directory : where the files of relative imports (`%import .file.name`) are; without it they are refused.
        grammars : what `@name` means: by name, another grammar as text, a JSON schema, or what this compiler made.

        Raises
        ------
        GrammarError : the grammar is malformed, or uses what is not supported; the message has line and column. A
            compiled grammar is of another compiler or, as for `CompiledGrammar.union`, has what would be lost.
        UnsatisfiableSchema : no document fulfils it, also because terminals take what others need. Where they do so in
            places only, a `GrammarWarning` tells it.
        LimitExceeded : it is too large for the limits.

        Examples
        --------
        >>> import llmask
        >>> compiler = llmask.Compiler(llmask.Tokenizer.default())
        >>> grammar = compiler.lark('start: "a" ("," "a")*')
        """
        text = grammar_text(text)
        if not isinstance(start, str):
            raise GrammarError(f"start is the name of a rule, not {start!r}", help='for example start="start"')
        if not isinstance(lexer, str) or lexer not in ("greedy", "exact"):
            raise GrammarError(f'lexer is "greedy" or "exact", not {lexer!r}', help="leave it out")
        if ties is not None and (not isinstance(ties, str) or ties not in ("first", "all")):
            raise GrammarError(f'ties is "first" or "all", not {ties!r}', help="leave it out")
        check_type(directory, (str, os.PathLike, type(None)), "directory is a path", "leave it out", GrammarError)
        check_length(self.limits, "grammar", text)
        from ..frontends.lark.definitions import Folder

        folder = None if directory is None else Folder(Path(directory))
        parts: dict[str, MadeGrammar] = {}
        if isinstance(grammars, Mapping):  # the caller's may change
            parts = {name: given._loaded for name, given in grammars.items() if isinstance(given, CompiledGrammar)}
            others = {name: given for name, given in grammars.items() if name not in parts}
            grammars = {name: given if isinstance(given, str) else owned(given) for name, given in others.items()}
        options = {"start": start, "lexer": lexer, "ties": ties, "grammars": grammars, "folder": folder}
        known = tuple(part.recipe for part in parts.values() if part.recipe is not None)
        recipe = Recipe("lark", text, {**options, "compiled": tuple(parts)}, known)
        if parts:  # in their store: a new one would be none of theirs
            grammar = self._metered(partial(made_lark, self._store, recipe, list(parts.values())))
            grammar._loaded.recipe = recipe if len(known) == len(parts) else None
            return grammar
        if folder is not None or grammars is not None:
            return self._metered(lambda: self._make(recipe))  # what they hold may have changed
        return self._cached(("lark", text, start, lexer, ties), lambda: self._make(recipe))

    def structural_tag(self, spec: Any) -> CompiledGrammar:
        """Compile a structural tag: free text, tags and schemas in it; it means what it derives, byte by byte.

        Parameters
        ----------
        spec : `{"type": "structural_tag", "format": {...}}` as XGrammar 0.2.8 reads it, or vLLM's older form with
            `structures` and `triggers`: a dict, JSON text, or a value of their models.

        Raises
        ------
        GrammarError : it is malformed or has a field or format that is not known; the message has the JSON pointer.
        UnsupportedSchema : a schema in it uses what is not enforced.
        UnsatisfiableSchema : no text fulfils it.
        LimitExceeded : it is too large for the limits.

        Examples
        --------
        >>> import llmask
        >>> compiler = llmask.Compiler(llmask.Tokenizer.default())
        >>> call = {"begin": "<f=add>", "content": {"type": "json_schema", "json_schema": {}}, "end": "</f>"}
        >>> form = {"type": "triggered_tags", "triggers": ["<f="], "tags": [call]}
        >>> grammar = compiler.structural_tag({"type": "structural_tag", "format": form})
        """
        from ..frontends.documents import document_of

        document = document_of(spec, self.limits, "structural tag")
        return self._tag(document, Recipe("structural_tag", document))

    def _tag(self, document: Any, recipe: Recipe) -> CompiledGrammar:
        return self._cached(("structural_tag", key_of(document)), lambda: self._make(recipe))

    def tools(
        self,
        tools: Any,
        model: str = "llama-3",
        tool_choice: Any = "auto",
        *,
        parallel: bool = True,
        reasoning: bool | str = False,
        property_order: str = "any",
        unsupported: str = "error",
    ) -> CompiledGrammar:
        """Compile the tool calls of a family of models, with the arguments of each function by its schema.

        Parameters
        ----------
        tools : a list of functions as OpenAI, MCP (also the whole result of `tools/list`) and Anthropic have them,
            mixed as you like: dicts, or values of pydantic models.
        model : "llama-3", "hermes", "qwen-2.5", "qwen-3", "qwen-3-coder", "mistral", "mistral-v11", "deepseek-v3",
            "deepseek-v3.1", "deepseek-v3.2", "gpt-oss", "kimi-k2", "glm-4.5", "minimax-m1" or "minimax-m2".
        tool_choice : "auto": text that may hold calls; "required": calls only; "none": text without calls; or
            `{"name": ...}` (OpenAI's longer form, too): calls of this function only.
        parallel : whether there may be several calls; the end of one is else the end of the response.
        reasoning : True: a section of reasoning (`<think>...</think>`) comes before all else. "optional": it may.
            "open": the prompt ends inside of it. False: no such section comes.
        property_order : "any": arguments come in any order, each once; "declared": in the order of the schema.
        unsupported : "error" refuses what cannot be enforced; "ignore" loosens that argument alone, with a warning.

        Raises
        ------
        GrammarError : a function, a choice or an option is malformed; the message has the JSON pointer.
        UnsupportedSchema : a schema uses what is not enforced.
        UnsatisfiableSchema : no call fulfils a schema.
        LimitExceeded : it is too large for the limits.

        Examples
        --------
        >>> import llmask
        >>> compiler = llmask.Compiler(llmask.Tokenizer.default())
        >>> add = {"name": "add", "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}}}
        >>> grammar = compiler.tools([add], model="qwen-3", tool_choice="required")
        """
        from ..frontends.tools import located

        chosen = {"model": model, "tool_choice": owned(tool_choice), "parallel": parallel, "reasoning": reasoning}
        chosen |= {"property_order": property_order, "unsupported": unsupported}
        document, listed = tag_of_tools(self.tokenizer, tools, **chosen)
        try:
            return self._tag(owned(document), Recipe("tools", owned(tools), chosen))
        except LlmaskError as error:
            raise located(error, document, listed, unsupported) from None

    def response_format(self, form: Any, **options: Any) -> CompiledGrammar:
        """Compile what OpenAI's clients send as `response_format`, as `text.format`, or as a custom tool.

        The types are "json_schema", "json_object", "text" (any text), "grammar" and "custom" (`lark` with `ties="all"`,
        or `regex`), and "structural_tag". A schema is compiled as it is: `name`, `description` and `strict` change
        no text. Places in warnings and in the ledger are places in the schema.

        Parameters
        ----------
        form : a dict, JSON text, or a value of a pydantic model, such as the package openai has.
        options : of `json_schema`, for where the response is JSON; they have no meaning elsewhere.

        Raises
        ------
        GrammarError : it is malformed, or has a field or type that is not known; the message has the JSON pointer.
        UnsupportedSchema : a schema uses what is not enforced.
        UnsatisfiableSchema : no text fulfils it.
        LimitExceeded : it is too large for the limits.
        LlmaskError : `json_schema` has no such option.

        Examples
        --------
        >>> import llmask
        >>> compiler = llmask.Compiler(llmask.Tokenizer.default())
        >>> form = {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "integer"}, "strict": True}}
        >>> grammar = compiler.response_format(form, whitespace="compact")
        """
        from ..frontends.places import similar
        from ..frontends.response_formats import read_response_format

        known = Compiler.json_schema.__kwdefaults__ or {}
        for name in [name for name in options if name not in known]:
            raise LlmaskError(f'json_schema has no option "{name}"', help=similar(name, known, "leave it out"))
        wanted = read_response_format(form, self.limits)
        methods: dict[str, Callable[[Any], CompiledGrammar]] = {
            "json_schema": partial(self.json_schema, **options),
            "lark": partial(self.lark, ties="all"),
            "regex": self.regex,
            "structural_tag": self.structural_tag,
        }
        try:
            return methods[wanted.method](wanted.source)
        except LlmaskError as error:
            raise type(error)(error.message, wanted.place_of(error.where), error.help) from None

    def grammar(self, name: str) -> CompiledGrammar:
        """Compile a ready grammar, one of the folder `grammars/`.

        Raises
        ------
        GrammarError : no ready grammar has that name.

        Examples
        --------
        >>> import llmask
        >>> grammar = llmask.Compiler(llmask.Tokenizer.default()).grammar("arithmetic")
        """
        kind, text, is_exact = find_ready(name)
        if kind == ".gbnf":
            return self.gbnf(text)
        if kind == ".lark":
            return self.lark(text, lexer="exact" if is_exact else "greedy")
        return self.json_schema(text)

    def choice(self, choices: Iterable[str]) -> CompiledGrammar:
        """Compile a list of texts, and exactly one of them has to be written.

        Raises
        ------
        GrammarError : no text at all, something that is not a str, or one that UTF-8 cannot spell.
        """
        texts = as_list(choices)
        if isinstance(choices, str) or not all(isinstance(text, str) for text in texts):
            raise GrammarError("choices are a sequence of str", help='for example ["yes", "no"]')
        if not texts:
            raise GrammarError("there is nothing to choose from", help="give at least one text")
        try:
            for text in texts:
                text.encode()
        except UnicodeEncodeError as error:
            raise GrammarError(
                f"the choice {error.object!r} holds a lone surrogate, which is no text", help="take it out"
            ) from None
        return self._cached(("choice", *texts), lambda: self._make(Recipe("choice", texts)))

    def load(self, data: bytes) -> CompiledGrammar:
        """Compile what `CompiledGrammar.save` gave; with the limits, and the slices, of this compiler.

        It may come from strangers: nothing in it runs, it is bounded as a grammar given as text is, and everything it
        was put together from is compiled within one `max_compile_work`.

        Raises
        ------
        GrammarError : it is nothing that was saved, it is damaged, or the source is not right.
        LimitExceeded : it is too large for the limits.
        LlmaskError : it was saved for another tokenizer, for canonical masks where these are not (or the reverse), or
            in another version of the format.

        Examples
        --------
        >>> import llmask
        >>> compiler = llmask.Compiler(llmask.Tokenizer.default())
        >>> grammar = compiler.load(compiler.regex("[a-z]+").save())
        """
        recipe = loaded(data, self.tokenizer.digest, self._is_canonical, self.limits)
        return self._cached(("loaded", bytes(data)), lambda: self._make(recipe))

    def _metered(self, compile_now: Callable[[], MadeGrammar]) -> CompiledGrammar:
        loaded = None
        outer = active.meter
        active.meter = meter = Meter(self.limits.max_compile_work, "max_compile_work")
        try:
            loaded = compile_now()
        finally:
            active.meter = outer
            with self._lock:
                self._compiled["refused" if loaded is None else "compiled"] += 1
                self._compiled["work"] += meter.spent
        if self._warm is not None:
            warm_new(loaded, loaded.own_rules, loaded.is_json, self._warm)
        grammar = CompiledGrammar(loaded)
        notices.tell_of(grammar, self._on_warnings, self.limits)
        return grammar

    def statistics(self) -> dict[str, int]:
        """What was compiled so far, and how threads waited for each other.

        Returns
        -------
        compiled, refused : grammars; those found in the cache are not among them.
        work : units that both took, see `Limits.max_compile_work`.
        cache_hits, cache_grammars, cache_bytes : grammars that were found in the cache; that it holds, with all that
            they hold (`cache_bytes` of the compiler bounds it).
        store_masks, store_bytes : of the newest store: different masks of lexer states, which all grammars share;
            memory of all that they share, in bytes.
        store_renewals : how often a new store was begun, see `Limits.renew_store_bytes`.
        waits, long_waits, longest_wait_us : how often a thread waited for the lock of a store, also to take a step; how
            often for longer than `Limits.max_step_work` microseconds; microseconds of the longest wait.
        """
        with self._lock:
            store, compiled = self._store, self._compiled.copy()
        return {**compiled, **self._cache.statistics(), **store.statistics(), **self._waits.statistics()}

    def _cached(self, key: tuple[Any, ...], compile_now: Callable[[], MadeGrammar]) -> CompiledGrammar:
        grammar = self._cache.get(key)
        if grammar is None or not all(document.is_unchanged() for document in grammar._loaded.documents):
            grammar = self._metered(compile_now)
            self._cache.put(key, grammar)
            if grammar._loaded.store is not self._store:  # renewed meanwhile by another thread
                self._cache.keep_only(self._store)
        else:
            notices.tell_of(grammar, self._on_warnings, self.limits, is_new=False)
        return grammar
