#!/bin/sh
# Finds or fetches a Chromium for the tests of the browser engine, without root and without changing the system.
# Prints its absolute path on stdout, everything else on stderr.
#
# Exit codes: 0 found, 1 none to be had although there is a way to get one, 2 a setting is wrong,
#             3 no way at all here: no browser on PATH, and no apt, or one that reaches no mirror.
# Environment:
#   CHROMIUM    path of the browser to take; it is checked, and nothing else is tried
#   TOOL_CACHE  folder where a fetched browser is kept   (default: .cache/tools in the project)
set -eu
umask 022
LC_ALL=C # apt's messages are read below, and apt translates them
export LC_ALL

say() { printf 'get-chromium: %s\n' "$*" >&2; }
have() { command -v "$1" >/dev/null 2>&1; }
absolute() { case $1 in /*) printf '%s\n' "$1" ;; *) printf '%s\n' "$PWD/$1" ;; esac; }

case $0 in */*) here=${0%/*} ;; *) here=. ;; esac
cache=$(absolute "${TOOL_CACHE:-$(CDPATH='' cd "$here/.." && pwd)/.cache/tools}")
package=chromium-headless-shell # the half of Chromium that needs no screen, and no libraries for one

# usable FILE: a browser that starts here? Sets `version`.
usable() {
  [ -f "$1" ] && [ -x "$1" ] || return 1
  version=$("$1" --version 2>/dev/null </dev/null) || return 1
  case $version in *Chrom*[0-9]*) ;; *) return 1 ;; esac
}
deliver() { say "$version ($1)"; printf '%s\n' "$2"; exit 0; }

work=''
trap '[ -z "$work" ] || rm -rf "$work"' EXIT
trap 'exit 130' HUP INT
trap 'exit 143' TERM

# An apt of our own: this machine's sources, keys and list of installed packages are read, and nothing of it is changed.
settings() {
  echo "Dir::State \"$work/state\"; Dir::State::status \"/var/lib/dpkg/status\"; Dir::Cache \"$work/cache\";"
  echo 'Debug::NoLocking "1"; APT::Sandbox::User ""; Acquire::Languages "none"; Acquire::Retries "2";'
  echo 'Acquire::http::Timeout "30"; Acquire::https::Timeout "30"; APT::Update::Error-Mode "any";'
}
own_apt() { APT_CONFIG=$work/apt.conf apt-get -q -y "$@" >"$work/log" 2>&1; }
# The first error in the log of the command that failed, or else its last line.
cause() { sed -n -e '/^E: /{p;q;}' -e '/./h' -e '${g;p;}' "$work/log"; }
give_up() { say "$*"; say "Install Chromium and put it on PATH, or set CHROMIUM=/path/to/chromium."; exit 1; }

[ $# -eq 0 ] || { say 'takes no arguments; the settings are environment variables'; exit 2; }
if [ -n "${CHROMIUM:-}" ]; then
  if usable "$(absolute "$CHROMIUM")"; then deliver CHROMIUM "$(absolute "$CHROMIUM")"; fi
  say "CHROMIUM=$CHROMIUM is not a browser that starts here"
  exit 2
fi
for name in chromium chromium-browser google-chrome google-chrome-stable chromium-headless-shell; do
  found=$(command -v "$name") || continue
  if usable "$found"; then deliver path "$(absolute "$found")"; fi
done
if usable "$cache/chromium/start"; then deliver cache "$cache/chromium/start"; fi
have apt-get && have dpkg-deb || { say 'no Chromium on PATH, and no apt here that could fetch one'; exit 3; }

mkdir -p "$cache" && work=$(mktemp -d "$cache/.fetch.XXXXXX") || give_up "cannot write to $cache"
find "$cache" -maxdepth 1 -name '.fetch.*' -mtime +0 -exec rm -rf {} + || :
mkdir -p "$work/state/lists/partial" "$work/cache/archives/partial" "$work/chromium"
settings >"$work/apt.conf"
say 'fetching Chromium and the libraries that this machine lacks: 100 to 150 MB, once'
own_apt update || { say "no Chromium on PATH, and apt reaches no mirror: $(cause)"; exit 3; }
own_apt install --no-install-recommends --download-only "$package" || give_up "$package: $(cause)"
for file in "$work"/cache/archives/*.deb; do
  dpkg-deb -x "$file" "$work/chromium" 2>"$work/log" || give_up "$file: $(cause)"
done
binary=$(cd "$work/chromium" && find usr/lib -type f -name "$package" | head -n 1)
[ -n "$binary" ] || give_up "the package $package holds no program of that name"
# Where it finds the libraries that are not the system's.
libraries=$(cd "$work/chromium" && find usr/lib lib -name '*.so*' 2>/dev/null | sed 's#/[^/]*$##' | sort -u)
{
  echo '#!/bin/sh'
  echo 'here=${0%/*}'
  for folder in $libraries; do echo "LD_LIBRARY_PATH=\$here/$folder:\${LD_LIBRARY_PATH:-}"; done
  echo 'export LD_LIBRARY_PATH'
  echo "exec \"\$here/$binary\" \"\$@\""
} >"$work/chromium/start"
chmod 755 "$work/chromium/start"
usable "$work/chromium/start" ||
  give_up "the browser does not start: $("$work/chromium/start" --version 2>&1 </dev/null | head -n 1)"
# Somebody else may have fetched at the same time: what is there and starts may be in use, and stays.
usable "$cache/chromium/start" || rm -rf "$cache/chromium"
mv -T "$work/chromium" "$cache/chromium" 2>/dev/null || usable "$cache/chromium/start" || give_up "cannot write to $cache"
deliver debian "$cache/chromium/start"
