#!/bin/sh
# Runs the given test files on a nats-server that fits, and ends with one line: N passed, N failed.
# On a terminal tap draws its own report; in a pipe there is a line per file, and all about what failed.
set -eu
NATS_SERVER=$(sh nats/get-nats-server.sh)
export NATS_SERVER
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
run() {
  npx --no-install tap run --disable-coverage --allow-empty-coverage --timeout=180 --jobs="${JOBS:-2}" \
    "$@" || echo "$?" > "$work/status"
}
if [ -t 1 ]; then
  run --reporter=base --output-file="$work/report" "$@"
else
  run --reporter=tap "$@" | tee "$work/report" | awk '
    /^(not )?ok / { print; fflush(); next }
    /^ *not ok / { failing = 1 }
    failing { print; fflush() }
    /^ *\.\.\.$/ { failing = 0 }'
fi
awk '
  function count(word) { return match($0, word ": [0-9]+") ? substr($0, RSTART + length(word) + 2, RLENGTH - length(word) - 2) : 0 }
  /^# \{ total: / { pass = count("pass"); fail = count("fail"); skip = count("skip") }
  END { printf "%d passed, %d failed%s\n", pass, fail, skip ? ", " skip " skipped" : "" }' "$work/report"
exit "$(cat "$work/status" 2>/dev/null || echo 0)"
