"""`%llguidance {...}`: settings of the dialect that change which texts a grammar has, or masks.

Source: llguidance, docs/syntax.md, "Grammar options", and `LLGuidanceOptions` in parser/src/api.rs.

In: settings with their places. Out: those that have a meaning here. Cost: none to speak of.
"""

from __future__ import annotations

from typing import NamedTuple

from llmask.frontends.places import Spot, similar


class SettingsOfGrammar(NamedTuple):
    """What settings say.

    ignores_once   `%ignore` describes all that may stand between two lexemes
    """

    ignores_once: bool = False


MEANINGLESS = {  # settings that ask for what is so anyway
    "no_forcing": (None, ""),
    "allow_initial_skip": (True, "what is ignored may stand at the beginning"),
    "allow_invalid_utf8": (False, "texts are UTF-8"),
}
KNOWN = (*MEANINGLESS, "skip_repetition")


def read_settings(settings: dict[str, tuple[object, Spot]] | None) -> SettingsOfGrammar | None:
    """Read the settings of a grammar; None where there is no line with settings.

    Raises
    ------
    GrammarError : one is not known, or has a value that is not supported.
    """
    if settings is None:
        return None
    ignores_once = False
    for name, (value, spot) in settings.items():
        if name == "skip_repetition":
            if value not in ("once", "repeat"):
                spot.refuse(f'skip_repetition is "repeat" or "once", not {value!r}', 'write "once"')
            ignores_once = value == "once"
        elif name in MEANINGLESS:
            wanted, reason = MEANINGLESS[name]
            if not isinstance(value, bool) or (wanted is not None and value is not wanted):
                values = "true or false" if wanted is None else f"{str(wanted).lower()} only, as {reason}"
                spot.refuse(f"{name} can be {values}", "take it out")
        else:
            spot.refuse(f'the setting "{name}" is not known', similar(name, KNOWN, f"known are {', '.join(KNOWN)}"))
    return SettingsOfGrammar(ignores_once)
