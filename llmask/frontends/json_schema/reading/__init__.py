"""What a schema says: its document, references, keywords as they are written, options of the caller."""
