# SPDX-License-Identifier: MIT
"""Heat maps of ratios as SVG: the same text for the same figures (pure).

Below 1 blue, 1 white, above it red, by the logarithm: twice as fast and ten times as slow are both seen at once.
"""

import math
from dataclasses import dataclass
from xml.sax.saxutils import escape

# Ratios and the colours there; between them it is interpolated.
STOPS = ((0.5, (33, 102, 172)), (0.75, (146, 197, 222)), (1.0, (247, 247, 247)), (1.5, (253, 219, 199)),
         (3.0, (244, 165, 130)), (10.0, (214, 96, 77)), (100.0, (140, 20, 45)))
CELL_WIDTH, CELL_HEIGHT, LABEL_WIDTH, GAP = 46, 28, 104, 14
HEAD, PANEL_HEAD, FOOT = 52, 40, 46


@dataclass(frozen=True)
class Panel:
    """values: {(row, column): (ratio, note)}; a cell that is not there stays empty."""
    title: str
    values: dict


def colour(ratio):
    if ratio <= STOPS[0][0]:
        return STOPS[0][1]
    for (low, first), (high, last) in zip(STOPS, STOPS[1:]):
        if ratio <= high:
            share = math.log(ratio / low) / math.log(high / low)
            return tuple(round(a + share * (b - a)) for a, b in zip(first, last))
    return STOPS[-1][1]


def ink(background):
    red, green, blue = background
    return "#fff" if 0.299 * red + 0.587 * green + 0.114 * blue < 140 else "#222"


def shown(ratio):
    """Two digits or three; thousands with a k."""
    if ratio >= 9950:
        return f"{ratio / 1000:.0f}k"
    if ratio >= 995:
        return f"{ratio / 1000:.1f}k"
    return f"{ratio:.0f}" if ratio >= 9.95 else f"{ratio:.1f}" if ratio >= 1.995 else f"{ratio:.2f}"


def text(x, y, content, size=11, anchor="middle", fill="#222", weight=""):
    bold = f' font-weight="{weight}"' if weight else ""
    return f'<text x="{x:g}" y="{y:g}" font-size="{size}" text-anchor="{anchor}" fill="{fill}"{bold}>{escape(content)}</text>'


def cell(x, y, value):
    """A line, so that a changed figure is a changed line."""
    if value is None:
        return f'<rect x="{x:g}" y="{y:g}" width="{CELL_WIDTH}" height="{CELL_HEIGHT}" fill="#fff" stroke="#ddd"/>'
    ratio, note = value
    background = colour(ratio)
    fill = ink(background)
    return (f'<rect x="{x:g}" y="{y:g}" width="{CELL_WIDTH}" height="{CELL_HEIGHT}" '
            f'fill="#{"".join(f"{part:02x}" for part in background)}" stroke="#fff"/>'
            + text(x + CELL_WIDTH / 2, y + (12 if note else 18), shown(ratio), 11, fill=fill)
            + (text(x + CELL_WIDTH / 2, y + 23, note, 8, fill=fill) if note else ""))


def panel_at(x, y, panel, rows, columns):
    width = LABEL_WIDTH + CELL_WIDTH * len(columns)
    parts = [text(x + LABEL_WIDTH + CELL_WIDTH * len(columns) / 2, y + 14, panel.title, 13, weight="bold")]
    parts += [text(x + LABEL_WIDTH + CELL_WIDTH * (i + 0.5), y + PANEL_HEAD - 6, name, 10) for i, (_, name) in enumerate(columns)]
    for j, (row, name) in enumerate(rows):
        top = y + PANEL_HEAD + CELL_HEIGHT * j
        parts.append(text(x + LABEL_WIDTH - 6, top + 18, name, 10, "end"))
        for i, (column, _) in enumerate(columns):
            parts.append(cell(x + LABEL_WIDTH + CELL_WIDTH * i, top, panel.values.get((row, column))))
    return parts, width


def scale_at(x, y):
    parts = [text(x, y + 14, "ratio to the serial loop:", 11, "start")]
    for i, ratio in enumerate((0.5, 0.75, 1, 1.5, 3, 10, 100)):
        parts.append(cell(x + 140 + CELL_WIDTH * i, y - 4, (ratio, "or less" if i == 0 else "or more" if i == 6 else "")))
    return parts


def heat_map(title, subtitle, panels, rows, columns, panels_in_a_row):
    """rows, columns: pairs of a key and its label."""
    width = LABEL_WIDTH + CELL_WIDTH * len(columns) + GAP
    height = PANEL_HEAD + CELL_HEIGHT * len(rows) + GAP
    lines = -(-len(panels) // panels_in_a_row)
    whole = max(width * min(panels_in_a_row, len(panels)) + GAP, 900), HEAD + height * lines + FOOT
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{whole[0]}" height="{whole[1]}" '
             f'viewBox="0 0 {whole[0]} {whole[1]}" font-family="sans-serif" role="img">',
             f"<title>{escape(title)}</title>", f'<rect width="{whole[0]}" height="{whole[1]}" fill="#fff"/>',
             text(GAP, 22, title, 16, "start", weight="bold"), text(GAP, 42, subtitle, 12, "start", "#555")]
    for i, panel in enumerate(panels):
        drawn, _ = panel_at(width * (i % panels_in_a_row), HEAD + height * (i // panels_in_a_row), panel, rows, columns)
        parts += drawn
    parts += scale_at(GAP, whole[1] - FOOT + 12)
    return "\n".join([*parts, "</svg>", ""])
