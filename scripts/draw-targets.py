#!/usr/bin/env python3
"""Draws docs/images/targets.svg: the targets of the products, and which of them imports which.

The input consists of the imports in the code and the products in Package.swift. An import is not drawn if a
path through other targets leads to the same target. The box of a target lists the C libraries that it imports.

    draw-targets.py          writes the picture
    draw-targets.py --check  prints an error and exits with status 1 if the picture is out of date
"""
import html
import pathlib
import re
import sys

sys.dont_write_bytecode = True

from swiftnames import ROOT, swift_files  # noqa: E402

PICTURE = ROOT / "docs/images/targets.svg"

# The sections of docs/life-of-a-request.md, and the targets that are not part of a section. The colors are those of lines and
# fills, in light and in dark mode.
AREAS = [
    ("①", "socket", "#2563a8", "#e8f1fb", "#6cb0f5", "#17283d", "DavitTransport DavitSystem DavitCrypto DavitLogging DavitSandbox"),
    ("②", "parser", "#5b6472", "#eef0f3", "#a9b4c2", "#262c35", "DavitHTTP"),
    ("③", "middleware and routing", "#7a4ab8", "#f3ecfb", "#c09bf2", "#2b2140",
     "DavitServer DavitZlib DavitJSON DavitFaults DavitSite DavitListing"),
    ("④", "method", "#b4570f", "#fcf0e4", "#f0a35e", "#3a2716",
     "DavitEngine DavitAccess DavitWebDAV DavitXML"),
    ("⑤", "stores", "#1d7a4c", "#e6f5ec", "#63cc94", "#153024", "DavitStore DavitFileStore DavitSQLite DavitJournal DavitAccounts"),
    ("", "browser page", "#b02a63", "#fceaf1", "#f287b3", "#3b1c2a", "DavitPage DavitArchive DavitQRCode"),
    ("", "library and command", "#3f4754", "#ffffff", "#c3ccd8", "#1b2129", ""),
]
OTHERS = len(AREAS) - 1

BOX_WIDTH, BOX_HEIGHT = 126, 44
GAP, LANE = 22, 20  # between boxes, and between lines that pass a row
ROW = 92
MARGIN = 26
LEGEND = 46


def read_targets():
    """Returns the targets that the products need, the imports of each, and the name of each C library."""
    manifest = (ROOT / "Package.swift").read_text(encoding="utf-8")
    products = re.findall(r'\.(?:library|executable)\(name: "\w+", targets: \[([^\]]*)\]', manifest)
    roots = sorted({name for targets in products for name in re.findall(r'"(\w+)"', targets)})
    libraries = dict(re.findall(r'\.systemLibrary\(\s*name: "(\w+)"(?:,\s*pkgConfig: "([^"]*)")?', manifest))
    modules = {path.name for path in (ROOT / "Sources").iterdir() if path.is_dir()}
    imports = {name: set() for name in modules}
    for file in swift_files(ROOT):
        if file.path.startswith("Sources/"):
            imports[file.target] |= {name for name, _ in file.imports if name in modules and name != file.target}
    needed, waiting = set(), list(roots)
    while waiting:
        name = waiting.pop()
        if name not in needed:
            needed.add(name)
            waiting += imports[name]
    # A target without Swift code is a C library.
    foreign = {name for name in needed if not any((ROOT / "Sources" / name).rglob("*.swift"))}
    labels = {}
    for name in sorted(needed - foreign):
        labels[name] = [libraries[library] for library in sorted(imports[name] & foreign) if libraries.get(library)]
    return {name: sorted(imports[name] - foreign) for name in sorted(needed - foreign)}, labels


def reduced(imports):
    """Returns the imports without those that others imply."""
    reachable = {}

    def reach(name):
        if name not in reachable:
            reachable[name] = set(imports[name]).union(*(reach(other) for other in imports[name]))
        return reachable[name]

    return {name: [other for other in others if not any(other in reach(via) for via in others if via != other)]
            for name, others in imports.items()}


def rows_of(imports):
    """Returns the row of each target, from the bottom: above all its imports, directly below its lowest importer."""
    row = {}

    def height(name):
        if name not in row:
            row[name] = 1 + max((height(other) for other in imports[name]), default=-1)
        return row[name]

    for name in imports:
        height(name)
    users = {name: [user for user in imports if name in imports[user]] for name in imports}
    for name in sorted(imports, key=lambda name: (-row[name], name)):
        # The targets that import this one come first.
        if users[name]:
            row[name] = min(row[user] for user in users[name]) - 1
    return row


class Layout:
    """The rows of targets and lanes. A lane is a position at which a line crosses a row."""

    def __init__(self, imports, row):
        self.rows = [[] for _ in range(max(row.values()) + 1)]
        self.down, self.up = {}, {}
        self.paths = []
        for name in sorted(imports):
            self._add(name, row[name])
        for name in sorted(imports):
            for other in sorted(imports[name]):
                path = [name]
                for passed in range(row[name] - 1, row[other], -1):
                    path.append((name, other, passed))
                    self._add(path[-1], passed)
                path.append(other)
                for upper, lower in zip(path, path[1:]):
                    self.down[upper].append(lower)
                    self.up[lower].append(upper)
                self.paths.append(path)
        self._order()
        self._place()

    def _add(self, node, row):
        self.rows[row].append(node)
        self.down[node], self.up[node] = [], []

    # The order in each row

    def _crossings(self, rows):
        count = 0
        for upper, lower in zip(rows[1:], rows):
            position = {node: index for index, node in enumerate(lower)}
            ends = [sorted(position[end] for end in self.down[node]) for node in upper]
            flat = [end for group in ends for end in group]
            count += sum(1 for index, end in enumerate(flat) for later in flat[index + 1:] if later < end)
        return count

    def _order(self):
        best = None
        for start in range(4):
            rows = [sorted(row, key=str, reverse=bool(start & 1)) for row in self.rows]
            for turn in range(40):
                downwards = (turn + (start >> 1)) % 2 == 0
                numbers = range(len(rows) - 2, -1, -1) if downwards else range(1, len(rows))
                for number in numbers:
                    fixed = rows[number + 1 if downwards else number - 1]
                    position = {node: index for index, node in enumerate(fixed)}
                    ends = self.up if downwards else self.down

                    def center(item, row=rows[number], ends=ends, position=position):
                        found = [position[end] for end in ends[item]]
                        return sum(found) / len(found) if found else row.index(item)

                    rows[number] = sorted(rows[number], key=center)
                self._swap(rows)
                found = self._crossings(rows)
                if best is None or found < best[0]:
                    best = found, [list(row) for row in rows]
        self.rows = best[1]

    def _swap(self, rows):
        """Exchanges neighbors as long as this removes crossings."""
        improved = True
        while improved:
            improved = False
            for number, row in enumerate(rows):
                nearby = rows[max(0, number - 1):number + 2]
                for index in range(len(row) - 1):
                    before = self._crossings(nearby)
                    row[index], row[index + 1] = row[index + 1], row[index]
                    if self._crossings(nearby) < before:
                        improved = True
                    else:
                        row[index], row[index + 1] = row[index + 1], row[index]

    # The horizontal positions

    def _place(self):
        self.x = {}
        for row in self.rows:
            place = 0.0
            for index, node in enumerate(row):
                place += self._distance(row[index - 1], node) if index else 0
                self.x[node] = place
        for turn in range(2000):
            numbers = range(len(self.rows)) if turn % 2 else range(len(self.rows) - 1, -1, -1)
            for number in numbers:
                self._settle(self.rows[number])
        for path in self.paths:
            self._straighten(path[1:-1])
        left = min(self.x[node] - self._half(node) for node in self.x)
        for node in self.x:
            self.x[node] = round(self.x[node] - left)
        self.width = max(self.x[node] + self._half(node) for node in self.x)

    def _straighten(self, lanes):
        """Aligns the lanes of a line, if there is enough space for this."""
        before = dict(self.x)
        places = [before[lane] for lane in lanes]
        for place in [sum(places) / len(places), min(places), max(places)] if lanes else []:
            self.x = before | {lane: place for lane in lanes}
            if all(self.x[right] - self.x[left] > self._distance(left, right) - 0.01
                   for row in self.rows for left, right in zip(row, row[1:])):
                return
        self.x = before

    def _half(self, node):
        return BOX_WIDTH / 2 if isinstance(node, str) else LANE / 2

    def _distance(self, left, right):
        return self._half(left) + self._half(right) + (GAP if isinstance(left, str) and isinstance(right, str) else 8)

    def _settle(self, row):
        """Moves each node toward its neighbors in other rows, as far as the order and the distances allow."""
        blocks, offset = [], 0.0
        for index, node in enumerate(row):
            offset += self._distance(row[index - 1], node) if index else 0
            # Lines that cross rows are kept straight with priority.
            ends = [(self.x[end], 1 if isinstance(node, str) or isinstance(end, str) else 50)
                    for end in self.up[node] + self.down[node]] or [(self.x[node], 1)]
            weight = sum(weight for _, weight in ends)
            blocks.append([sum(x * weight for x, weight in ends) - offset * weight, weight, [(node, offset)]])
            while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] > blocks[-1][0] / blocks[-1][1]:
                total, weight, nodes = blocks.pop()
                blocks[-1][0] += total
                blocks[-1][1] += weight
                blocks[-1][2] += nodes
        for total, weight, nodes in blocks:
            for node, offset in nodes:
                self.x[node] = total / weight + offset


def area_of(name):
    for index, area in enumerate(AREAS):
        if name in area[-1].split():
            return index
    return OTHERS


def style():
    lines = [
        "text { font: 13px system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif; text-anchor: middle; }",
        ".name { font-weight: 600; }",
        ".small { font-size: 11px; }",
        ".legend { font-size: 12px; text-anchor: start; }",
        "rect { stroke-width: 1.5; }",
        "path { fill: none; stroke-width: 1.5; }",
    ]
    for dark in (False, True):
        back, ink, soft, edge = ("#0d1117", "#e8edf3", "#a3adb9", "#30363d") if dark else ("#ffffff", "#1b2026", "#5a6470", "#d5dae0")
        colors = [f".back {{ fill: {back}; stroke: {edge}; }}", f"text {{ fill: {ink}; }}", f".small, .legend {{ fill: {soft}; }}"]
        for index, area in enumerate(AREAS):
            line, fill = area[4:6] if dark else area[2:4]
            colors.append(f".a{index} rect {{ fill: {fill}; stroke: {line}; }} path.a{index} {{ stroke: {line}; }} "
                          f".h{index} {{ fill: {line}; }}")
        lines += ["@media (prefers-color-scheme: dark) {", *("  " + color for color in colors), "}"] if dark else colors
    return lines


def draw(imports, labels):
    shown = reduced(imports)
    layout = Layout(shown, rows_of(shown))
    width = round(layout.width) + 2 * MARGIN
    height = 2 * MARGIN + LEGEND + (len(layout.rows) - 1) * ROW + BOX_HEIGHT
    y = {node: MARGIN + LEGEND + (len(layout.rows) - 1 - number) * ROW
         for number, row in enumerate(layout.rows) for node in row}
    x = {node: round(layout.x[node]) + MARGIN for node in layout.x}

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
        'aria-labelledby="title">',
        '<title id="title">The targets of davit and their imports</title>',
        "<!-- Written by scripts/draw-targets.py; do not edit. -->",
        "<style>", *style(), "</style>", "<defs>",
    ]
    for index in range(len(AREAS)):
        out.append(f'<marker id="h{index}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" '
                   f'markerUnits="userSpaceOnUse" orient="auto"><path class="h{index}" stroke="none" d="M0 .5 8 4 0 7.5z"/></marker>')
    out += ["</defs>", f'<rect class="back" x="1" y="1" width="{width - 2}" height="{height - 2}" rx="10"/>']

    place = MARGIN
    for index, (number, title, *_) in enumerate(AREAS):
        text = f"{number} {title}".strip()
        out.append(f'<g class="a{index}"><rect x="{place}" y="{MARGIN - 6}" width="14" height="14" rx="4"/>'
                   f'<text class="legend" x="{place + 20}" y="{MARGIN + 5}">{text}</text></g>')
        place += 42 + 7 * len(text)

    for path in layout.paths:
        out.append(f'<path class="a{area_of(path[0])}" marker-end="url(#h{area_of(path[0])})" d="{curve(path, layout, x, y)}"/>')
    for name in sorted(imports):
        left, top = x[name] - BOX_WIDTH // 2, y[name]
        out.append(f'<g class="a{area_of(name)}"><rect x="{left}" y="{top}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="8"/>')
        below = ", ".join(labels[name])
        out.append(f'<text class="name" x="{x[name]}" y="{top + (20 if below else 27)}">{name}</text>'
                   + (f'<text class="small" x="{x[name]}" y="{top + 35}">{html.escape(below)}</text>' if below else "") + "</g>")
    return "\n".join(out + ["</svg>"]) + "\n"


def curve(path, layout, x, y):
    """Returns a smooth line from the lower edge of the first box to the upper edge of the last."""
    def spread(node, other, ends):
        """Returns where on the edge of a box a line starts or ends; lines are ordered by their other ends."""
        order = sorted(ends, key=lambda end: (x[end], str(end)))
        step = min(18, (BOX_WIDTH - 40) / max(1, len(order) - 1))
        return round(x[node] + (order.index(other) - (len(order) - 1) / 2) * step)

    points = [(spread(path[0], path[1], layout.down[path[0]]), y[path[0]] + BOX_HEIGHT)]
    for node in path[1:-1]:
        points += [(x[node], y[node]), (x[node], y[node] + BOX_HEIGHT)]
    points.append((spread(path[-1], path[-2], layout.up[path[-1]]), y[path[-1]] - 2))
    text = f"M{points[0][0]} {points[0][1]}"
    for (x0, y0), (x1, y1) in zip(points, points[1:]):
        middle = (y0 + y1) // 2
        text += f"V{y1}" if x0 == x1 else f"C{x0} {middle} {x1} {middle} {x1} {y1}"
    return text


def main(arguments):
    if arguments not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 64
    picture = draw(*read_targets())
    if not arguments:
        PICTURE.write_text(picture, encoding="utf-8")
        return 0
    if not PICTURE.exists() or PICTURE.read_text(encoding="utf-8") != picture:
        print(f"{PICTURE.relative_to(ROOT)} is out of date; run scripts/draw-targets.py", file=sys.stderr)
        return 1
    return 0


sys.exit(main(sys.argv[1:]))
