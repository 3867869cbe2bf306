"""A small chart of results/peers.csv as SVG: the error of each library as delta decreases, and the time for 80 counts.

    python3 scripts/peers/peers_plot.py results/peers.csv results/peers.svg

draws it again without measuring. It is drawn here because its numbers are measured: `assay figures` only draws computed
numbers, with the same bytes everywhere.
"""

import csv
import math
import sys
from html import escape
from pathlib import Path

# The Okabe-Ito palette, with one marker each, so that color is not the only distinction.
STYLES = {
    "dp-assay": ("#0072B2", "circle"),
    "dp-accounting": ("#D55E00", "square"),
    "prv-accountant": ("#009E73", "diamond"),
    "autodp": ("#E69F00", "triangle"),
    "opendp": ("#000000", "cross"),
    "riskcal": ("#CC79A7", "ring"),
}
WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 380, 250, 62, 74, 46
# Narrower enclosures and smaller errors are drawn at the bottom.
FLOOR = 1e-13


def marker(kind, x, y, colour):
    shapes = {
        "circle": f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>',
        "ring": f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="none" stroke="{colour}" stroke-width="1.6"/>',
        "square": f'<rect x="{x - 3.5:.1f}" y="{y - 3.5:.1f}" width="7" height="7" fill="{colour}"/>',
        "diamond": f'<path d="M{x:.1f} {y - 5:.1f}l5 5l-5 5l-5 -5z" fill="{colour}"/>',
        "triangle": f'<path d="M{x:.1f} {y - 5:.1f}l5 9h-10z" fill="{colour}"/>',
        "cross": f'<path d="M{x - 4:.1f} {y - 4:.1f}l8 8m0 -8l-8 8" stroke="{colour}" stroke-width="1.8"/>',
    }
    return shapes[kind]


class Panel:
    """A panel with logarithmic axes."""

    def __init__(self, left, title, x, y, x_label, y_label):
        self.left, self.x, self.y = left, [math.log10(v) for v in x], [math.log10(v) for v in y]
        self.parts = [text(left + LEFT, TOP - 10, title)]
        for axis, label in ((0, x_label), (1, y_label)):
            low, high = (self.x, self.y)[axis]
            step = max(1, round(abs(high - low) / 5))
            for power in range(math.ceil(min(low, high)), math.floor(max(low, high)) + 1):
                if power % step == 0:
                    self.tick(axis, power)
        middle = left + LEFT + (WIDTH - LEFT - 14) / 2
        self.parts.append(text(middle, TOP + HEIGHT - 12, x_label, "middle"))
        turned = f"translate({left + 12} {TOP + (HEIGHT - BOTTOM) / 2}) rotate(-90)"
        self.parts.append(text(0, 0, y_label, "middle", turned))

    def place(self, x, y):
        right, foot = WIDTH - LEFT - 14, HEIGHT - BOTTOM
        across = (math.log10(x) - self.x[0]) / (self.x[1] - self.x[0])
        up = (math.log10(max(y, FLOOR)) - self.y[0]) / (self.y[1] - self.y[0])
        return self.left + LEFT + across * right, TOP + foot * (1 - min(max(up, 0), 1))

    def tick(self, axis, power):
        if axis == 0:
            x, foot = self.place(10.0**power, 10 ** self.y[0])
            self.parts.append(f'<path d="M{x:.1f} {TOP}V{foot:.1f}" stroke="#ddd"/>')
            self.parts.append(text(x, foot + 15, f"1e{power}", "middle"))
        else:
            x, y = self.place(10 ** self.x[0], 10.0**power)
            self.parts.append(f'<path d="M{x:.1f} {y:.1f}h{WIDTH - LEFT - 14}" stroke="#ddd"/>')
            self.parts.append(text(x - 5, y + 4, f"1e{power}", "end"))

    def dot(self, row, x):
        """The error of a row above x; with a ring if its claim is false for the mechanism that it ran."""
        colour, kind = STYLES[row["library"]]
        x, y = self.place(x, off(row))
        self.parts.append(marker(kind, x, y, colour))
        if (row["holds_for_own"] or row["holds"]) == "no":
            self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="8" fill="none" stroke="#000"/>')


def text(x, y, words, anchor="start", transform=""):
    place = f'transform="{transform}"' if transform else f'x="{x:.1f}" y="{y:.1f}"'
    return f'<text {place} text-anchor="{anchor}">{escape(words)}</text>'


def off(row):
    """The relative error of a row; None if it gave no finite answer."""
    return abs(float(row["relative_error"])) if row["relative_error"] else None


def svg(rows):
    """The whole chart."""
    sweep = [row for row in rows if row["work"] == "10 counts, sigma2 = 5" and off(row) is not None]
    whole = [
        row
        for row in rows
        if row["work"].startswith("su-su-wang-2025, 80") and row["at"] == "1e-10" and off(row) is not None
    ]
    first = Panel(0, "10 counts, σ² = 5: error of ε", (1e-3, 1e-27), (FLOOR, 10), "δ", "relative error of ε")
    # The libraries side by side at each delta.
    for row in sweep:
        shift = 10 ** (0.35 * (list(STYLES).index(row["library"]) - 2.5))
        first.dot(row, float(row["at"]) * shift)
    title, labels = "80 counts, δ = 1e-10: error and seconds", ("processor seconds", "relative error of ε")
    second = Panel(WIDTH + 30, title, (3e-4, 1e2), (FLOOR, 10), *labels)
    for row in whole:
        second.dot(row, min(max(float(row["cpu_seconds"]), 3e-4), 1e2))
    legend = []
    for index, (library, (colour, kind)) in enumerate(STYLES.items()):
        x = 20 + 128 * index
        legend += [marker(kind, x, 42, colour), text(x + 10, 46, library)]
    words = "The lower the better; no mark, no answer; ringed: the bound that it claims to be does not hold"
    title = text(14, 22, words)
    size = f'width="{2 * WIDTH + 30}" height="{TOP + HEIGHT}"'
    parts = [title, *legend, *first.parts, *second.parts]
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12">\n'
        f'<rect width="100%" height="100%" fill="white"/>\n{body}\n</svg>\n'
    )


if __name__ == "__main__":
    with open(sys.argv[1], newline="") as table:
        Path(sys.argv[2]).write_text(svg(list(csv.DictReader(table))))
