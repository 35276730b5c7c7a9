#!/bin/sh
# Captures a stuck pod from a node over SSH; on the node a line in syslog is left, and the time of its signal in /run/stallcap.
# usage: grab-over-ssh.sh NODE TARGET [stallcap's flags]
#   exit 0: complete · 3: some evidence is missing, or the stream was cut · else: stallcap's own exit code
set -u
[ $# -ge 2 ] || { echo "usage: $0 NODE TARGET [flags]" >&2; exit 2; }
node=$1 target=$2
shift 2
file=$(printf '%s' "$target" | tr -c 'A-Za-z0-9._-' '_')-$(date -u +%Y%m%dT%H%M%SZ).tgz
umask 077
set -- grab "$target" -o - "$@"
for word do shift; set -- "$@" "'$(printf %s "$word" | sed "s/'/'\\\\''/g")'"; done
ssh -o BatchMode=yes -o ServerAliveInterval=5 "$node" sudo stallcap "$@" > "$file"
code=$?
if [ ! -s "$file" ]; then rm -f "$file"; exit "$code"; fi
echo "$file"
if command -v stallcap >/dev/null; then stallcap verify "$file" >&2 || { [ "$code" -ne 0 ] || code=3; }
else gzip -t "$file" || code=3; fi
exit "$code"
