"""Speed of encoders beside tiktoken and Hugging Face tokenizers, on the same texts in the same run."""
