"""From the languages that people write grammars in to rules and regular expressions."""
