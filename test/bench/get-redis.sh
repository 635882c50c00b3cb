#!/bin/sh
# Finds or fetches a Redis server for the bench, without root and without changing the system.
# Prints the absolute path of redis-server on stdout, everything else on stderr.
#
# Exit codes: 0 found, 1 none to be had although there is a way to get one, 3 no way at all here.
# Environment: REDIS_SERVER  the program to take    TOOL_CACHE  folder where a fetched one is kept
set -eu
umask 022
say() { printf 'get-redis: %s\n' "$*" >&2; }
have() { command -v "$1" >/dev/null 2>&1; }
give_up() { say "$*"; say 'Install Redis, or set REDIS_SERVER to its program.'; exit 1; }
case $0 in */*) here=${0%/*} ;; *) here=. ;; esac
cache=${TOOL_CACHE:-$(CDPATH='' cd "$here/../.." && pwd)/.cache/tools}

deliver() {
  if "$1" --version >&2 </dev/null; then printf '%s\n' "$1"; exit 0; fi
}
for found in "${REDIS_SERVER:-}" "$(command -v redis-server || :)" "$cache/redis/redis-server"; do
  if [ -n "$found" ] && [ -x "$found" ]; then deliver "$found"; fi
done
have apt-get && have dpkg-deb || { say 'no Redis here, and no apt that could fetch one'; exit 3; }

mkdir -p "$cache" && work=$(mktemp -d "$cache/.fetch.XXXXXX") || give_up "cannot write to $cache"
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/state/lists/partial" "$work/cache/archives/partial" "$work/redis"
# An apt of our own: this machine's sources, keys and list of installed packages are read, and nothing of it is changed.
{
  echo "Dir::State \"$work/state\"; Dir::State::status \"/var/lib/dpkg/status\"; Dir::Cache \"$work/cache\";"
  echo 'Debug::NoLocking "1"; APT::Sandbox::User ""; Acquire::Languages "none"; Acquire::Retries "2";'
} >"$work/apt.conf"
own_apt() { APT_CONFIG=$work/apt.conf apt-get -q -y "$@" >"$work/log" 2>&1; }
say 'fetching Redis and the libraries that this machine lacks, once'
own_apt update || give_up "the lists of packages cannot be read: $(tail -n 1 "$work/log")"
own_apt install --no-install-recommends --download-only redis-server || give_up "redis-server: $(tail -n 1 "$work/log")"
for file in "$work"/cache/archives/*.deb; do dpkg-deb -x "$file" "$work/redis"; done
libraries=$(cd "$work/redis" && find usr/lib lib -name '*.so*' 2>/dev/null | sed 's#/[^/]*$##' | sort -u)
{
  echo '#!/bin/sh'
  echo 'here=${0%/*}'
  for library in $libraries; do echo "LD_LIBRARY_PATH=\$here/$library:\${LD_LIBRARY_PATH:-}"; done
  echo 'export LD_LIBRARY_PATH'
  echo 'exec "$here/usr/bin/redis-server" "$@"'
} >"$work/redis/redis-server"
chmod 755 "$work/redis/redis-server"
rm -rf "$cache/redis"
mv "$work/redis" "$cache/redis" || give_up "cannot write to $cache"
deliver "$cache/redis/redis-server"
give_up 'the server does not start here'
