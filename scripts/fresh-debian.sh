#!/usr/bin/env bash
# `npm start` and `npm test` as a new user on a fresh machine: a minbase Debian in a folder, which is
# removed afterwards. Requires root, about 4 GB of disk and a network; nothing is installed on this
# machine. Not part of CI.
#
#   scripts/fresh-debian.sh 13           Debian 13 with Debian's own nodejs and npm
#   scripts/fresh-debian.sh 12           Debian 12 with Node 22 of npm's package `node`
#   scripts/fresh-debian.sh 13 CMD...    runs CMD in the clone in place of `npm start` and `npm test`
#
# KEEP=FOLDER keeps the system there, and uses one that is there already. MIRROR: where Debian's
# packages come from; default: as apt on this machine.
set -euo pipefail

release=${1:-13}
[ $# -gt 0 ] && shift
case $release in
  12) suite=bookworm node=22 packages=ca-certificates ;;
  13) suite=trixie node= packages=ca-certificates,nodejs,npm ;;
  *) echo "fresh-debian.sh: release $release: 12 or 13" >&2; exit 2 ;;
esac
[ "$(id -u)" = 0 ] || { echo 'fresh-debian.sh: run it as root' >&2; exit 2; }
if [ -z "${FRESH_PRIVATE:-}" ]; then
  # Mounts and processes end with this process, however it ends.
  FRESH_PRIVATE=yes exec unshare --mount --propagation private --pid --fork --kill-child \
    "$0" "$release" "$@"
fi

racer=racer
clone=$(cd "$(dirname "$0")/.." && pwd)
scratch=$(mktemp -d)
root=${KEEP:-$scratch/root}
trap 'umount --recursive "$root/proc" "$root/dev" 2>/dev/null || true
  rm -rf --one-file-system "$scratch"' EXIT

# debootstrap, without installing it.
debootstrap() {
  if type -P debootstrap >/dev/null; then command debootstrap "$@"; return; fi
  if [ ! -d "$scratch/debootstrap" ]; then
    (cd "$scratch" && apt-get -qq download debootstrap && dpkg-deb -x debootstrap_*.deb debootstrap)
  fi
  DEBOOTSTRAP_DIR=$scratch/debootstrap/usr/share/debootstrap \
    "$scratch/debootstrap/usr/sbin/debootstrap" "$@"
}

if [ ! -e "$root/etc/debian_version" ]; then
  # That of this machine's apt; without one debootstrap takes its own.
  mirror=${MIRROR:-$(apt-get indextargets --format '$(SITE)' | grep -m1 '/debian/*$' || true)}
  # shellcheck disable=SC2086
  debootstrap --variant=minbase "$suite" "$root" $mirror
fi
# The network as this machine has it: its resolver, its proxies, the authorities that it trusts.
cp --dereference /etc/resolv.conf /etc/hosts "$root/etc/"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
inside() { chroot "$root" env -i PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin LANG=C.UTF-8 "$@"; }
trust() {
  [ -e /etc/ssl/certs/ca-certificates.crt ] || return 0
  mkdir -p "$root/etc/ssl/certs"
  cp --dereference /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
}
trust
inside DEBIAN_FRONTEND=noninteractive apt-get -qq update
# shellcheck disable=SC2086
inside DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends ${packages//,/ }
trust # the package ca-certificates has written its own

if [ -n "$node" ] && [ ! -x "$root/usr/local/bin/node" ]; then
  # The npm package `node` consists of a package per platform, which has the program.
  (cd "$scratch" && npm pack --silent "node-linux-$(uname -m | sed 's/x86_64/x64/;s/aarch64/arm64/')@$node" npm@10)
  mkdir -p "$root/usr/local/lib/node_modules/npm"
  tar -xzf "$scratch"/node-linux-*.tgz -C "$root/usr/local" --strip-components=1
  tar -xzf "$scratch"/npm-10*.tgz -C "$root/usr/local/lib/node_modules/npm" --strip-components=1
  ln -sf ../lib/node_modules/npm/bin/npm-cli.js "$root/usr/local/bin/npm"
  ln -sf ../lib/node_modules/npm/bin/npx-cli.js "$root/usr/local/bin/npx"
  chmod +x "$root"/usr/local/lib/node_modules/npm/bin/*-cli.js "$root/usr/local/bin/node"
fi

inside id $racer >/dev/null 2>&1 || inside useradd --create-home --shell /bin/bash $racer
# A path with blanks, as people have them.
work="/home/$racer/my work"
rm -rf "$root$work"
mkdir "$root$work"
git clone --quiet --no-local "$clone" "$root$work/drag strip"
inside chown -R $racer:$racer "$work"
settings=(HOME=/home/$racer USER=$racer NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt)
for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY; do
  [ -z "${!name:-}" ] || settings+=("$name=${!name}")
done
as_racer() {
  inside setpriv --reuid $racer --regid $racer --init-groups --no-new-privs \
    env --chdir="$work/drag strip" "${settings[@]}" "$@"
}

# Prints the processes of the new user that are still there.
left_running() {
  local uid pid
  uid=$(inside id -u $racer)
  for pid in "$root"/proc/[0-9]*; do
    [ "$(stat -c %u "$pid" 2>/dev/null)" = "$uid" ] || continue
    tr '\0' ' ' 2>/dev/null <"$pid/cmdline" | cut -c1-160 | grep . || true
  done
}

as_racer sh -c 'echo "Debian $(cat /etc/debian_version), node $(node -v), npm $(npm -v)"'
if [ $# -gt 0 ]; then as_racer "$@"; exit; fi
for script in start test; do
  status=0
  SECONDS=0
  as_racer npm "$script" || status=$?
  echo "npm $script: status $status after $SECONDS s, load average $(cut -d' ' -f1-3 /proc/loadavg)"
  [ "$status" = 0 ] || exit "$status"
  sleep 1
  left=$(left_running)
  [ -z "$left" ] || { echo "npm $script left running:"; echo "$left"; exit 1; }
done
