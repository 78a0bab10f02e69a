"""Texts of tracked values, compared for `uniqueItems` and the like. Nobody needs it to understand the rest."""
