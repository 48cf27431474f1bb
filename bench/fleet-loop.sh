#!/usr/bin/env bash
# One agent against three, each on a processor of its own, in a closed loop against a Redis on the
# fourth: what does one process reach, what do three, and what bounds them. Needs four idle
# processors and about 70 s; prints a table for docs/fleet.md at its end.
#
#   bench/fleet-loop.sh [STATE-FOLDER]     with servers that were fetched before; default: as usual
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -eq 0 ] || export DRAGSTRIP_HOME=$1
dragstrip() { node bin/dragstrip.js "$@"; }
data=(--rows 10000 --value-size 64)
agents=()
results=$(mktemp -d)
stop() {
  [ ${#agents[@]} -eq 0 ] || kill "${agents[@]}" 2>/dev/null || true
  dragstrip servers stop coordinator redis
  rm -rf "$results"
}
trap stop EXIT

taskset -c 3 node bin/dragstrip.js servers start coordinator redis
dragstrip seed redis "${data[@]}"
for i in 0 1 2; do
  taskset -c "$i" node bin/dragstrip.js agent --name "cpu$i" --quiet &
  agents+=($!)
done
for _ in $(seq 60); do
  [ "$(dragstrip agents | grep -c ' idle ')" -lt 3 ] || break
  sleep 1
done
for count in 1 3; do
  dragstrip race --agents "$count" --storages ioredis --load window --in-flight 300 \
    --duration 3s --rounds 5 "${data[@]}" --quiet --json "$results/$count.json" --no-html ||
    [ $? -eq 5 ] # a round in which an agent began late is invalid; the table has the others
done
node bench/fleet-table.js "$results/1.json" "$results/3.json"
