#!/bin/sh
# Finds or fetches a nats-server that is new enough, without root and without changing the system.
# Prints its absolute path on stdout, everything else on stderr.
#
# Exit codes: 0 found, 1 none to be had (the routes tried and the remedy are printed), 2 a setting is wrong.
# Environment:
#   NATS_SERVER  path of the server to take; it is checked, and nothing else is tried
#   TOOL_CACHE   folder where a fetched server is kept   (default: .cache/tools in the project)
#   MIN_VERSION  lowest version accepted                 (default: 2.14.0)
#   ROUTES       routes to try, in order                 (default: path cache debian brew go release)
#   SUITES       Debian suites to look in, in order      (default: forky testing sid)
set -eu
umask 022
LC_ALL=C # apt's messages are read below, and apt translates them
export LC_ALL

say() { printf 'get-nats-server: %s\n' "$*" >&2; }
misuse() { say "$*"; exit 2; }
have() { command -v "$1" >/dev/null 2>&1; }
absolute() { case $1 in /*) printf '%s\n' "$1" ;; *) printf '%s\n' "$PWD/$1" ;; esac; }

case $0 in */*) here=${0%/*} ;; *) here=. ;; esac
cache=$(absolute "${TOOL_CACHE:-$(CDPATH='' cd "$here/.." && pwd)/.cache/tools}")
min=${MIN_VERSION:-2.14.0}
known='path cache debian brew go release'
routes=${ROUTES:-$known}
releases=https://github.com/nats-io/nats-server/releases

pin=2.14.5 # what the routes go and release take
why=''     # why the route under way failed

# Both note why a route failed, for the list at the end; `refuse` also says it now, because somebody should look at it.
skip() { why=${why:+$why; }$*; return 1; }
refuse() { say "$*"; skip "$*"; }

# at_least A B: is version A at least B? Compared as numbers, field by field.
at_least() {
  a=$1.0.0. b=$2.0.0.
  for _ in 1 2 3; do
    [ "${a%%.*}" -eq "${b%%.*}" ] || { [ "${a%%.*}" -gt "${b%%.*}" ]; return; }
    a=${a#*.} b=${b#*.}
  done
}

# What a file is made for: its magic number and word size, and the machine of an ELF file.
made_for() {
  # shellcheck disable=SC2046 # one word per byte is the point
  set -- $(od -An -v -tx1 -N20 "$1" 2>/dev/null) - - - - - - - - - - - - - - - - - - - -
  echo "$1$2$3$4-$5-${19}${20}"
}

# usable FILE: a nats-server that runs here and is new enough? Sets `version`.
usable() {
  [ -e "$1" ] || { refuse "$1 does not exist"; return; }
  [ -f "$1" ] && [ -r "$1" ] && [ -x "$1" ] || { refuse "$1 is not a file that you may read and execute"; return; }
  # A shell runs what the kernel cannot execute as if it were a script, garbage and all: so look before starting it.
  # A Mach-O file (cffaedfe, cafebabe) needs no look, macOS refuses a foreign one by itself.
  case $(made_for "$1") in
    2321* | cffaedfe* | cafebabe* | "$(made_for /bin/sh)") ;;
    *) refuse "$1 does not run here: not a program, or one for another system or architecture ($(uname -sm))"; return ;;
  esac
  version=$("$1" --version 2>/dev/null </dev/null) ||
    { refuse "$1 does not run here: --version ends with code $?"; return; }
  case $version in
    'nats-server: v'[0-9]*) version=${version#*: v}; version=${version%%[!0-9.]*} ;;
    *) refuse "$1 does not answer --version as a nats-server does"; return ;;
  esac
  at_least "$version" "$min" || refuse "$1 is $version, older than $min"
}

work=''
trap '[ -z "$work" ] || rm -rf "$work"' EXIT
trap 'exit 130' HUP INT
trap 'exit 143' TERM
# Each run works in a folder of its own inside the cache, so that the last step is one rename.
scratch() {
  [ -z "$work" ] || return 0
  mkdir -p "$cache" 2>/dev/null && work=$(mktemp -d "$cache/.fetch.XXXXXX" 2>/dev/null) ||
    { refuse "cannot write to $cache: set TOOL_CACHE to a folder where you can"; return; }
  # What a run killed outright left behind; a day is longer than any run takes.
  find "$cache" -maxdepth 1 -name '.fetch.*' -mtime +0 -exec rm -rf {} + || :
}
# adopt FILE: check a fetched server and move it into the cache.
adopt() {
  usable "$1" && chmod 755 "$1" && mv -f "$1" "$cache/nats-server" && found=$cache/nats-server
}
# The first error in the log of the command that failed, or else its last line.
cause() { sed -n -e '/^E: /{p;q;}' -e '/./h' -e '${g;p;}' "$work/log"; }

route_path() {
  found=$(command -v nats-server) || { skip 'no nats-server on PATH'; return; }
  found=$(absolute "$found")
  usable "$found"
}

route_cache() {
  found=$cache/nats-server
  [ -e "$found" ] || { skip "nothing in $cache yet"; return; }
  usable "$found"
}

# Debian: a private apt of our own in the scratch folder, with this machine's mirrors and proxies, Debian's own keys
# and a newer suite. The system's lists, packages and settings are only read.
route_debian() {
  have apt-get && have dpkg-deb || { skip 'this is no Debian: no apt-get'; return; }
  keyring=''
  for file in /usr/share/keyrings/debian-archive-keyring.pgp /usr/share/keyrings/debian-archive-keyring.gpg; do
    [ ! -r "$file" ] || keyring=$file
  done
  [ -n "$keyring" ] || { skip 'no Debian archive keyring here (package debian-archive-keyring)'; return; }
  scratch || return
  mkdir -p "$work/state/lists/partial" "$work/cache/archives/partial"
  : >"$work/status"
  debian_settings >"$work/apt.conf"
  mirrors=$(debian_mirrors)
  [ -n "$mirrors" ] || { skip "this machine's apt sources name no mirror"; return; }
  for mirror in $mirrors; do
    for suite in ${SUITES:-forky testing sid}; do
      if debian_suite; then return 0; fi
    done
  done
  return 1
}
debian_settings() {
  echo 'Acquire::Retries "2"; Acquire::http::Timeout "30"; Acquire::https::Timeout "30";'
  apt-config dump 2>/dev/null | grep -E '^Acquire::(Retries|http|https)(::[A-Za-z0-9.:-]+)* ' || :
  echo "Dir::State \"$work/state\"; Dir::State::status \"$work/status\"; Dir::Cache \"$work/cache\";"
  echo "Dir::Etc::sourcelist \"$work/sources.list\"; APT::Sandbox::User \"\";"
  for setting in main parts sourceparts preferences preferencesparts; do echo "Dir::Etc::$setting \"/dev/null\";"; done
  echo 'Acquire::Languages "none"; APT::Update::Error-Mode "any";'
}
# The mirrors of this machine's own sources, those of its own release first.
debian_mirrors() {
  # shellcheck disable=SC1091
  release=$(. /etc/os-release && echo "${VERSION_CODENAME:-}") || release=''
  apt-get update --print-uris 2>/dev/null |
    sed -n "s#^'\(.*\)/dists/\([^/']*\)/InRelease'.*#\2 \1#p" |
    awk -v own="$release" '$2 !~ /security/ { print ($1 == own ? 0 : 1), $2 }' | sort -u | awk '!seen[$2]++ { print $2 }'
}
own_apt() { APT_CONFIG=$work/apt.conf "$@"; }
debian_suite() {
  echo "deb [signed-by=$keyring] $mirror $suite main" >"$work/sources.list"
  if ! own_apt apt-get -q update >"$work/log" 2>&1; then
    grep -q 'is expired' "$work/log" || { refuse "$suite: $(cause)"; return; }
    # A mirror that lags behind is still signed, and an old version in it is refused below.
    say "the index of $suite on this machine's mirror is past its date; its signature is still checked"
    own_apt apt-get -q -o Acquire::Check-Valid-Until=false update >"$work/log" 2>&1 ||
      { refuse "$suite: $(cause)"; return; }
  fi
  offer=$(own_apt apt-cache madison nats-server 2>/dev/null | awk -F'|' 'NR == 1 { gsub(/ /, "", $2); print $2 }')
  [ -n "$offer" ] || { refuse "$suite has no nats-server"; return; }
  dpkg --compare-versions "$offer" ge "$min" || { refuse "$suite has only $offer"; return; }
  say "taking $offer from Debian $suite"
  rm -rf "$work/deb" && mkdir "$work/deb"
  (cd "$work/deb" && own_apt apt-get -q download nats-server && dpkg-deb -x ./*.deb .) >"$work/log" 2>&1 ||
    { refuse "$suite: $(cause)"; return; }
  adopt "$work/deb/usr/sbin/nats-server"
}

# Homebrew: its bottle, unpacked here instead of installed.
own_brew() { HOMEBREW_CACHE=$work/brew HOMEBREW_NO_AUTO_UPDATE=1 brew "$@"; }
route_brew() {
  have brew || { skip 'no Homebrew here'; return; }
  scratch || return
  say 'taking the bottle of Homebrew'
  { own_brew fetch nats-server && tar -xzf "$(own_brew --cache nats-server)" -C "$work"; } >"$work/log" 2>&1 ||
    { refuse "$(cause)"; return; }
  for file in "$work"/nats-server/*/bin/nats-server; do adopt "$file"; return; done
}

pin_is_enough() { at_least "$pin" "$min" || skip "it would give $pin, older than $min"; }

# Go: through the module proxy this machine uses, with Go's own caches kept out of the home folder.
route_go() {
  have go || { skip 'no go here'; return; }
  pin_is_enough && scratch || return
  say "building $pin with go, which takes a minute or more"
  GOBIN=$work/bin GOMODCACHE=$work/modules GOCACHE=$work/build GOFLAGS="${GOFLAGS:-} -modcacherw" CGO_ENABLED=0 \
    go install "github.com/nats-io/nats-server/v2@v$pin" >"$work/log" 2>&1 || { refuse "$(cause)"; return; }
  adopt "$work/bin/nats-server"
}

download() { # URL FILE
  if have curl; then curl -fsSL --connect-timeout 20 --max-time 300 -o "$2" "$1"; else wget -T 60 -O "$2" "$1"; fi
}
sha256() { if have sha256sum; then sha256sum "$1"; else shasum -a 256 "$1"; fi; }
route_release() {
  pin_is_enough || return
  case $(uname -sm) in # the checksums are those that upstream's own container images pin
    'Linux x86_64') platform=linux-amd64 sum=5e3b603d47c447bda1f77f9ac16dbf91c90aac4ff3681f8fbbc7201e4ed99355 ;;
    'Linux aarch64') platform=linux-arm64 sum=673a98d3faa79dde3f9ebf16d6dfac36a5f694e7ad2015e4954dd7939c85cd4c ;;
    *) skip "no checksum is pinned for $(uname -sm)"; return ;;
  esac
  have curl || have wget || { skip 'neither curl nor wget here'; return; }
  scratch || return
  say "taking the release $pin of upstream"
  name=nats-server-v$pin-$platform
  download "$releases/download/v$pin/$name.tar.gz" "$work/release.tar.gz" >"$work/log" 2>&1 ||
    { refuse "$(cause)"; return; }
  got=$(sha256 "$work/release.tar.gz")
  [ "${got%% *}" = "$sum" ] || { refuse "the checksum of $name.tar.gz is not the pinned one: not used"; return; }
  tar -xzf "$work/release.tar.gz" -C "$work" 2>"$work/log" || { refuse "$(cause)"; return; }
  adopt "$work/$name/nats-server"
}

deliver() { say "nats-server $version ($1)"; printf '%s\n' "$2"; exit 0; }

[ $# -eq 0 ] || misuse 'takes no arguments; the settings are environment variables, described at the top of the file'
case $min in *[!0-9.]* | .* | *. | *..*) misuse "MIN_VERSION=$min is not a version such as 2.14.0" ;; esac
for route in $routes; do
  case " $known " in *" $route "*) ;; *) misuse "ROUTES names an unknown route: $route (known: $known)" ;; esac
done

if [ -n "${NATS_SERVER:-}" ]; then
  found=$(absolute "$NATS_SERVER")
  if usable "$found"; then deliver NATS_SERVER "$found"; fi
  say "NATS_SERVER=$NATS_SERVER is refused. Point it at a nats-server >= $min, or unset it to have one found or fetched."
  exit 1
fi

tried=''
for route in $routes; do
  why=''
  if "route_$route"; then deliver "$route" "$found"; fi
  tried="$tried
  $route: $why"
done
say "no nats-server >= $min to be had. Tried:$tried
Install nats-server >= $min by hand from $releases
and put it on PATH, or set NATS_SERVER=/path/to/nats-server."
exit 1
