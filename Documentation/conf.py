# SPDX-License-Identifier: GPL-2.0
# Sphinx's configuration, for scripts/package/docs.sh, which sets TOP: the top of this tree.
import csv
import os
import pathlib
import sys

from docutils import nodes

top = pathlib.Path(os.environ["TOP"])
sys.path.insert(0, str(top / "scripts/package"))
import pages  # noqa: E402

project = "callout"
author = copyright = "The callout developers"
version = release = (top / "VERSION").read_text().strip()
root_doc = "index"
exclude_patterns = ["ABI", "lab"]
extensions = ["myst_parser"]
myst_heading_anchors = 2
# What a kernel's types and attributes are is not in these documents.
nitpicky = False
c_id_attributes = ["__must_check", "__printf"]
highlight_language = "none"

html_theme = "furo"
html_title = f"callout {version}"
# The dark style that is the default underlines names, as links are, and has a dark red.
pygments_dark_style = "github-dark"
# The furo of Debian 12 is dark by its button only. Variables count for readers who prefer it, too.
dark = {
    "foreground-primary": "#dfe5eb", "foreground-secondary": "#a3acb6",
    "foreground-muted": "#8a949e", "foreground-border": "#5c6670",
    "background-primary": "#14181d", "background-secondary": "#1b2128",
    "background-hover": "#252d37", "background-hover--transparent": "#252d3700",
    "background-border": "#333c46", "background-item": "#444c56",
    "brand-primary": "#ffa657", "brand-content": "#ffa657", "problematic": "#ff938a",
    "highlighted-background": "#5c4400", "highlight-on-target": "#333300",
    "api-keyword": "#a3acb6", "admonition-background": "#1b2128",
}
html_theme_options = {
    "navigation_with_keys": True,
    "light_css_variables": {"color-brand-primary": "#8a3800", "color-brand-content": "#8a3800"},
    "dark_css_variables": {"color-" + name: value for name, value in dark.items()},
}
html_static_path = ["style.css"]
html_css_files = ["style.css"]
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False


def guess_languages(app, tree):
    """Examples have the language that they look like."""
    for node in tree.findall(nodes.literal_block):
        if node.get("language", "none") == "none":
            node["language"] = pages.language(node.astext())


def link_pages(app, tree, name):
    """callout(4) in a document is a link to that page."""
    with open(pathlib.Path(app.srcdir, "man/names.csv")) as file:
        own = {(row[0], row[1]): row[2] for row in csv.reader(file)}
    base = app.builder.get_relative_uri(name, "man/index").removesuffix("index.html")
    for text in list(tree.findall(nodes.Text)):
        if isinstance(text.parent, (nodes.reference, nodes.literal_block, nodes.title,
                                    nodes.literal, nodes.raw)):
            continue
        new, end = [], 0
        for match in pages.REFERENCE.finditer(text):
            url = pages.address(match[1], match[2], own)
            if url:
                new += [nodes.Text(text[end:match.start()]),
                        nodes.reference("", match[0], refuri=url if ":" in url else base + url)]
                end = match.end()
        if new:
            text.parent.replace(text, [*new, nodes.Text(text[end:])])


def setup(app):
    app.connect("doctree-read", guess_languages)
    app.connect("doctree-resolved", link_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
