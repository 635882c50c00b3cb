#!/bin/sh
# Runs one bench, or all: WHAT=publish. QUICK=1 only proves that they run.
set -eu
NATS_SERVER=$(sh nats/get-nats-server.sh)
export NATS_SERVER
what=${WHAT:-publish submit latency parse egress autoscale}
for name in $what; do
  [ -f "dist/test/bench/$name.js" ] || { echo "no such bench: $name" >&2; exit 2; }
  node "dist/test/bench/$name.js" ${QUICK:+--quick}
done
