"""What all grammars of one tokenizer share."""
