#!/usr/bin/env bash
# Installs the Debian packages that a make target needs, if any are missing.
#
#   scripts/install-packages.sh GROUP...
#
# Fails if a package cannot be installed, except in the group lab. Each package of this group is for one client, and
# the tests of clients that are not installed are skipped.
set -euo pipefail

packages_for() {
    case $1 in
        build) echo libxml2-dev libsqlite3-dev libssl-dev zlib1g-dev libarchive-dev libqrencode-dev libseccomp-dev libyaml-dev \
            pkg-config ;;
        debug) echo libpq-dev libcurl4-openssl-dev ;;
        docs) echo python3 ;;
        guard) echo binutils gcc libc6-dev python3 valgrind ;;
        litmus) echo litmus ;;
        clients) echo cadaver rclone davfs2 curl openssl python3 python3-requests python3-venv wget git lftp sitecopy ;;
        lab) echo dbus-daemon libglib2.0-bin gvfs gvfs-daemons gvfs-backends gvfs-fuse fuse3 duplicity restic rclone \
            kde-cli-tools kio libreoffice-writer-nogui python3-uno unzip ;;
        browser) echo chromium libnss3-tools python3-venv ;;
        deployment) echo nginx apache2-bin caddy openssl python3 ;;
        crash) echo python3 ;;
        ops) echo litmus cadaver curl openssl prometheus python3 systemd avahi-daemon avahi-utils dbus-daemon iproute2 ;;
        identity) echo libldap-dev slapd libpam0g-dev libpam-modules libcurl4-openssl-dev openssl pebble python3-venv libnatpmp-dev libminiupnpc-dev miniupnpd-iptables iptables iproute2 ;;
        cluster) echo postgresql haproxy litmus python3 python3-venv faketime ;;
        patroni) echo patroni etcd-server ;;
        ceph) echo ceph-common ceph-mon ceph-osd radosgw ;;
        packaging) echo debhelper dpkg-dev lintian mandoc mmdebstrap buildah bubblewrap python3 ;;
        bench) echo nginx libnginx-mod-http-dav-ext lighttpd lighttpd-mod-webdav apache2-bin gcc libc6-dev libsqlite3-dev libssl-dev openssl \
            litmus curl xfsprogs zip python3 python3-venv ;;
        profile) echo linux-perf libc6-dbg ;;
        *) echo "install-packages: unknown group '$1'" >&2; return 64 ;;
    esac
}

# Succeeds if a package is installed, or if its program is available anyway.
is_present() {
    case $1 in
        pkg-config | gcc | python3 | rclone | curl | nginx | openssl | wget) command -v "$1" >/dev/null && return 0 ;;
    esac
    dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q '^install ok installed$'
}

missing=() is_optional=yes
for group in "$@"; do
    names=$(packages_for "$group")
    [ "$group" = lab ] || is_optional=no
    for name in $names; do
        # Do not fail on systems without dpkg; print the required packages instead.
        if ! command -v dpkg-query >/dev/null; then
            echo "install-packages: dpkg not found; '$group' requires: $names" >&2
            continue 2
        fi
        is_present "$name" || missing+=("$name")
    done
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || {
        echo "install-packages: root or sudo required to install: ${missing[*]}" >&2
        exit 1
    }
    as_root=(sudo)
fi

echo "installing ${missing[*]}"
# Use env, because sudo resets the environment. Packages with a service must not start it.
install=("${as_root[@]}" env RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get -y -qq --no-install-recommends
    -o Dpkg::Use-Pty=0 install)
# Package lists can be empty on a new machine and outdated on an old one, so retry after an update.
"${install[@]}" "${missing[@]}" >/dev/null 2>&1 && exit 0
if [ "$is_optional" = no ]; then
    "${as_root[@]}" apt-get -qq update
    "${install[@]}" "${missing[@]}"
    exit
fi
"${as_root[@]}" apt-get -qq update || true
for name in "${missing[@]}"; do
    "${install[@]}" "$name" >/dev/null 2>&1 || echo "install-packages: cannot install $name" >&2
done
