"""Tests with a real small model: `.ci/run model`; they skip where its package is not installed."""
