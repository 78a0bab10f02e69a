"""Logits processors for frameworks that own the sampling loop, and `llmask.generate`; frameworks are imported late."""
