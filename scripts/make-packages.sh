#!/usr/bin/env bash
# Makes packages of the release binary, which `make build` has built:
#
#   scripts/make-packages.sh deb|tarball|image
#
# The results are in .build/packages. Two builds of one commit give the same bytes: times are those of the commit.
set -euo pipefail
export LC_ALL=C.UTF-8
cd "$(dirname "${BASH_SOURCE[0]}")/.."

kind=${1:?deb, tarball or image}
program=${DAVIT:-$PWD/.build/release/davit}
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
version=$("$program" --version | awk '{ print $NF }')
out=$PWD/.build/packages
stage=$out/stage
umask 022

# Copies everything that packages contain into the folder `stage`.
fill_stage() {
    rm -rf "$stage"
    mkdir -p "$stage"
    cp "$program" "$stage/davit"
    strip --strip-unneeded "$stage/davit"
    scripts/manual.py --davit "$program" --into "$out/manual" --date "$(date -u -d "@$SOURCE_DATE_EPOCH" +%F)"
    mkdir "$stage/man"
    cp "$out"/manual/man?/* "$stage/man"
    mkdir "$stage/completions"
    cp -r "$out/manual/bash" "$out/manual/zsh" "$out/manual/fish" "$stage/completions"
    rm -rf "$out/manual"
    scripts/sbom.py --davit "$program" >"$stage/sbom.spdx.json"
    cp -r deploy/systemd "$stage/systemd"
    git ls-files -z docs Examples CHANGELOG.md LICENSE README.md | xargs -0 cp --parents -t "$stage"
    # Packages install the program into /usr/bin.
    sed -i 's|/usr/local/bin/davit|/usr/bin/davit|' "$stage"/systemd/*.service
}

case $kind in
    deb)
        fill_stage
        command -v dh >/dev/null || { echo "make-packages: debhelper is required" >&2; exit 1; }
        cp -r deploy/debian "$stage/debian"
        cp deploy/systemd/davit.sysusers "$stage/debian"
        chmod 755 "$stage/debian/rules"
        (cd "$stage" && dpkg-buildpackage --build=binary --unsigned-changes --no-sign --no-check-builddeps >"$out/deb.log" 2>&1) || {
            tail -n 30 "$out/deb.log" >&2
            exit 1
        }
        ls "$out"/*.deb
        ;;
    tarball)
        fill_stage
        folder=davit-$version-linux-$(uname -m)
        rm -rf "${out:?}/$folder"
        mv "$stage" "$out/$folder"
        tar --create --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --directory "$out" "$folder" |
            gzip --no-name --best >"$out/$folder.tar.gz"
        rm -rf "${out:?}/$folder"
        echo "$out/$folder.tar.gz"
        ;;
    image)
        # The image contains the Debian package, without the files that slim images of Debian leave out.
        "$0" deb >/dev/null
        packages=("$out"/davit_"$version"-*.deb)
        rm -rf "$out/image"
        mkdir -p "$out/image"
        trap 'rm -rf "$out/image"' EXIT
        mmdebstrap --quiet --variant=apt --include=ca-certificates,tzdata --dpkgopt='path-exclude=/usr/share/man/*' \
            --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' \
            --dpkgopt='path-exclude=/usr/share/locale/*' \
            --customize-hook="copy-in '${packages[0]}' /tmp" \
            --customize-hook='chroot "$1" apt-get -qq install --yes --no-install-recommends /tmp/'"${packages[0]##*/} >/dev/null" \
            --customize-hook='rm "$1"/tmp/*.deb && rm -rf "$1"/var/cache/* "$1"/var/log/*' \
            --customize-hook='mkdir -p "$1"/var/lib/davit && chmod 1777 "$1"/var/lib/davit' \
            bookworm "$out/image/root.tar"
        storage=(--root "$out/image/storage" --runroot "$out/image/run" --storage-driver vfs)
        container=$(buildah "${storage[@]}" from --format docker scratch)
        buildah "${storage[@]}" add --quiet "$container" "$out/image/root.tar" / >/dev/null
        # Any user can be chosen: no file in the image or in the volumes has to belong to it.
        buildah "${storage[@]}" config --user 65532:65532 --port 8080 --volume /srv --volume /var/lib/davit \
            --entrypoint '["/usr/bin/davit"]' --cmd 'serve /srv --host 0.0.0.0 --state-dir /var/lib/davit' \
            --healthcheck 'CMD /usr/bin/davit status /srv --state-dir /var/lib/davit' \
            --stop-signal SIGTERM --label org.opencontainers.image.title=davit \
            --label "org.opencontainers.image.version=$version" "$container"
        rm -f "$out/davit-$version-image.tar"
        # Health checks are part of Docker's format of images only.
        buildah "${storage[@]}" commit --quiet --format docker --timestamp "$SOURCE_DATE_EPOCH" "$container" \
            "docker-archive:$out/davit-$version-image.tar:davit:$version" >/dev/null
        scripts/stable-image.py "$out/davit-$version-image.tar"
        echo "$out/davit-$version-image.tar"
        ;;
    *)
        echo "make-packages: unknown kind '$kind'" >&2
        exit 64
        ;;
esac
rm -rf "$stage"
