"""Rules: what is written for objects, arrays and values, and the translation that dispatches places."""
