# SPDX-License-Identifier: GPL-2.0
# Counts wordings that a reader stumbles over, in comments and documents, by folder: pronouns where
# a noun belongs, comments that begin with a relative clause, phrases that a standard term replaces.
#
#   awk [-v all=1] -f words.awk LIMITS FILE...
#
# LIMITS has the folders and the count of each. Prints a line for a folder with another count, and
# fails. With all set, prints each match and the count of each folder, and does not fail. The
# comments of a language with # are whole lines; strings are not looked at.

# The patterns are for lower case, with a blank on both sides of each word.
BEGIN {
	anywhere = " (one|ones|those) that | (that|those) of | meanwhile | of (its|their) own " \
		"| (go|goes|going|went) on | on (its|their) way | at work | in vain | for good " \
		"| (see|sees) to (it|that) | through with | told | (is|are) to be "
	first = "^ (what|the same|the reverse|as above) "
	sentence = "[.:] (else|or) |^ (else|or) "
}

# Counts the matches in a comment or a paragraph.
function find(text, re) {
	while (match(text, re)) {
		count[folder]++
		if (all)
			print place ": " substr(text, RSTART, RLENGTH + 30)
		if (re == first)
			return
		# The blank that ends a match may begin the next one.
		text = substr(text, RSTART + RLENGTH - 1)
	}
}

# Ends a comment or a paragraph, the text said.
function flush(    text) {
	text = tolower(said)
	said = ""
	gsub(/[^a-z0-9_.:]+/, " ", text)
	text = " " text " "
	gsub(/ +/, " ", text)
	if (kind != "text")
		find(text, first)
	find(text, sentence)
	gsub(/[.:]/, " ", text)
	gsub(/ +/, " ", text)
	find(text, anywhere)
}

# Adds to said what a line of C has in comments; inside is set in one of several lines.
function read_c(line,    end) {
	while (line != "") {
		if (inside) {
			end = index(line, "*/")
			sub(/^[ \t]*\*+ /, "", line)
			if (!end) {
				said = said " " line
				return
			}
			end = index(line, "*/")
			said = said " " substr(line, 1, end - 1)
			line = substr(line, end + 2)
			inside = 0
			flush()
		} else if (index(line, "/*")) {
			flush()
			inside = 1
			line = substr(line, index(line, "/*") + 2)
		} else if (match(line, /\/\/[\/!]? /)) {
			said = said " " substr(line, RSTART + RLENGTH)
			return
		} else {
			flush()
			return
		}
	}
}

FNR == NR {
	if (!/^#/ && NF)
		limit[$1] = $2
	next
}

FNR == 1 {
	flush()
	inside = 0
	place = FILENAME
	folder = FILENAME
	sub(/\/.*/, "", folder)
	kind = "#"
	if (FILENAME ~ /\.(c|h|cc|rs|js)$/)
		kind = "c"
	else if (FILENAME ~ /\.(md|rst|[0-9])$/)
		kind = "text"
	if (FILENAME ~ /^Documentation\/man\//)
		folder = "man"
	else if (kind == "text")
		folder = "documents"
}

/SPDX-License-Identifier/ { next }

kind == "c" {
	read_c($0)
	next
}

kind == "text" && NF || kind == "#" && sub(/^[ \t]*# /, "") {
	said = said " " $0
	next
}

{ flush() }

END {
	flush()
	for (folder in limit) {
		if (all)
			print folder, count[folder] + 0
		else if (count[folder] > limit[folder]) {
			print folder " has " count[folder] " wordings of words.awk, " \
				limit[folder] " are allowed: scripts/check/words.sh all"
			bad = 1
		} else if (count[folder] < limit[folder]) {
			print folder " has " count[folder] + 0 " wordings of words.awk, " \
				"and words.list allows " limit[folder] ": lower it"
			bad = 1
		}
	}
	exit bad
}
