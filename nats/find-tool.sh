# Ways to find or fetch a program, without root and without changing the system. Read by the get-*.sh scripts, each of
# which says what it wants, adds ways of its own as functions `route_<name>`, and then calls `find_tool`:
#
#   self       name of the script, for what it says
#   tool       name of the program
#   programs   everything that comes with it into the cache
#   words      what it prints before its version when asked with --version; one that is asked in another way has an
#              `ask_version` of its own
#   min        lowest version accepted
#   known      the routes there are, in the order in which they are tried
#   packages   Debian packages that hold the programs; `inside` is where
#   formula    name at Homebrew
#   setting    name of the environment variable that names a program to take; `given` is its value
#   upstream   where a person can get it
#
# The program's path goes to stdout, everything else to stderr.
# Exit codes: 0 found, 1 none to be had (the routes tried and the remedy are printed), 2 a setting is wrong.
# shellcheck shell=sh disable=SC2154 # what is set by the script that reads this file
umask 022
LC_ALL=C # apt's messages are read below, and apt translates them
export LC_ALL

say() { printf '%s: %s\n' "$self" "$*" >&2; }
misuse() { say "$*"; exit 2; }
have() { command -v "$1" >/dev/null 2>&1; }
absolute() { case $1 in /*) printf '%s\n' "$1" ;; *) printf '%s\n' "$PWD/$1" ;; esac; }

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

ask_version() { "$1" --version; }

# usable FILE: the program, able to run here and new enough? Sets `version`.
usable() {
  [ -e "$1" ] || { refuse "$1 does not exist"; return; }
  [ -f "$1" ] && [ -r "$1" ] && [ -x "$1" ] || { refuse "$1 is not a file that you may read and execute"; return; }
  # A shell runs what the kernel cannot execute as if it were a script, garbage and all: so look before starting it.
  # A Mach-O file (cffaedfe, cafebabe) needs no look, macOS refuses a foreign one by itself.
  case $(made_for "$1") in
    2321* | cffaedfe* | cafebabe* | "$(made_for /bin/sh)") ;;
    *) refuse "$1 does not run here: not a program, or one for another system or architecture ($(uname -sm))"; return ;;
  esac
  version=$(ask_version "$1" 2>/dev/null </dev/null) ||
    { refuse "$1 does not run here: --version ends with code $?"; return; }
  case $version in
    "$words"[0-9]* | "$words"v[0-9]*) version=${version#"$words"}; version=${version#v}; version=${version%%[!0-9.]*} ;;
    *) refuse "$1 does not answer --version as a $tool does"; return ;;
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
# adopt FOLDER: check a fetched program, and move it and what comes with it into the cache.
adopt() {
  usable "$1/$tool" || return
  for program in $programs; do
    chmod 755 "$1/$program" && mv -f "$1/$program" "$cache/$program" || return
  done
  found=$cache/$tool
}
# The first error in the log of the command that failed, or else its last line.
cause() { sed -n -e '/^E: /{p;q;}' -e '/./h' -e '${g;p;}' "$work/log"; }

route_path() {
  found=$(command -v "$tool") || { skip "no $tool on PATH"; return; }
  found=$(absolute "$found")
  usable "$found"
}

route_cache() {
  found=$cache/$tool
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
  for place in main parts sourceparts preferences preferencesparts; do echo "Dir::Etc::$place \"/dev/null\";"; done
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
  first=${packages%% *}
  echo "deb [signed-by=$keyring] $mirror $suite main" >"$work/sources.list"
  if ! own_apt apt-get -q update >"$work/log" 2>&1; then
    grep -q 'is expired' "$work/log" || { refuse "$suite: $(cause)"; return; }
    # A mirror that lags behind is still signed, and an old version in it is refused below.
    say "the index of $suite on this machine's mirror is past its date; its signature is still checked"
    own_apt apt-get -q -o Acquire::Check-Valid-Until=false update >"$work/log" 2>&1 ||
      { refuse "$suite: $(cause)"; return; }
  fi
  offer=$(own_apt apt-cache madison "$first" 2>/dev/null | awk -F'|' 'NR == 1 { gsub(/ /, "", $2); print $2 }')
  [ -n "$offer" ] || { refuse "$suite has no $first"; return; }
  dpkg --compare-versions "$offer" ge "$min" || { refuse "$suite has only $offer"; return; }
  say "taking $offer from Debian $suite"
  rm -rf "$work/deb" && mkdir "$work/deb"
  # shellcheck disable=SC2086 # one word per package
  (cd "$work/deb" && own_apt apt-get -q download $packages && for deb in ./*.deb; do dpkg-deb -x "$deb" .; done) \
    >"$work/log" 2>&1 || { refuse "$suite: $(cause)"; return; }
  adopt "$work/deb/$inside"
}

# Homebrew: its bottle, unpacked here instead of installed.
own_brew() { HOMEBREW_CACHE=$work/brew HOMEBREW_NO_AUTO_UPDATE=1 brew "$@"; }
route_brew() {
  have brew || { skip 'no Homebrew here'; return; }
  scratch || return
  say 'taking the bottle of Homebrew'
  { own_brew fetch "$formula" && tar -xzf "$(own_brew --cache "$formula")" -C "$work"; } >"$work/log" 2>&1 ||
    { refuse "$(cause)"; return; }
  for folder in "$work/$formula"/*/bin; do adopt "$folder"; return; done
}

deliver() { say "$tool $version ($1)"; printf '%s\n' "$2"; exit 0; }

find_tool() {
  case $min in *[!0-9.]* | .* | *. | *..*) misuse "MIN_VERSION=$min is not a version such as 2.14.0" ;; esac
  routes=${ROUTES:-$known}
  for route in $routes; do
    case " $known " in *" $route "*) ;; *) misuse "ROUTES names an unknown route: $route (known: $known)" ;; esac
  done
  if [ -n "$given" ]; then
    found=$(absolute "$given")
    if usable "$found"; then deliver "$setting" "$found"; fi
    say "$setting=$given is refused. Point it at a $tool >= $min, or unset it to have one found or fetched."
    exit 1
  fi
  tried=''
  for route in $routes; do
    why=''
    if "route_$route"; then deliver "$route" "$found"; fi
    tried="$tried
  $route: $why"
  done
  say "no $tool >= $min to be had. Tried:$tried
Install $tool >= $min by hand from $upstream
and put it on PATH, or set $setting=/path/to/$tool."
  exit 1
}
