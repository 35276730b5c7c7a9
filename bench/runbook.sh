#!/usr/bin/env bash
# What on-call engineers do by hand, as one loop: find the shim, signal it, ps, then syscall and stack of every thread.
# usage: runbook.sh SANDBOX_ID OUT_DIR; prints to stderr when the first stack was read: epoch, nanoseconds
id=$1 out=$2 first=
shim=$(pgrep -af containerd-shim-runc-v2 | awk -v id="$id" 'index($0, id) { print $1; exit }')
kill -USR1 "$shim"
ps -eLo pid,tid,ppid,stat,wchan:32,etime,args > "$out/processes.txt"
for task in /proc/"$shim"/task/*; do
  echo "===== ${task##*/} ====="
  cat "$task/syscall"
  cat "$task/stack"
  [ -n "$first" ] || first=$(date +%s%N)
done > "$out/shim-stacks.txt" 2>&1
echo "first-stack $first" >&2
