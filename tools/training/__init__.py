"""How the shipped tokenizer and n-gram model are made: free texts, generated documents, and learning from them."""
