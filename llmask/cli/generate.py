"""`llmask generate`: write documents that match a schema or a pattern, one a line.

Without `--model` a small model of the package writes them (`endings.py`); its documents are as valid as the documents
of a large one, and much sillier.

In: a grammar, a tokenizer or model, a seed. Out: documents on standard output. Cost: that of the model.
"""

from __future__ import annotations

import argparse
import secrets
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from llmask.cli.inputs import add_grammar_arguments, compile_grammar, is_json, load_tokenizer
from llmask.cli.progress import Progress

if TYPE_CHECKING:
    from llmask import Tokenizer
    from llmask.cli.sampling import LogitsSource


def add_parser(subparsers: Any) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "generate",
        help="write documents that match a schema or a pattern",
        description="Write documents that match a schema or a pattern, one a line.",
        epilog="example: llmask generate --schema grammars/person.schema.json --n 3 --seed 7",
    )
    add_grammar_arguments(parser)
    parser.add_argument(
        "--model",
        metavar="DIR|FILE.gguf|smollm2",
        type=Path,
        help="a model of transformers (folder) or llama.cpp (file), with its own tokenizer, or the name of a packaged "
        "one (default: a small model in the package, or a neutral one with --tokenizer)",
    )
    parser.add_argument("--prompt", metavar="TEXT", help="with --model: text before the document, to a name a message")
    parser.add_argument("text", metavar="PROMPT", nargs="?", help="the same")
    parser.add_argument("--n", metavar="N", type=_at_least(1), default=1, help="documents to write (default: 1)")
    parser.add_argument("--seed", metavar="N", type=_at_least(0), help="same seed, same documents (default: random)")
    parser.add_argument(
        "--temperature",
        metavar="T",
        type=_temperature,
        help="0 takes the likeliest token (default: 1, of a packaged model 0.2)",
    )
    parser.add_argument(
        "--max-tokens",
        metavar="N",
        type=_at_least(1),
        default=1000,
        help="of one document, which ends by then (default: 1000)",
    )
    parser.add_argument(
        "--show",
        action="store_true",
        help="draw each document's tokens on standard error, with the number of tokens allowed at each step",
    )
    parser.set_defaults(run=run, parser=parser)


def run(arguments: argparse.Namespace) -> int:
    """Write the documents; returns 1 when limits, or max_tokens of a rule, kept one from its end.

    Raises
    ------
    BudgetError : no document is found that takes only --max-tokens.
    """
    if arguments.model is not None and (arguments.tokenizer, arguments.eos) != (None, None):
        arguments.parser.error("--model brings its own tokenizer; leave --tokenizer and --eos out")
    if arguments.text is not None:
        if arguments.prompt is not None:
            arguments.parser.error("the prompt is given twice; leave --prompt out")
        arguments.prompt = arguments.text
    if arguments.prompt is not None and arguments.model is None:
        arguments.parser.error("--prompt is for a model, and there is no --model: the model of the package reads none")
    import numpy as np

    from llmask.cli.sampling import draw_steps, has_colours, write_document
    from llmask.errors import LimitExceeded

    tokenizer, source = _load(arguments)
    temperature = arguments.temperature if arguments.temperature is not None else _usual_temperature(arguments.model)
    grammar = compile_grammar(tokenizer, arguments)
    seed = secrets.randbits(32) if arguments.seed is None else arguments.seed
    n_failed = 0
    with Progress() as progress:
        for number in range(arguments.n):

            def report(text: str, number: int = number) -> None:
                progress(f"document {number + 1} of {arguments.n}, {text}")

            rng = np.random.default_rng([seed, number])
            try:
                steps = write_document(grammar, source, rng, temperature, arguments.max_tokens, report)
            except LimitExceeded as error:
                progress.clear()
                sys.stderr.write(f"llmask: error: document {number + 1} (seed {seed}): {error}\n")
                n_failed += 1
                continue
            progress.clear()
            if arguments.show:
                sys.stderr.write(draw_steps(tokenizer, steps, has_colours(sys.stderr)) + "\n")
            document = tokenizer.decode_bytes([step.token for step in steps])
            sys.stdout.buffer.write(document + b"\n")
            sys.stdout.buffer.flush()
    return 1 if n_failed else 0


def _load(arguments: argparse.Namespace) -> tuple[Tokenizer, LogitsSource]:
    """The tokenizer and the source of logits that the arguments name."""
    from llmask import Tokenizer
    from llmask.cli.endings import Endings, NeutralSource, NgramSource, OneLine

    max_tokens = arguments.max_tokens
    if arguments.model is not None:
        from llmask.cli.framework_models import LlamaCppSource, PackagedSource, TransformersSource, is_packaged, path_of

        source: LogitsSource
        prompt = arguments.prompt or ""
        if is_packaged(arguments.model):
            name = str(arguments.model)
            tokenizer = Tokenizer.from_gguf(path_of(name), vocab_size=arguments.vocab_size)
            source = PackagedSource(name, tokenizer, prompt)
        elif arguments.model.is_dir():
            source = TransformersSource(arguments.model, prompt)
            tokenizer = Tokenizer.from_huggingface(str(arguments.model), arguments.eos, arguments.vocab_size)
        else:
            tokenizer = Tokenizer.from_gguf(str(arguments.model), arguments.eos, arguments.vocab_size)
            source = LlamaCppSource(arguments.model, prompt, max_tokens)
        return tokenizer, OneLine(source, Endings(tokenizer, is_json(arguments), max_tokens))
    tokenizer = load_tokenizer(arguments)
    endings = Endings(tokenizer, is_json(arguments), max_tokens)
    if arguments.tokenizer is not None:
        return tokenizer, NeutralSource(endings)
    from llmask.defaults import NgramModel

    return tokenizer, NgramSource(NgramModel.load_default(), endings)


def _usual_temperature(model: Path | None) -> float:
    from llmask.cli.framework_models import PACKAGED, is_packaged

    return PACKAGED[str(model)].temperature if model is not None and is_packaged(model) else 1.0


def _at_least(least: int) -> Any:
    """Converter of an argument that is an integer not below `least`."""

    def convert(text: str) -> int:
        value = int(text)
        if value < least:
            raise argparse.ArgumentTypeError(f"must be at least {least}, not {value}")
        return value

    convert.__name__ = "integer"  # argparse names it in its messages
    return convert


def _temperature(text: str) -> float:
    value = float(text)
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a number that is not negative, not {text}")
    return value
