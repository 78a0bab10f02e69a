"""`python -m llmask` is the command `llmask`."""

from __future__ import annotations

import sys

from llmask.cli import main

if __name__ == "__main__":
    sys.exit(main())
