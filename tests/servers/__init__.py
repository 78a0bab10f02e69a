"""Contract tests of servers whose pins exclude each other: each in an environment of its own, a stage of `.ci/run`."""
