"""The form of a grammar that frontends write and the parser reads."""
