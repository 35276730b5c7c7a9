#!/bin/sh
# What `ps` alone costs. usage: ps.sh OUT_DIR
exec ps -eLo pid,tid,ppid,stat,wchan:32,etime,args > "$1/ps.txt"
