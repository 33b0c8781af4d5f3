"""The pages of the documentation, and the blocks of code on them."""

import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
BUILT = ("_build", "api", "gallery", "jupyter_execute", ".venv")  # made by `make docs`
FENCE = re.compile(r"^( *)(`{3,}|:{3,})(.*)$")


@dataclass(frozen=True)
class Block:
    """A block of code: its page, the number of its first line, its language ("" if it is indented), and its text."""

    page: str
    line: int
    language: str
    text: str

    @property
    def first(self) -> str:
        """Its first line."""
        return self.text.splitlines()[0].strip() if self.text.strip() else ""


def pages() -> list[str]:
    """Every page in Markdown, as a path from the root."""
    found = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    return sorted(path.relative_to(ROOT).as_posix() for path in found if not {*BUILT} & {*path.relative_to(ROOT).parts})


def blocks(page: str) -> list[Block]:
    """The blocks of a page, fenced and indented, in order. Directives, such as ``{include}``, are none."""
    lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
    found, i, before = [], 0, ""
    while i < len(lines):
        fence = FENCE.match(lines[i])
        if fence and fence[2].startswith("`"):
            end = next(j for j in range(i + 1, len(lines)) if lines[j].strip() == fence[2])
            language = fence[3].strip() or "text"
            if not language.startswith("{"):
                found.append(Block(page, i + 2, language, "\n".join(lines[i + 1 : end]) + "\n"))
            i = end
        elif lines[i].startswith("    ") and not before.strip() and not _continues_a_list(lines, i):
            end = i
            while end < len(lines) and (lines[end].startswith("    ") or not lines[end].strip()):
                end += 1
            text = textwrap.dedent("\n".join(lines[i:end])).rstrip("\n")
            found.append(Block(page, i + 1, "", f"{text}\n"))
            i = end - 1
        before = lines[i]
        i += 1
    return found


def _continues_a_list(lines: list[str], i: int) -> bool:
    """Whether an indented line is a paragraph of the list item above, rather than a block: fewer than six blanks."""
    above = next((line for line in reversed(lines[:i]) if line.strip() and not line.startswith("  ")), "")
    return bool(re.match(r"([-*]|\d+\.) ", above)) and not lines[i].startswith("      ")
