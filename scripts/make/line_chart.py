# SPDX-License-Identifier: MIT
"""Panels of curves over a logarithmic axis as SVG: the same text for the same figures (pure)."""

import math
from dataclasses import dataclass
from xml.sax.saxutils import escape

from make.heat_map import text

# Told apart by those who see no red or green as well; dashes help in print.
STYLES = (("#555555", "6 3"), ("#d95f02", "2 2"), ("#1f5fb4", ""))
WIDTH, HEIGHT, LEFT, BOTTOM, GAP, HEAD, PANEL_HEAD, FOOT = 300, 190, 58, 36, 18, 54, 38, 34


@dataclass(frozen=True)
class Panel:
    """curves: {name: [(x, y)]}, all above zero."""
    title: str
    curves: dict


@dataclass(frozen=True)
class Axes:
    across: str
    up: str
    is_up_logarithmic: bool = True


def decades(values):
    return math.floor(math.log10(min(values)) + 1e-9), math.ceil(math.log10(max(values)) - 1e-9)


def power(exponent):
    return f"{10 ** exponent:g}" if -3 <= exponent <= 4 else f"1e{exponent}"


def scale_of(values, is_logarithmic):
    """(value -> 0 to 1, [(place, label)])"""
    if not is_logarithmic:
        return (lambda v: v), [(part / 4, f"{part / 4:g}") for part in range(5)]
    low, high = decades(values)
    high = max(high, low + 1)
    return (lambda v: (math.log10(v) - low) / (high - low)), [((e - low) / (high - low), power(e)) for e in range(low, high + 1)]


def line(x1, y1, x2, y2, colour="#ddd", more=""):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"{more}/>'


def panel_at(x, y, panel, axes, up, across):
    left, top, wide, high = x + LEFT, y + PANEL_HEAD, WIDTH - LEFT, HEIGHT
    (to_x, x_ticks), (to_y, y_ticks) = across, up
    parts = [text(left + wide / 2, y + 14, panel.title, 12, weight="bold")]
    for place, label in y_ticks:
        at = top + high * (1 - place)
        parts += [line(left, at, left + wide, at), text(left - 5, at + 4, label, 10, "end")]
    for place, label in x_ticks:
        at = left + wide * place
        parts += [line(at, top, at, top + high), text(at, top + high + 14, label, 10)]
    parts += [text(left + wide / 2, top + high + 29, axes.across, 10, fill="#555"), text(left - 5, top - 6, axes.up, 10, "end", "#555")]
    for (colour, dashes), points in zip(STYLES, panel.curves.values()):
        path = " ".join(f"{left + wide * to_x(px):.1f},{top + high * (1 - to_y(py)):.1f}" for px, py in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"'
                     + (f' stroke-dasharray="{dashes}"' if dashes else "") + "/>")
    return parts


def legend_at(x, y, names):
    parts = []
    for i, ((colour, dashes), name) in enumerate(zip(STYLES, names)):
        at = x + 170 * i
        more = ' stroke-width="2"' + (f' stroke-dasharray="{dashes}"' if dashes else "")
        parts += [line(at, y, at + 30, y, colour, more), text(at + 36, y + 4, name, 12, "start")]
    return parts


def line_chart(title, subtitle, panels, axes, panels_in_a_row):
    """All panels have the same axes, so that they can be compared."""
    xs = [px for panel in panels for points in panel.curves.values() for px, _ in points]
    ys = [py for panel in panels for points in panel.curves.values() for _, py in points]
    across, up = scale_of(xs, True), scale_of(ys, axes.is_up_logarithmic)
    width, height = WIDTH + GAP, PANEL_HEAD + HEIGHT + BOTTOM + GAP
    lines = -(-len(panels) // panels_in_a_row)
    whole = width * panels_in_a_row + 2 * GAP, HEAD + height * lines + FOOT
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{whole[0]}" height="{whole[1]}" '
             f'viewBox="0 0 {whole[0]} {whole[1]}" font-family="sans-serif" role="img">',
             f"<title>{escape(title)}</title>", f'<rect width="{whole[0]}" height="{whole[1]}" fill="#fff"/>',
             text(GAP, 22, title, 16, "start", weight="bold"), text(GAP, 42, subtitle, 12, "start", "#555")]
    for i, panel in enumerate(panels):
        parts += panel_at(GAP + width * (i % panels_in_a_row), HEAD + height * (i // panels_in_a_row), panel, axes, up, across)
    parts += legend_at(GAP + LEFT, whole[1] - FOOT + 12, list(panels[0].curves))
    return "\n".join([*parts, "</svg>", ""])
