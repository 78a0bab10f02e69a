"""Mistakes on the command line."""

from __future__ import annotations

from . import Mistake

MISTAKES = [
    Mistake(
        "command line: unknown option",
        lambda w: w.run("check", "--shema", "a.json"),
        "unrecognized arguments: --shema; did you mean --schema?",
        "see llmask check --help",
        where="llmask check",
    ),
    Mistake(
        "command line: no grammar",
        lambda w: w.run("generate"),
        (
            "one of the arguments --schema --regex --grammar --gbnf --ebnf --lark --structural-tag --tools "
            "--response-format is required"
        ),
        "see llmask generate --help",
        where="llmask generate",
    ),
    Mistake(
        "command line: no grammar to check",
        lambda w: w.run("check"),
        (
            "one of the arguments SCHEMA --schema --regex --grammar --gbnf --ebnf --lark --structural-tag "
            "--tools --response-format is required"
        ),
        "see llmask check --help",
        where="llmask check",
    ),
    Mistake(
        "command line: two grammars",
        lambda w: w.run("generate", "--regex", "a", "--schema", "true"),
        "argument --schema: not allowed with argument --regex",
        "see llmask generate --help",
        where="llmask generate",
    ),
    Mistake(
        "command line: prompt without model",
        lambda w: w.run("generate", "--regex", "a", "--prompt", "x"),
        "--prompt is for a model, and there is no --model: the model of the package reads none",
        "see llmask generate --help",
        where="llmask generate",
    ),
    Mistake(
        "command line: model and tokenizer",
        lambda w: w.run("generate", "--regex", "a", "--model", "m.gguf", "--tokenizer", "t.gguf"),
        "--model brings its own tokenizer; leave --tokenizer and --eos out",
        "see llmask generate --help",
        where="llmask generate",
    ),
    Mistake(
        "command line: file missing",
        lambda w: w.run("check", "missing.schema.json"),
        "No such file or directory: missing.schema.json",
        "it was looked for in FOLDER",
    ),
    Mistake(
        "command line: tokenizer of a text file",
        lambda w: w.run("mask", "--regex", "a", "--tokenizer", w.file("notes.txt", "Hello")),
        "FOLDER/notes.txt is neither a GGUF file nor a tokenizer.json, a SentencePiece .model or a .tiktoken file",
        "give a file of one of these kinds",
        where="byte 0",
    ),
    Mistake(
        "command line: number not a number",
        lambda w: w.run("generate", "--regex", "a", "--n", "three"),
        "argument --n: invalid integer value: 'three'",
        "see llmask generate --help",
        where="llmask generate",
    ),
    Mistake(
        "command line: number zero",
        lambda w: w.run("generate", "--regex", "a", "--n", "0"),
        "argument --n: must be at least 1, not 0",
        "see llmask generate --help",
        where="llmask generate",
    ),
    Mistake(
        "command line: max_tokens too small",
        lambda w: w.run("generate", "--regex", "a{20}", "--max-tokens", "3"),
        "--max-tokens 3 is too small: the shortest document found takes 8 tokens, the end of sequence included",
        "give at least --max-tokens 8",
    ),
    Mistake(
        "command line: temperature negative",
        lambda w: w.run("generate", "--regex", "a", "--temperature", "-1"),
        "argument --temperature: must be a number that is not negative, not -1",
        "see llmask generate --help",
        where="llmask generate",
    ),
    Mistake(
        "command line: format pattern without equals",
        lambda w: w.run("check", "true", "--format-pattern", "zip"),
        "argument --format-pattern: must be NAME=PATTERN, not zip",
        "see llmask check --help",
        where="llmask check",
    ),
    Mistake(
        "command line: whitespace unknown",
        lambda w: w.run("check", "true", "--whitespace", "wide"),
        'the option whitespace must be "flexible", "compact" or a pattern of JSON\'s white space, not \'wide\'',
        "JSON's white space is [ \\t\\n\\r]",
        where="the schema",
    ),
    Mistake(
        "command line: standard input twice",
        lambda w: w.run("check", "-", "--instance", "-"),
        "standard input can be read once only",
        "see llmask check --help",
        where="llmask check",
    ),
    Mistake(
        "command line: schema malformed",
        lambda w: w.run("check", '{"type": }'),
        "the schema is not JSON: Expecting value",
        "give a dict or JSON text",
        where="the schema: line 1, column 10",
    ),
    Mistake(
        "command line: schema file malformed",
        lambda w: w.run("check", w.file("bad.schema.json", '{"type": }')),
        "the schema is not JSON: Expecting value",
        "give a dict or JSON text",
        where="FOLDER/bad.schema.json: line 1, column 10",
    ),
    Mistake(
        "command line: type misspelt in a file",
        lambda w: w.run("check", w.file("person.schema.json", '{"type": "strin"}')),
        "\"type\" must be the name of a JSON type or a list of such names, not 'strin'",
        'did you mean "string"?',
        where="FOLDER/person.schema.json: #/type",
    ),
    Mistake(
        "command line: pattern malformed",
        lambda w: w.run("mask", "--regex", "(a"),
        "this group is not closed",
        "Add a closing parenthesis, or write \\( for the character.",
        where="column 1 of the pattern (a",
    ),
    Mistake(
        "command line: choice of no tool",
        lambda w: w.run("mask", "--tools", '[{"name": "add"}]', "--tool-choice", "sub"),
        'there is no function "sub"',
        'choose one of the tools, "add" or another',
        where="the text of --tools: #/tool_choice/name",
    ),
    Mistake(
        "command line: tools malformed",
        lambda w: w.run("mask", "--tools", w.file("tools.json", "[{]")),
        "the file is not JSON: Expecting property name enclosed in double quotes",
        "save it as a JSON array of functions",
        where="FOLDER/tools.json: line 1, column 3",
    ),
    Mistake(
        "command line: tokenize nothing",
        lambda w: w.run("tokenize", "--split", "0", "a"),
        "--split 0: a chunk has at least one token",
        "see llmask tokenize --help",
        where="llmask tokenize",
    ),
    Mistake(
        "command line: directory for a file",
        lambda w: w.run("check", str(w.folder)),
        "Is a directory: FOLDER",
        "give the name of a file in it",
    ),
    Mistake(
        "command line: eos beyond",
        lambda w: w.run("mask", "--regex", "a", "--eos", "99999999"),
        "eos contains 99999999, but token ids are 0 to 32767",
        "give an id in this range",
    ),
]
