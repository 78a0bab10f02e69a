"""The tables that `bench.pages` writes: found by their commands, and only theirs changed."""

from __future__ import annotations

from pathlib import Path

from bench import pages

PAGE = """# Page

<!-- measured by: python -m bench.one && python -m bench.page x -->

| old |

<!-- until here -->

between

<!-- measured by: python -m bench.two -->
| other |
<!-- until here -->
"""


def test_a_table_is_put_in_the_place_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text(PAGE, encoding="utf-8")
    one, two = pages.tables(tmp_path, [])
    assert [command for _, command in (one, two)] == [
        "python -m bench.one && python -m bench.page x",
        "python -m bench.two",
    ]
    assert pages.tables(tmp_path, ["bench.two"]) == [two]
    assert pages.tables(tmp_path, ["README"]) == [one, two]
    changed = pages.put(PAGE, one[1], "| new |\n\\1", "Measured on a day.")
    assert "| new |\n\\1\n\nMeasured on a day. <!-- until here -->\n\nbetween" in changed
    assert "old" not in changed
    assert "| other |" in changed


def test_the_last_command_is_the_table() -> None:
    assert pages.run("python -c print(1) && python -c print(2)") == "2\n"


def test_pages_of_the_project_name_commands_that_are_there(project_root: Path) -> None:
    found = pages.tables(project_root, [])
    assert {path.name for path, _ in found} >= {"README.md", "requests.md", "compiling_more.md"}
    for _, command in found:
        for part in command.split(" && "):
            module = part.split()[2].split(".")
            assert project_root.joinpath(*module).with_suffix(".py").exists(), part
