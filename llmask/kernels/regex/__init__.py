"""Regular expressions over bytes: nodes, their constructors, derivatives, and the test for emptiness."""
