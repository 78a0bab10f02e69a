"""What holds at a place: schemas that hold together, negations, alternatives, layouts of objects and arrays."""
