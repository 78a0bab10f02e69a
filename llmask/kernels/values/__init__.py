"""What was read, as values that can be compared: `uniqueItems` and the like. Nobody needs it to understand the rest."""
