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
case $0 in */*) here=${0%/*} ;; *) here=. ;; esac
here=$(CDPATH='' cd "$here" && pwd)
self=get-nats-server
tool=nats-server
programs=nats-server
words='nats-server: '
min=${MIN_VERSION:-2.14.0}
known='path cache debian brew go release'
packages=nats-server
inside=usr/sbin
formula=nats-server
setting=NATS_SERVER
given=${NATS_SERVER:-}
upstream=https://github.com/nats-io/nats-server/releases
# shellcheck source=nats/find-tool.sh
. "$here/find-tool.sh"
cache=$(absolute "${TOOL_CACHE:-${here%/*}/.cache/tools}")

pin=2.14.5 # what the routes go and release take
pin_is_enough() { at_least "$pin" "$min" || skip "it would give $pin, older than $min"; }

# Go: through the module proxy this machine uses, with Go's own caches kept out of the home folder.
route_go() {
  have go || { skip 'no go here'; return; }
  pin_is_enough && scratch || return
  say "building $pin with go, which takes a minute or more"
  GOBIN=$work/bin GOMODCACHE=$work/modules GOCACHE=$work/build GOFLAGS="${GOFLAGS:-} -modcacherw" CGO_ENABLED=0 \
    go install "github.com/nats-io/nats-server/v2@v$pin" >"$work/log" 2>&1 || { refuse "$(cause)"; return; }
  adopt "$work/bin"
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
  download "$upstream/download/v$pin/$name.tar.gz" "$work/release.tar.gz" >"$work/log" 2>&1 ||
    { refuse "$(cause)"; return; }
  got=$(sha256 "$work/release.tar.gz")
  [ "${got%% *}" = "$sum" ] || { refuse "the checksum of $name.tar.gz is not the pinned one: not used"; return; }
  tar -xzf "$work/release.tar.gz" -C "$work" 2>"$work/log" || { refuse "$(cause)"; return; }
  adopt "$work/$name"
}

[ $# -eq 0 ] || misuse 'takes no arguments; the settings are environment variables, described at the top of the file'
find_tool
