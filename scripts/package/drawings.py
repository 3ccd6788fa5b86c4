#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Draws Documentation/drawings/*.txt as pictures, *.svg beside them.
#
#   drawings.py       draws
#   drawings.py -n    draws nothing, and prints which pictures do not agree with their texts
#
# A text shows lines as characters: + is a corner or a branch, . and ' are round corners, - and |
# are lines, ~ and : dashed ones, < > ^ v arrowheads, each only beside another character of a line.
# A rectangle with four + as corners is a box, and filled unless its lines are dashed. All else is
# writing, and pieces between two or more spaces are set apart. A piece in *asterisks* stands out,
# and so does the box around it if that is one +----+ wide and has one row. Lines that begin with #
# are comments; the second is the title.
#
# Each picture has a ground, light or dark as the reader's browser prefers.
import html
import os
import pathlib
import re
import sys

# Of a character.
W, H = 8.4, 18
STYLE = """
.g{fill:#fff}.l{fill:none;stroke:#57606a;stroke-width:1.4}
.h{fill:#57606a}.b{fill:#eaeff5;stroke:#57606a;stroke-width:1.4}.a{fill:#ffe3c2;stroke:#a84300}
text{font:14px "DejaVu Sans Mono","Liberation Mono",Menlo,Consolas,monospace;fill:#1c2128;
white-space:pre}.t{fill:#a84300;font-weight:bold}
@media(prefers-color-scheme:dark){.g{fill:#14181d}.l{stroke:#9aa4af}.h{fill:#9aa4af}
.b{fill:#252d37;stroke:#9aa4af}.a{fill:#4a2c10;stroke:#ffa657}text{fill:#e6edf3}.t{fill:#ffa657}}
"""
LEFT, RIGHT, UP, DOWN = -1, 1, -1j, 1j
HEADS = {"<": LEFT, ">": RIGHT, "^": UP, "v": DOWN}
# Where the line of a character goes on.
ENDS = {"-": (LEFT, RIGHT), "~": (LEFT, RIGHT), "|": (UP, DOWN), ":": (UP, DOWN),
        ".": (LEFT, RIGHT, DOWN), "'": (LEFT, RIGHT, UP), "+": (LEFT, RIGHT, UP, DOWN),
        "<": (RIGHT,), ">": (LEFT,), "^": (DOWN,), "v": (UP,)}


def point(z):
    return f"{1.5 * W + z.real * W:.1f} {1.5 * H + z.imag * H:.1f}"


def find_lines(text):
    """The characters of lines, with the directions in which each goes on."""
    def is_word(z):
        return re.match(r"\w", text.get(z, " "))

    ends = {z: ENDS[x] for z, x in text.items()
            if x in ENDS and not (x in ":^v" and (is_word(z - 1) or is_word(z + 1)))}
    lines = {}
    for z in ends:
        near = [d for d in ends[z] if -d in ends.get(z + d, ())]
        if text[z] in ".'":
            if len(near) > 1 and ends[z][2] in near:
                lines[z] = near
        # A line may end at the side of another, or at writing.
        elif near or text[z] in "-~|:" and any(text.get(z + d, " ") in "-~|:" for d in ends[z]):
            lines[z] = ends[z] if text[z] in "-|" else near
    return lines


def find_boxes(text, lines):
    """The smallest rectangle at each corner, the largest first."""
    def corners(z, d):
        while d in lines[z] and z + d in lines:
            z += d
            if text[z] == "+":
                yield z

    def smallest(z):
        for right in corners(z, RIGHT):
            for below in corners(z, DOWN):
                far = right + below - z
                if far in corners(right, DOWN) and far in corners(below, RIGHT):
                    return far

    found = [(z, smallest(z)) for z in lines if text[z] == "+"]
    return sorted((box for box in found if box[1]),
                  key=lambda box: -(box[1] - box[0]).real * (box[1] - box[0]).imag)


def draw_line(text, lines, z):
    near = lines[z]
    if text[z] in ".'":
        end = ENDS[text[z]][2]
        return "".join(f"M{point(z + d / 2)}Q{point(z)} {point(z + end / 2)}"
                       for d in near if d != end)
    if text[z] == "~":
        return f"M{point(z - 0.25)}L{point(z + 0.25)}"
    if text[z] == ":":
        return "".join(f"M{point(z + d * 0.1)}L{point(z + d * 0.4)}" for d in (UP, DOWN))
    # At the side of another line it goes on to the middle of that.
    ends = [z + d * (0.5 if -d in lines.get(z + d, (-d,)) else 1) for d in near]
    return f"M{point(ends[0])}" + "".join(f"L{point(z)} {point(end)}" for end in ends[1:] or [z])


def draw_head(text, lines, z):
    d = HEADS[text[z]]
    tip = z + d / (1 if z + d in lines else 2)
    back = tip - complex(d.real * 9 / W, d.imag * 9 / H)
    side = complex(d.imag * 4.5 / W, d.real * 4.5 / H)
    return (f'<path class="l" d="M{point(z)}L{point(back)}"/><path class="h" '
            f'd="M{point(tip)}L{point(back + side)} {point(back - side)}z"/>')


def draw(rows, title):
    text = {complex(c, r): x for r, row in enumerate(rows) for c, x in enumerate(row)}
    lines = find_lines(text)
    out = ['<rect class="g" width="100%" height="100%" rx="6"/>']
    pieces, loud = {}, set()
    for r, row in enumerate(rows):
        row = "".join("\t" if complex(c, r) in lines else x for c, x in enumerate(row))
        for piece in re.finditer(r"(\*?)(\S+(?: \S+)*)\1", row):
            z = complex(piece.start(2), r)
            pieces[z] = piece[2]
            if piece[1]:
                loud.add(z)
    for z, far in find_boxes(text, lines):
        if text[z + 1] == "~":
            continue
        inside = far - z == 5 + 2j and (z + 2 + 1j in loud or z + 3 + 1j in loud)
        mark = " a" if inside else ""
        out.append(f'<path class="b{mark}" d="M{point(z)}H{point(far).split()[0]}'
                   f'V{point(far).split()[1]}H{point(z).split()[0]}z"/>')
    drawn = "".join(draw_line(text, lines, z) for z in lines)
    out.append(f'<path class="l" d="{drawn}"/>')
    out += [draw_head(text, lines, z) for z in lines if text[z] in HEADS]
    for z, x in pieces.items():
        left, base = point(z - 0.5 + 5j / H).split()
        mark = ' class="t"' if z in loud else ""
        out.append(f'<text{mark} x="{left}" y="{base}" textLength="{len(x) * W:.1f}">'
                   f'{html.escape(x)}</text>')
    size = f"{(max(map(len, rows)) + 2) * W:.0f} {(len(rows) + 2) * H:.0f}"
    wide, high = size.split()
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{high}" '
            f'viewBox="0 0 {size}" role="img">\n<title>{html.escape(title)}</title>\n'
            f'<style>{STYLE}</style>\n' + "\n".join(out) + "\n</svg>\n")


bad = False
os.chdir(pathlib.Path(__file__).parents[2])
for path in sorted(pathlib.Path("Documentation/drawings").glob("*.txt")):
    said = path.read_text().splitlines()
    drawn = draw([line for line in said if line[:1] != "#"], said[1].lstrip("# "))
    picture = path.with_suffix(".svg")
    if "-n" not in sys.argv[1:]:
        picture.write_text(drawn)
    elif not picture.exists() or picture.read_text() != drawn:
        print(f"{picture} is not what scripts/package/drawings.py draws of {path.name}")
        bad = True
sys.exit(bad)
