"""How a document can end within a number of tokens: bounds, searches, and the tokens that keep the way open."""
