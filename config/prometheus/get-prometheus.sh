#!/bin/sh
# Finds or fetches Prometheus, or its promtool, without root and without changing the system.
# Prints its absolute path on stdout, everything else on stderr.
#
#   get-prometheus.sh [prometheus|promtool]
#
# Exit codes: 0 found, 1 none to be had (the routes tried and the remedy are printed), 2 a setting is wrong.
# Environment:
#   PROMETHEUS   path of the prometheus to take (PROMTOOL: of the promtool); it is checked, and nothing else is tried
#   TOOL_CACHE   folder where a fetched one is kept      (default: .cache/tools in the project)
#   MIN_VERSION  lowest version accepted                 (default: 2.42.0)
#   ROUTES       routes to try, in order                 (default: path cache debian brew)
#   SUITES       Debian suites to look in, in order      (default: forky testing sid)
set -eu
case $0 in */*) here=${0%/*} ;; *) here=. ;; esac
root=$(CDPATH='' cd "$here/../.." && pwd)
self=get-prometheus
tool=${1:-prometheus}
programs='prometheus promtool'
words="$tool, version "
min=${MIN_VERSION:-2.42.0} # the first that reads all of our rules
known='path cache debian brew'
packages='prometheus promtool'
inside=usr/bin
formula=prometheus
case $tool in
  prometheus) setting=PROMETHEUS given=${PROMETHEUS:-} ;;
  *) setting=PROMTOOL given=${PROMTOOL:-} ;;
esac
upstream=https://prometheus.io/download
# shellcheck source=nats/find-tool.sh
. "$root/nats/find-tool.sh"
cache=$(absolute "${TOOL_CACHE:-$root/.cache/tools}")

case "$# $tool" in
  '0 prometheus' | '1 prometheus' | '1 promtool') ;;
  *) misuse "takes one argument, prometheus or promtool; the settings are environment variables" ;;
esac
find_tool
