#!/bin/sh
# Finds or makes a Python with Scrapy for the bench: an environment of its own under .cache, filled by pip.
# Prints the absolute path of that python on stdout, everything else on stderr. Exit codes: 0 found, 3 none to be had.
set -eu
case $0 in */*) here=${0%/*} ;; *) here=. ;; esac
place=$(CDPATH='' cd "$here/../.." && pwd)/.cache/bench/scrapy
usable() { [ -x "$1" ] && "$1" -c 'import scrapy, sys; print("scrapy", scrapy.__version__, file=sys.stderr)'; }
if usable "$place/bin/python"; then echo "$place/bin/python"; exit 0; fi
if command -v python3 >/dev/null 2>&1; then
  system=$(command -v python3)
  if usable "$system" 2>/dev/null; then echo "$system"; exit 0; fi
  mkdir -p "${place%/*}"
  python3 -m venv "$place" >&2 && "$place/bin/pip" install -q scrapy==2.19.0 >&2 || rm -rf "$place"
fi
if usable "$place/bin/python"; then echo "$place/bin/python"; exit 0; fi
echo 'get-scrapy: no Python here that could hold Scrapy' >&2
exit 3
