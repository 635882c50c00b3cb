#!/bin/sh
# Finds or fetches a PostgreSQL server for the tests of the sinks, without root and without changing the system.
# Prints the absolute path of the folder of its programs on stdout, everything else on stderr.
#
# Exit codes: 0 found, 1 none to be had although there is a way to get one, 2 a setting is wrong,
#             3 no way at all here: no server, and no apt that could fetch one.
# Environment:
#   POSTGRES_BIN  folder with initdb and postgres to take; it is checked, and nothing else is tried
#   TOOL_CACHE    folder where a fetched server is kept        (default: .cache/tools in the project)
#   ROUTES        ways to try, in order                        (default: system cache apt)
#   DPKG_STATUS   the list of installed packages that apt reads (default: the system's)
set -eu
umask 022
LC_ALL=C # apt's messages are read below, and apt translates them
export LC_ALL

say() { printf 'get-postgres: %s\n' "$*" >&2; }
have() { command -v "$1" >/dev/null 2>&1; }
absolute() { case $1 in /*) printf '%s\n' "$1" ;; *) printf '%s\n' "$PWD/$1" ;; esac; }

case $0 in */*) here=${0%/*} ;; *) here=. ;; esac
cache=$(absolute "${TOOL_CACHE:-$(CDPATH='' cd "$here/.." && pwd)/.cache/tools}")

# usable FOLDER: the programs of a server that start here? Sets `version`.
usable() {
  [ -x "$1/initdb" ] && [ -x "$1/postgres" ] || return 1
  version=$("$1/postgres" --version 2>/dev/null </dev/null) || return 1
  "$1/initdb" --version >/dev/null 2>&1 </dev/null
}
deliver() { say "$version ($1)"; printf '%s\n' "$2"; exit 0; }

work=''
trap '[ -z "$work" ] || rm -rf "$work"' EXIT
trap 'exit 130' HUP INT
trap 'exit 143' TERM

# An apt of our own: this machine's sources, keys and list of installed packages are read, and nothing of it is changed.
settings() {
  echo "Dir::State \"$work/state\"; Dir::State::status \"${DPKG_STATUS:-/var/lib/dpkg/status}\"; Dir::Cache \"$work/cache\";"
  echo 'Debug::NoLocking "1"; APT::Sandbox::User ""; Acquire::Languages "none"; Acquire::Retries "2";'
  echo 'Acquire::http::Timeout "30"; Acquire::https::Timeout "30"; APT::Update::Error-Mode "any";'
}
own_apt() { APT_CONFIG=$work/apt.conf apt-get -q -y "$@" >"$work/log" 2>&1; }
# The first error in the log of the command that failed, or else its last line.
cause() { sed -n -e '/^E: /{p;q;}' -e '/./h' -e '${g;p;}' "$work/log"; }
give_up() { say "$*"; say "Install PostgreSQL, or set POSTGRES_BIN to the folder of its programs."; exit 1; }

route_system() {
  for folder in "$(pg_config --bindir 2>/dev/null || :)" /usr/lib/postgresql/*/bin /usr/local/bin /opt/homebrew/bin; do
    if usable "$folder"; then deliver system "$folder"; fi
  done
}
route_cache() {
  if usable "$cache/postgres/bin"; then deliver cache "$cache/postgres/bin"; fi
}
route_apt() {
  have apt-get && have dpkg-deb || return 0
  mkdir -p "$cache" && work=$(mktemp -d "$cache/.fetch.XXXXXX") || give_up "cannot write to $cache"
  find "$cache" -maxdepth 1 -name '.fetch.*' -mtime +0 -exec rm -rf {} + || :
  mkdir -p "$work/state/lists/partial" "$work/cache/archives/partial" "$work/postgres/bin"
  settings >"$work/apt.conf"
  say 'fetching PostgreSQL and the libraries that this machine lacks: about 50 MB, once'
  own_apt update || give_up "the lists of packages cannot be read: $(cause)"
  own_apt install --no-install-recommends --download-only postgresql || give_up "postgresql: $(cause)"
  for file in "$work"/cache/archives/*.deb; do
    dpkg-deb -x "$file" "$work/postgres" 2>"$work/log" || give_up "$file: $(cause)"
  done
  folder=$(cd "$work/postgres" && find usr/lib/postgresql -type d -name bin | sort | tail -n 1)
  [ -n "$folder" ] || give_up 'the package postgresql holds no server'
  # Where it finds the libraries that are not the system's. Its own data it finds by the place of its programs.
  libraries=$(cd "$work/postgres" && find usr/lib lib -name '*.so*' 2>/dev/null | sed 's#/[^/]*$##' | sort -u)
  for program in initdb postgres; do
    {
      echo '#!/bin/sh'
      echo 'here=${0%/*}/..'
      for library in $libraries; do echo "LD_LIBRARY_PATH=\$here/$library:\${LD_LIBRARY_PATH:-}"; done
      echo 'export LD_LIBRARY_PATH'
      echo "exec \"\$here/$folder/$program\" \"\$@\""
    } >"$work/postgres/bin/$program"
    chmod 755 "$work/postgres/bin/$program"
  done
  usable "$work/postgres/bin" ||
    give_up "the server does not start: $("$work/postgres/bin/postgres" --version 2>&1 </dev/null | head -n 1)"
  chmod 755 "$work/postgres"
  rm -rf "$cache/postgres"
  # Somebody else who fetched at the same time has put the same there.
  mv "$work/postgres" "$cache/postgres" 2>/dev/null || usable "$cache/postgres/bin" || give_up "cannot write to $cache"
  deliver apt "$cache/postgres/bin"
}

[ $# -eq 0 ] || { say 'takes no arguments; the settings are environment variables'; exit 2; }
if [ -n "${POSTGRES_BIN:-}" ]; then
  if usable "$(absolute "$POSTGRES_BIN")"; then deliver POSTGRES_BIN "$(absolute "$POSTGRES_BIN")"; fi
  say "POSTGRES_BIN=$POSTGRES_BIN has no server that starts here"
  exit 2
fi
for route in ${ROUTES:-system cache apt}; do
  case $route in
    system | cache | apt) "route_$route" ;;
    *) say "ROUTES names an unknown way: $route"; exit 2 ;;
  esac
done
say 'no PostgreSQL here, and no apt that could fetch one'
exit 3
