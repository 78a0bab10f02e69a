"""Logits processors for the frameworks that own the sampling loop; each module imports its framework late."""
