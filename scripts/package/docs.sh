#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Makes a site of HTML pages in build/docs/: the documents, with the comments of the sources that
# they refer to, and the manual pages. Warnings are errors, and each link within the site must lead
# somewhere.
#
#   scripts/package/docs.sh

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../lib.sh"
[ $# -eq 0 ] || die "usage: docs.sh"
cd "$top"
scripts/setup.sh docs
LINUX=$(qemu/kernel.sh -s)
export LINUX TOP=$top KDOC_WERROR=1
source=$build/docs-source
pages=$build/docs-pages
out=$build/docs
rm -rf "$source" "$pages" "$out"
cp -r Documentation "$source"
# What documents include of the sources.
ln -sfn "$top/selftests" "$build/selftests"

# On a site the documents link to pages, and index.rst says which there are.
# shellcheck disable=SC2016 # it is RST that has the backquotes
sed -i -E 's~<([a-z]+)\.rst>`__~<\1.html>`__~g; s~<man/([a-z_]+\.[1-9])>`_~<man/\1.html>`_~g
	s~<(ABI/testing/[a-z-]+)>`__~<\1.txt>`__~g; s~<ABI/testing>`_~<man/index.html>`_~g' \
	"$source"/*.rst
{
	printf '\n.. toctree::\n   :hidden:\n\n'
	find Documentation -maxdepth 1 -name '*.rst' ! -name index.rst -printf '   %f\n' |
		LC_ALL=C sort
} >> "$source/index.rst"
logged docs sphinx-build -q -W --keep-going -b html "$source" "$out"

# Of a link only that it is one.
scripts/package/man.sh "$pages" "$LINUX"
mkdir -p "$out/man" "$out/ABI/testing"
find "$pages" -type f -name '*.[1-9]' | LC_ALL=C sort | while read -r page; do
	! grep -q '^\.so ' "$page" || continue
	name=${page##*/}
	# In <pre> a <br/> before each indented line would be an empty one.
	mandoc -Thtml -Ostyle=../_static/style.css "$page" |
		sed '/<pre.*<\/pre>/! { /<pre/,/<\/pre>/ { /^ *<br\/>$/d } }
			s/<head>/<head><meta name="viewport" content="width=device-width">/
			s/<body>/<body class="man">/' > "$out/man/$name.html"
	echo "$name"
done > "$pages/list"
awk '
	/<pre/ { pre = 1 }
	pre && /<br/ { print FILENAME ": <br> in <pre>"; bad = 1 }
	/<\/pre>/ { pre = 0 }
	END { exit bad }' "$out"/man/*.html
for file in Documentation/ABI/testing/*; do
	cp "$file" "$out/ABI/testing/${file##*/}.txt"
done
{
	echo '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
	echo '<title>callout: manual pages</title>'
	echo '<meta name="viewport" content="width=device-width">'
	echo '<link rel="stylesheet" href="../_static/style.css"></head><body class="man">'
	echo '<h1>Manual pages</h1><p><a href="../index.html">The documents</a></p><ul>'
	sed 's~.*~<li><a href="&.html">&</a></li>~' "$pages/list"
	echo '</ul><h2>Interfaces</h2><ul>'
	for file in "$out"/ABI/testing/*; do
		name=${file##*/}
		echo "<li><a href=\"../ABI/testing/$name\">$name</a></li>"
	done
	echo '</ul></body></html>'
} > "$out/man/index.html"
python3 scripts/check/links.py "$out"
echo "$out/index.html"
