"""The scripts in examples/, each run by itself."""
