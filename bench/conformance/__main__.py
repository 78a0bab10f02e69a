"""The command: `python -m bench.conformance suite | differential | walks | agreement | hostile [--help]`."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module

TOOLS = {
    "suite": "JSON-Schema-Test-Suite, llmask and peers",
    "keywords": "what the suite says of each keyword, as a table",
    "differential": "random schemas and documents, beside jsonschema",
    "walks": "documents written under masks; no dead ends",
    "agreement": "masks against acceptance, token by token",
    "hostile": "schemas made to hang, crash or eat memory",
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.conformance", description=__doc__)
    tools = parser.add_subparsers(dest="tool", required=True)
    for name, purpose in TOOLS.items():
        module = import_module(f"bench.conformance.{name}")
        module.add_arguments(tools.add_parser(name, help=purpose, description=module.__doc__,
                                              formatter_class=argparse.RawDescriptionHelpFormatter))  # fmt: skip
    options = parser.parse_args()
    return int(import_module(f"bench.conformance.{options.tool}").main(options))


if __name__ == "__main__":
    sys.exit(main())
