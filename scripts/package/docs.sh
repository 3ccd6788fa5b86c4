#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Makes a site of HTML pages in build/docs/: the documents, with the comments of the sources that
# they refer to, the manual pages, and a page that runs the schemes. Warnings are errors, and each
# link within the site must lead somewhere.
#
#   scripts/package/docs.sh
#
# The sources of dist.sh have what a kernel's kernel-doc makes, and the page. With them nothing is
# installed.

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../lib.sh"
[ $# -eq 0 ] || die "usage: docs.sh"
cd "$top"
export TOP=$top
source=$build/docs-source
pages=$build/docs-pages
out=$build/docs
rm -rf "$source" "$pages" "$out"
mkdir -p "$pages"
cp -r Documentation "$source"
rm -r "$source/man"
# A cell of a table that is "-" would be an item of a list.
sed -i -E ':again; s/(^|,)-(,|$)/\1\\-\2/; t again' "$source"/lab/*.csv

if [ -d Documentation/man/man9 ]; then
	scripts/package/man.sh "$pages"
	cat Documentation/reference.inc
	wheel=Documentation/wheel.html
else
	scripts/setup.sh docs
	places=$(qemu/kernel.sh -b debian-6.1)
	eval "$places"
	scripts/package/man.sh "$pages" "$KERNEL_BUILD"
	scripts/package/reference.sh "$KERNEL_BUILD/scripts/kernel-doc"
	wheel=$build/wheel-page/wheel.html
	logged wheel-page make -C tools/wheel-page O="$build/wheel-page"
fi > "$pages/reference.inc"
# Its directives are its end.
sed '/^\.\. kernel-doc::/,$d' Documentation/api.rst |
	cat - "$pages/reference.inc" > "$source/api.rst"
/usr/bin/python3 scripts/package/pages.py "$pages" "$source/man"

{
	printf '.. SPDX-License-Identifier: GPL-2.0\n\n==========\nInterfaces\n==========\n\n'
	echo "The user interfaces, in the form of the kernel's \`\`Documentation/ABI\`\`."
	for file in Documentation/ABI/testing/*; do
		name=${file##*/}
		printf '\n%s\n%s\n\n' "$name" "${name//?/=}"
		printf '.. literalinclude:: ABI/testing/%s\n   :language: text\n' "$name"
	done
} > "$source/abi.rst"
{
	printf '# What is new\n\n'
	sed 's/^callout /## callout /; s/^  //' NEWS
} > "$source/NEWS.md"
# Of the top's files, these are pages.
# shellcheck disable=SC2016 # it is Markdown that has the backquotes
for file in README CONTRIBUTING HACKING; do
	sed -E '1s/^# callout$/# Overview/; s~\]\(Documentation/~](~g; s~\]\(NEWS\)~](NEWS.md)~
		s~\[([A-Z]+)\]\(\1\)~`\1`~g
		s~\[[A-Za-z-]+\.(rst|md)\]\(~[](~g' "$file.md" > "$source/$file.md"
done

# On a site the documents link to pages. A link whose text is the file's name has the page's title.
# shellcheck disable=SC2016 # it is RST that has the backquotes
sed -i -E -z 's~`[A-Za-z-]+\.(rst|md)[ \n]<(\.\./)?([A-Za-z-]+)\.(rst|md)>`__?~:doc:`\3`~g
	s~<(\.\./)?([A-Za-z-]+)\.(rst|md)>`_~<\2.html>`_~g; s~<(man/[a-z_]+\.[1-9])>`_~<\1.html>`_~g
	s~<ABI/testing/([a-z-]+)>`_~<abi.html#\1>`_~g; s~<ABI/testing>`_~<abi.html>`_~g
	s~<man>`_~<man/index.html>`_~g; s~<\.\./NEWS>`_~<NEWS.html>`_~g' "$source"/*.rst
# The theme has a table of contents beside each page.
sed -i '/^\.\. contents::/,/^$/d' "$source"/*.rst
# The navigation is index.rst's: a caption for each of its headings, and the documents that are
# linked to there for the first time.
(cd "$source" && find . -name '*.rst' -printf '%P\n' -o -name '*.md' -printf '%P\n') |
awk '
	NR == FNR { sub(/\.[a-z]+$/, ""); document[$0]; next }
	/^-+$/ && length($0) == length(last) { caption = last }
	{ last = $0 }
	caption {
		while (match($0, /:doc:`[A-Za-z-]+`|<(man\/index|[A-Za-z-]+)\.html>/)) {
			name = substr($0, RSTART, RLENGTH)
			$0 = substr($0, RSTART + RLENGTH)
			gsub(/^:doc:`|`$|^<|\.html>$/, "", name)
			if (!(name in document) || seen[name]++)
				continue
			if (caption != shown)
				printf "\n.. toctree::\n   :hidden:\n   :caption: %s\n\n", caption
			shown = caption
			print "   " name
		}
	}' - "$source/index.rst" > "$pages/toctree"
cat "$pages/toctree" >> "$source/index.rst"
logged docs sphinx-build -q -W --keep-going -b html "$source" "$out"
# The furo of Debian 12 imports a style by the address that Debian's web servers have for it, and a
# script by a statement that only modules may have.
sed -i '/^@import url(\/javascript/d' "$out/_static/styles/furo.css"
scripts=$out/_static/scripts
if grep -q '^import Gumshoe' "$scripts/furo.js"; then
	sed '/^import Gumshoe/d' "$scripts/furo.js" >> "$scripts/gumshoe-patched.js"
	mv "$scripts/gumshoe-patched.js" "$scripts/furo.js"
fi
cp "$wheel" "$out/"
if grep -rlE '<pre[^>]*>([^<]|<[^/b])*<br' "$out"; then
	die "these pages have <br> in <pre>"
fi
if grep -rlE '<a [^>]*>[^<]*\.(rst|md)</a>' "$out"; then
	die "these pages have links whose text is a file's name"
fi
python3 scripts/check/links.py "$out"
echo "$out/index.html"
