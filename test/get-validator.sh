#!/bin/sh
# Finds or fetches a program that can judge files of config/ without the service they are for, without root and without
# changing the system. Prints its absolute path on stdout, everything else on stderr.
#
#   get-validator.sh docker-compose|nginx
#
# Exit codes: 0 found, 1 none to be had, 2 a setting is wrong.
# Environment: TOOL_CACHE, MIN_VERSION, ROUTES and SUITES as in nats/get-nats-server.sh; VALIDATOR is a program to take.
set -eu
case $0 in */*) here=${0%/*} ;; *) here=. ;; esac
root=$(CDPATH='' cd "$here/.." && pwd)
self=get-validator
tool=${1:-}
programs=$tool
known='path cache debian'
formula=''
setting=VALIDATOR
given=${VALIDATOR:-}
# shellcheck source=nats/find-tool.sh
. "$root/nats/find-tool.sh"
cache=$(absolute "${TOOL_CACHE:-$root/.cache/tools}")
case $tool in
  docker-compose)
    min=2.20.0 words='Docker Compose version ' packages=docker-compose inside=usr/libexec/docker/cli-plugins
    upstream=https://github.com/docker/compose/releases
    ;;
  nginx)
    min=1.18.0 words='nginx version: nginx/' packages=nginx inside=usr/sbin upstream=https://nginx.org/en/download.html
    ask_version() { "$1" -v 2>&1; }
    # Built against libraries: the one of this machine's own release fits those that are here.
    # shellcheck disable=SC1091
    SUITES=${SUITES:-$(. /etc/os-release 2>/dev/null && echo "${VERSION_CODENAME:-stable}" || echo stable)}
    ;;
  *) misuse 'takes one argument: docker-compose or nginx' ;;
esac
min=${MIN_VERSION:-$min}
find_tool
