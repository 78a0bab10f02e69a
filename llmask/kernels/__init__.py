"""The only compiled code: arrays of bytes and integers in, tables out."""
