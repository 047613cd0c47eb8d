# SPDX-License-Identifier: MIT
"""The programs of README.md run."""
import re
from pathlib import Path

import pytest

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
PROGRAMS = re.findall(r"(?:<!-- needs ([\w, ]+) -->\n)?```python\n(.*?)```", README, flags=re.S)


@pytest.mark.parametrize("needs, program", PROGRAMS)
def test_programs(needs, program, tmp_path):
    for name in filter(None, needs.split(", ")):
        pytest.importorskip(name, reason=f"{name} is not installed")
    source = tmp_path / "readme.py"
    source.write_text(program)
    exec(compile(program, str(source), "exec"), {"__name__": "readme"})


def test_there_are_programs():
    assert len(PROGRAMS) >= 2
