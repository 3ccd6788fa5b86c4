#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Prints the links between the HTML files below a directory that lead nowhere, and fails if there is
# one. Links to other sites are not followed.
#
#   links.py DIRECTORY
import html.parser
import pathlib
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.links = []
        self.anchors = set()
        self.feed(path.read_text())

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name == "id" or (tag == "a" and name == "name"):
                self.anchors.add(value)
            elif name in ("href", "src") and value:
                self.links.append(value)


def main():
    top = pathlib.Path(sys.argv[1]).resolve()
    pages = {path: Page(path) for path in sorted(top.rglob("*.html"))}
    bad = 0
    for path, page in pages.items():
        for link in page.links:
            url = urllib.parse.urlsplit(link)
            if url.scheme or url.netloc:
                continue
            target = path
            if url.path:
                target = (path.parent / urllib.parse.unquote(url.path)).resolve()
            anchor = urllib.parse.unquote(url.fragment)
            if not target.is_file():
                print(f"{path.relative_to(top)}: no {link}")
                bad += 1
            elif anchor and target in pages and anchor not in pages[target].anchors:
                print(f"{path.relative_to(top)}: no {link} there")
                bad += 1
    if not pages:
        print("there is no page")
        bad += 1
    sys.exit(bad > 0)


main()
