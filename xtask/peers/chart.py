"""A log-log chart as SVG, readable on light and dark pages alike: it brings its own white ground."""

import math

COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#444444"]
WIDTH, HEIGHT = 860, 520
LEFT, RIGHT, TOP, BOTTOM = 80, 170, 50, 60


def short(number):
    """1000 as 1k, 0.01 as itself."""
    for limit, letter in [(1e6, "M"), (1e3, "k")]:
        if number >= limit:
            return f"{number / limit:g}{letter}"
    return f"{number:g}"


def log_log(title, x_label, y_label, curves):
    """Curves are (name, is dashed, points); axes are whole decades around all points."""
    points = [point for _, _, curve in curves for point in curve]
    low, high = ([limit(math.log10(p[k]) for p in points) for k in (0, 1)] for limit in (min, max))
    low, high = [math.floor(x + 1e-9) for x in low], [math.ceil(x - 1e-9) for x in high]

    def x_of(x):
        return LEFT + (math.log10(x) - low[0]) / (high[0] - low[0]) * (WIDTH - LEFT - RIGHT)

    def y_of(y):
        return HEIGHT - BOTTOM - (math.log10(y) - low[1]) / (high[1] - low[1]) * (HEIGHT - TOP - BOTTOM)

    def text(x, y, words, anchor="middle", more=""):
        return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{words}</text>'

    def line(x1, y1, x2, y2, style):
        return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" {style}/>'

    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
        ' font-family="sans-serif" font-size="13" fill="#222">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        text((LEFT + right) / 2, 26, title, more=' font-size="16" font-weight="bold"'),
    ]
    for decade in range(low[0], high[0] + 1):
        x = x_of(10.0**decade)
        parts += [line(x, TOP, x, bottom, 'stroke="#ddd"'), text(x, bottom + 20, short(10.0**decade))]
    for decade in range(low[1], high[1] + 1):
        y = y_of(10.0**decade)
        parts += [line(LEFT, y, right, y, 'stroke="#ddd"'), text(LEFT - 8, y + 4, short(10.0**decade), "end")]
    parts.append(
        f'<rect x="{LEFT}" y="{TOP}" width="{right - LEFT}" height="{bottom - TOP}" fill="none" stroke="#222"/>'
    )
    parts.append(text((LEFT + right) / 2, HEIGHT - 16, x_label))
    middle = (TOP + bottom) / 2
    parts.append(text(22, middle, y_label, more=f' transform="rotate(-90 22 {middle:.1f})"'))
    # What linear looks like: through the middle of the chart, as far as it fits.
    span = min(high[0] - low[0], high[1] - low[1])
    centre = [(a + b) / 2 for a, b in zip(low, high)]
    ends = [[10.0 ** (c + side * span / 2) for c in centre] for side in (-1, 1)]
    (xa, ya), (xb, yb) = [(x_of(x), y_of(y)) for x, y in ends]
    parts.append(line(xa, ya, xb, yb, 'stroke="#999" stroke-dasharray="2 5"'))
    for number, (name, is_dashed, curve) in enumerate(curves):
        colour = COLOURS[number % len(COLOURS)]
        dash = ' stroke-dasharray="7 4"' if is_dashed else ""
        path = " ".join(f"{x_of(x):.1f},{y_of(y):.1f}" for x, y in curve)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>')
        parts += [f'<circle cx="{x_of(x):.1f}" cy="{y_of(y):.1f}" r="3" fill="{colour}"/>' for x, y in curve]
        y = TOP + 14 + 22 * number
        parts.append(line(right + 14, y - 4, right + 44, y - 4, f'stroke="{colour}" stroke-width="2"{dash}'))
        parts.append(text(right + 50, y, name, "start"))
    y = TOP + 14 + 22 * len(curves)
    parts.append(line(right + 14, y - 4, right + 44, y - 4, 'stroke="#999" stroke-dasharray="2 5"'))
    parts.append(text(right + 50, y, "linear", "start"))
    return "\n".join([*parts, "</svg>"]) + "\n"
