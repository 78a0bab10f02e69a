"""Regular expressions over bytes, and the sets of characters that they are made of."""
