#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Makes documents for Sphinx out of manual pages, and what else of the site only Python does: see
# docs.sh. Documentation/conf.py imports this.
#
#   pages.py PAGES OUT
#
# PAGES has man1/, man3/ and so on, as man.sh leaves them; OUT gets a document for each page,
# index.rst with all of them, and names.csv: each name with its page.
import html
import pathlib
import re
import subprocess
import sys

import pygments
import pygments.formatters
import pygments.lexers

# Not O(1).
REFERENCE = re.compile(r"\b(?!O\()([A-Za-z_][\w.-]*)\(([1-9])\)")
SECTIONS = {
    "1": ("Programs", []),
    "4": ("The device and the module", []),
    "3": ("The library", ["libcallout"]),
    "7": ("Moving a process", []),
    "9": ("Kernel code", ["callout", "timeout", "callout_timer", "callout_netbsd", "timeout_set",
                          "callout_dragonfly"]),
}
COMMANDS = (r"(?:#|\$|make|cc|cd|cat|apt|modprobe|insmod|calloutctl|echo|exec|mkdir|usermod|git|dkms"
            r"|cargo|(?:sudo )?(?:bpftrace|perf|trace-cmd)|(?:/usr/)?(?:[a-z]+/)+[\w.-]+) |[A-Z_]+\[0\]=")


def language(code):
    """Which language an example is in, by its look: "none" for drawings and outputs."""
    if re.match(COMMANDS, code):
        return "sh"
    # A table of flags in words.
    if re.match(r"[A-Z_]+  +[a-z]", code):
        return "none"
    if re.search(r"^#include|^#define|^#undef|^ *//|\w->\w|;\s*(/\*.*)?$", code, re.M):
        return "rust" if re.search(r"^use |\blet ", code, re.M) else "c"
    if re.search(r"^(import|from|with|def|async def) .*|^\w+\.run\(", code, re.M):
        return "python"
    if re.match(r"[a-z-]+ \+?= ", code):
        return "make"
    return "none"


def address(name, section, own):
    """The page of name(section), from the directory of the manual pages, or None."""
    if (name, section) in own:
        return own[name, section] + ".html"
    # Of the kernel's functions Debian has no pages, and of FreeBSD's neither.
    return None if section == "9" else f"https://manpages.debian.org/{name}.{section}"


def names(pages):
    """The pages of all names."""
    found = {}
    for page in sorted(pages.glob("man?/*")):
        text = page.read_text()
        target = pathlib.Path(text[4:].strip()).name if text.startswith(".so ") else page.name
        found[page.stem, page.suffix[1:]] = target
    return found


def example(match):
    """A <pre> without blank lines of mandoc's, and in colours if it has no markup."""
    code = re.sub(r"\n *<br/>(?=\n)", "", match[1])
    if "<" in code:
        return f"<pre>{code}</pre>"
    code = html.unescape(code)
    lexer = pygments.lexers.get_lexer_by_name(language(code).replace("none", "text"))
    return pygments.highlight(code, lexer, pygments.formatters.HtmlFormatter())


def body(page, own):
    """The HTML of a page as a list: text, level and title of a heading, text, and so on."""
    text = subprocess.run(["mandoc", "-Thtml", "-Ofragment", str(page)], check=True,
                          capture_output=True, text=True).stdout
    text = text[text.index('<div class="manual-text">') + 25:text.rindex("</div>")]
    text = re.sub(r"<pre>(.*?)</pre>", example, text, flags=re.S)
    text = re.sub(r'<p class="Pp">\s*<br/>\s*</p>|(?<=</pre>)\s*<br/>|</?section[^>]*>', "", text)

    def link(match):
        url = address(match[1], match[2], own)
        return f'<a href="{url}">{match[0]}</a>' if url else match[0]

    text = re.sub(r"<b>([\w.-]+)</b>\(([1-9])\)", link, text)
    parts = re.split(r'<h([12]) class="S[hs]".*?><a.*?>(.*?)</a></h[12]>', text, flags=re.S)
    parts[2::3] = [" ".join(html.unescape(re.sub(r"<[^>]*>", "", title)).split())
                   for title in parts[2::3]]
    return parts


def document(page, own):
    """The document of a page, and what its section NAME says it is about."""
    lines = [".. SPDX-License-Identifier: GPL-2.0", ""]
    about = ""

    def heading(title, mark):
        # What RST would take for markup.
        title = re.sub(r"([\\*`_|])", r"\\\1", title)
        lines.extend([title, mark * len(title), ""])

    def raw(text):
        if text.strip():
            lines.extend([".. raw:: html", "", '   <div class="man">'])
            lines.extend("   " + line for line in text.splitlines())
            lines.extend(["   </div>", ""])

    heading(f"{page.stem}({page.suffix[1:]})", "=")
    parts = body(page, own)
    raw(parts[0])
    for level, title, text in zip(parts[1::3], parts[2::3], parts[3::3]):
        # Pages of one function have few words in each.
        heading(title if level == "2" else title.capitalize(), "=-~"[int(level)])
        raw(text)
        if title == "NAME":
            about = " ".join(html.unescape(re.sub(r"<[^>]*>", "", text)).split())
    return "\n".join(lines), about.split(" - ", 1)[-1]


def main():
    pages, out = map(pathlib.Path, sys.argv[1:])
    own = names(pages)
    out.mkdir(parents=True, exist_ok=True)
    lines = [".. SPDX-License-Identifier: GPL-2.0", "", "Manual pages", "=" * 12, ""]
    listed = []
    for section, (title, first) in SECTIONS.items():
        lines += [title, "-" * len(title), "",
                  ".. list-table::", "   :widths: 35 65", "   :class: names", ""]
        found = [page for page in pages.glob(f"man{section}/*")
                 if own[page.stem, section] == page.name]
        found.sort(key=lambda page: (first.index(page.stem) if page.stem in first else len(first),
                                     page.stem.lower()))
        for page in found:
            text, about = document(page, own)
            (out / f"{page.name}.rst").write_text(text)
            lines += [f"   * - :doc:`{page.stem}({section}) <{page.name}>`",
                      "     - " + re.sub(r"([\\*`_|])", r"\\\1", about)]
            listed.append(page.name)
        lines.append("")
    assert set(listed) == set(own.values()), "a page is in no section"
    lines += [".. toctree::", "   :hidden:", ""] + [f"   {name}" for name in listed]
    (out / "index.rst").write_text("\n".join(lines) + "\n")
    (out / "names.csv").write_text("".join(f"{name},{section},{page}\n"
                                           for (name, section), page in sorted(own.items())))


if __name__ == "__main__":
    main()
