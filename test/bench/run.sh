#!/bin/sh
# Runs one bench, or all of them: WHAT=queue. QUICK=1 only proves that they run. RECORD=1 puts the results into
# test/bench/RESULTS.md. PEERS=no leaves out what others have made. ROUNDS=n changes the number of rounds.
set -eu
NATS_SERVER=$(sh nats/get-nats-server.sh)
export NATS_SERVER PEERS="${PEERS:-yes}"
what=${WHAT:-queue fetch submit egress priority scale recovery start publish parse}
for name in $what; do
  [ -f "dist/test/bench/$name.js" ] || { echo "no such bench: $name" >&2; exit 2; }
done
installed=test/bench/node_modules/.package-lock.json
# Not every shell takes a file that is not there for an older one.
if [ "$PEERS" != no ] && { [ ! -f "$installed" ] || [ test/bench/package-lock.json -nt "$installed" ]; }; then
  npm ci --prefix test/bench --no-audit --no-fund >&2 || echo 'the packages of others cannot be had' >&2
  touch "$installed" 2>/dev/null || :
fi
for name in $what; do
  node "dist/test/bench/$name.js" ${QUICK:+--quick} ${RECORD:+--record} ${ROUNDS:+--rounds "$ROUNDS"}
done
