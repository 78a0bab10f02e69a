"""check_documents.py SCHEMA DOCUMENTS N: the file holds N documents, one a line, all valid by an outside judge."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import jsonschema

schema, documents = (Path(name).read_text(encoding="utf-8") for name in sys.argv[1:3])
lines = documents.splitlines()
assert len(lines) == int(sys.argv[3]), f"{len(lines)} documents instead of {sys.argv[3]}"
for line in lines:
    jsonschema.validate(json.loads(line), json.loads(schema))
