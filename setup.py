"""The packages: those under llmask/, and the folder of ready grammars, which is installed inside as llmask/grammars."""

from setuptools import find_packages, setup

setup(
    packages=[*find_packages(include=["llmask*"]), "llmask.grammars"],
    package_dir={"llmask.grammars": "grammars"},
)
