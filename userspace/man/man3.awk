# SPDX-License-Identifier: LGPL-2.1-or-later
# Writes one man3 page for each documented function of libpdio.h into the folder
# OUT, and the list of functions, as roff, to standard output.
#
#   awk -v OUT=FOLDER -v VERSION=0.1.0 -f man3.awk libpdio.h

function roff(text) {
	gsub(/\\/, "\\e", text)
	gsub(/-/, "\\-", text)
	gsub(/@[a-z_]+(->[a-z_]+)?/, "\\fI&\\fR", text)
	gsub(/\\fI@/, "\\fI", text)
	if (text ~ /^[.']/)
		text = "\\&" text
	return text
}

function add(line) { body = body line "\n" }

function page(    file, i) {
	file = OUT "/" name ".3"
	printf ".\\\" SPDX-License-Identifier: LGPL-2.1-or-later\n" >file
	printf ".TH %s 3 \"\" \"libpdio %s\" \"Library Functions\"\n", toupper(name), VERSION >file
	printf ".SH NAME\n%s \\- %s\n", name, roff(summary) >file
	printf ".SH SYNOPSIS\n.nf\n.B #include <libpdio.h>\n.PP\n" >file
	for (i = 1; i <= protos; i++)
		printf "%s\n", roff(proto[i]) >file
	printf ".fi\n%s", body >file
	if (result != "")
		printf ".SH RETURN VALUE\n%s", result >file
	printf ".SH SEE ALSO\n.BR libpdio (3)\n" >file
	close(file)
	printf ".TP\n.BR %s (3)\n%s\n", name, roff(summary)
}

/^\/\*\*$/ { in_doc = 1; name = ""; body = ""; result = ""; where = ""; next }

in_doc && /^ \*\/$/ {
	in_doc = 0
	in_proto = is_function
	protos = 0
	next
}

in_doc && name == "" {
	line = substr($0, 4)
	is_function = line ~ /^libpdio_[a-z_0-9]+\(\) - /
	name = line
	sub(/(\(\))? - .*/, "", name)
	summary = line
	sub(/^[^-]* - /, "", summary)
	next
}

in_doc && is_function {
	line = substr($0, 4)
	sub(/^\t/, "", line)
	if (line ~ /^@[a-z_]+:/ && where != "text") {
		if (where != "arguments")
			add(".SH ARGUMENTS")
		where = "arguments"
		match(line, /^@[a-z_]+:/)
		add(".TP\n.I " substr(line, 2, RLENGTH - 2))
		line = substr(line, RLENGTH + 2)
	} else if (line ~ /^Return: /) {
		where = "return"
		line = substr(line, 9)
		line = toupper(substr(line, 1, 1)) substr(line, 2)
	} else if (line == "" && where != "return") {
		if (where != "text")
			pending = ".SH DESCRIPTION"
		else
			pending = ".PP"
		where = "text"
		next
	}
	if (pending != "" && where == "text")
		add(pending)
	pending = ""
	if (where == "return")
		result = result roff(line) "\n"
	else
		add(roff(line))
	next
}

in_proto {
	proto[++protos] = $0
	if (/;$/) {
		in_proto = 0
		page()
	}
}
