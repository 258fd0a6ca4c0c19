# SPDX-License-Identifier: GPL-2.0-only
# Reads one test's KTAP output; -v status= is its exit status, -v overrun=1 says
# that it was killed for taking too long. Prints a line for each result:
#	pass NAME | fail NAME | skip NAME # SKIP REASON
# A test that says less than it planned, or exits with a status that its results
# don't explain, has failed.

function name(line) {
	sub(/^(not )?ok +[0-9]* *-? */, "", line)
	return line
}

!planned && /^1\.\.[0-9]+/ {
	planned = 1
	plan = substr($1, 4) + 0
	whole_skip = ($0 ~ /# *SKIP/) ? substr($0, index($0, "#")) : ""
	next
}
/^not ok/ {
	seen++
	fails++
	print "fail " name($0)
	next
}
/^ok/ && /# *SKIP/ {
	seen++
	skips++
	print "skip " name($0)
	next
}
/^ok/ {
	seen++
	print "pass " name($0)
	next
}
/^Bail out!/ {
	bailed = $0
}
/# *SKIP/ && !whole_skip {
	whole_skip = substr($0, index($0, "#"))
}

END {
	if (overrun) {
		print "fail took longer than its budget"
	} else if (bailed) {
		print "fail " bailed
	} else if (seen == 0 && (status == 4 || (planned && plan == 0)) && whole_skip) {
		print "skip " whole_skip
	} else if (!planned || plan == 0) {
		print "fail no plan"
	} else if (seen != plan) {
		print "fail " seen " results instead of " plan
	} else if (status == 4 && skips != seen) {
		print "fail exit status 4, but not all was skipped"
	} else if (status != 0 && status != 4 && !fails) {
		print "fail exit status " status ", but no result says why"
	} else if (status == 0 && fails) {
		print "fail exit status 0, but results failed"
	}
}
