"""Why a text is refused: the keyword of a schema and its place, found by asking grammars of its keywords."""
