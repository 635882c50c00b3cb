#!/bin/sh
# Runs the given test files on a nats-server that fits; JOBS says how many at a time; otherwise two, and more while cores idle.
set -eu
NATS_SERVER=$(sh nats/get-nats-server.sh)
export NATS_SERVER
exec node dist/test/run.js "$@"
