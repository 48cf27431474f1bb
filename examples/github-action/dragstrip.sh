#!/bin/sh
# A driver's change, decided in one step of CI: races a checkout against the last release, and
# against the target branch where its folder is given; writes a markdown comment; ends with the
# exit status of the race, which is 6 where a gate is shown to fail.
#
#   PACKAGE=ioredis ./dragstrip.sh                  # . against ioredis@latest
#   PACKAGE=ioredis BASE=./base ./dragstrip.sh      # also against the target branch, checked out there
#
# PACKAGE    the driver's name on npm
# STORAGE    what binds it to its server: a storage of Dragstrip's, or an adapter such as ./bench.mjs
# GATES      what fails, separated by spaces; ratios refer to BASE, without it to RELEASE
# BUDGET     how long the race may take
# OUT        folder of race.json and comment.md
# RELEASE, CANDIDATE   as --against takes them
# SERVERS    "running" where servers with the rows are there; else they are set up and stopped
# DRAGSTRIP, MORE      the command, and further options of the race
set -u
: "${PACKAGE:?set PACKAGE to the name of the driver on npm}"
OUT=${OUT:-dragstrip-results}
RELEASE=${RELEASE:-$PACKAGE@latest}
DRAGSTRIP=${DRAGSTRIP:-npx --no dragstrip} # installed before, never downloaded here
GATES=${GATES:-"throughput<0.95 client-cpu>1.05 writes>2"}
mkdir -p "$OUT"

set -- --storages "${STORAGE:-$PACKAGE}" --against "$RELEASE"
[ -z "${BASE:-}" ] || set -- "$@" --against "$PACKAGE@$BASE"
set -- "$@" --against "$PACKAGE@${CANDIDATE:-.}"
if [ -n "${BASE:-}" ]; then set -- "$@" --reference "$PACKAGE@$BASE"
else set -- "$@" --reference "$RELEASE"; fi
for gate in $GATES; do set -- "$@" --fail-if "$gate"; done
[ "${SERVERS:-}" = running ] || set -- "$@" --setup
[ -z "${BUDGET:-}" ] || set -- "$@" --budget "$BUDGET"

# shellcheck disable=SC2086 # commands with their arguments
$DRAGSTRIP race "$@" ${MORE:-} --quiet --json "$OUT/race.json" --force
status=$?

if [ -s "$OUT/race.json" ]; then
  # shellcheck disable=SC2086
  $DRAGSTRIP report "$OUT/race.json" --format pr >"$OUT/comment.md"
  [ -z "${GITHUB_STEP_SUMMARY:-}" ] || cat "$OUT/comment.md" >> "$GITHUB_STEP_SUMMARY"
fi
exit $status
