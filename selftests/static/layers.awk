# SPDX-License-Identifier: GPL-2.0-only
# Reads nm -A of kernel/*.o and names each use of a symbol in a higher row of
# the table (layers.txt).

BEGIN {
	while ((getline line < table) > 0) {
		n = split(line, word, " ")
		for (i = 2; i <= n && line !~ /^#/; i++)
			row[word[i]] = word[1]
	}
}

{
	obj = $0
	sub(/:.*/, "", obj)
	sub(/.*\//, "", obj)
	sub(/\.o$/, "", obj)
	if ($(NF - 1) == "U")
		needs[obj " " $NF] = 1
	else
		has[$NF] = obj
}

END {
	for (k in needs) {
		split(k, word, " ")
		if (!(word[2] in has) || row[has[word[2]]] <= row[word[1]])
			continue
		printf "%s (row %d) uses %s of %s (row %d)\n", word[1],
		       row[word[1]], word[2], has[word[2]], row[has[word[2]]]
		bad = 1
	}
	if (!NR)
		print "no objects"
	exit bad || !NR
}
