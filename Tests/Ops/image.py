#!/usr/bin/env python3
"""Tests the container image of `make image`, with the commands of docs/deploy/docker.md.

    Tests/Ops/image.py [--davit PATH]

Requires root. Podman does not work in each container in which tests run. So a stand-in runs the commands: it unpacks the layers of
the image, and runs its programs with chroot in namespaces of their own, with the user, the volumes and the read-only root that the
command demands. Prints a line for each failed check; the last line is `image: N passed, M failed`.
"""

import argparse
import base64
import http.client
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import tarfile
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
LIMIT_SECONDS = 120
sys.path.insert(0, str(HERE.parent / "Deployment"))
from deployment import Report  # noqa: E402
from pages import commands, stub  # noqa: E402


class Podman:
    """What `podman` does, with everything in one folder."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def load(self, words):
        assert words[0] == "-i", words
        image = self.folder / "image"
        image.mkdir(parents=True)
        with tarfile.open(words[1]) as archive:
            archive.extractall(image, filter="tar")
        manifest, = json.loads((image / "manifest.json").read_text())
        root = image / "root"
        root.mkdir()
        for layer in manifest["Layers"]:
            subprocess.run(["tar", "-xf", image / layer, "-C", root], check=True)
        config = json.loads((image / manifest["Config"]).read_text())["config"]
        (self.folder / "images.json").write_text(json.dumps({"tags": manifest["RepoTags"], "config": config}))
        return 0

    def image(self, name):
        image = json.loads((self.folder / "images.json").read_text())
        assert any(tag.rpartition("/")[2] == name for tag in image["tags"]), (name, image["tags"])
        return image["config"]

    def run(self, words):
        options = {"volumes": [], "env": {}, "user": None, "read_only": False, "detached": False, "name": "unnamed"}
        while words[0].startswith("-"):
            word = words.pop(0)
            if word in ("--rm", "-i", "-t", "-it"):
                continue
            if word == "--read-only":
                options["read_only"] = True
            elif word == "-d":
                options["detached"] = True
            elif word == "-v":
                options["volumes"].append(words.pop(0).split(":"))
            elif word == "-e":
                name, _, value = words.pop(0).partition("=")
                options["env"][name] = value
            elif word == "--user":
                options["user"] = words.pop(0)
            elif word == "--name":
                options["name"] = words.pop(0)
            elif word == "-p":
                # The container has the network of the host.
                outside, inside = words.pop(0).split(":")
                assert outside == inside
            else:
                raise AssertionError(word)
        config = self.image(words.pop(0))
        command = config["Entrypoint"] + (words or config["Cmd"])
        container = {"options": options, "config": config}
        script = self.script(container, command)
        if not options["detached"]:
            return subprocess.run(["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script]).returncode
        log = open(self.folder / f"{options['name']}.log", "ab")
        process = subprocess.Popen(["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script],
                                   stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        container["process"] = process.pid
        (self.folder / f"{options['name']}.json").write_text(json.dumps(container))
        print(process.pid)
        return 0

    def script(self, container, command):
        """Returns the commands that enter the container, in a mount namespace."""
        options, root = container["options"], self.folder / "image/root"
        lines = ["set -e", "mount --make-rprivate /", f"mount --bind {root} {root}"]
        for source, target, *flags in options["volumes"]:
            path = pathlib.Path(source)
            if not source.startswith((".", "/")):
                # A named volume, with the mode of its folder in the image.
                path = self.folder / "volumes" / source
                if not path.exists():
                    path.mkdir(parents=True)
                    path.chmod((root / target.strip("/")).stat().st_mode & 0o7777)
            lines.append(f"target={root}{target}")
            if target.startswith("/run/"):
                lines.insert(3, f"mountpoint -q {root}/run || mount -t tmpfs tmpfs {root}/run")
            lines.append(f"mkdir -p $(dirname $target); [ -e $target ] || {'mkdir' if path.is_dir() else 'touch'} $target")
            lines.append(f"mount --bind {path.resolve()} $target")
            if "ro" in flags:
                lines.append("mount -o remount,ro,bind $target")
        for name in ("dev/null", "dev/urandom"):
            lines.append(f"mkdir -p {root}/dev; touch {root}/{name}; mount --bind /{name} {root}/{name}")
        lines.append(f"mount -t tmpfs -o mode=1777 tmpfs {root}/tmp; mount -t proc proc {root}/proc")
        if options["read_only"]:
            lines.append(f"mount -o remount,ro,bind {root}")
        user, _, group = (options["user"] or container["config"]["User"]).partition(":")
        environment = dict(entry.split("=", 1) for entry in container["config"].get("Env") or [])
        environment = {"PATH": "/usr/bin:/bin", **environment, **options["env"]}
        words = [f"{name}={value}" for name, value in environment.items()]
        lines.append("exec chroot --userspec=" + shlex.quote(f"{user}:{group or 0}") + " --groups= " + str(root) + " /usr/bin/env -i "
                     + " ".join(shlex.quote(word) for word in words + command))
        return "\n".join(lines)

    def exec(self, words):
        name = words.pop(0)
        container = json.loads((self.folder / f"{name}.json").read_text())
        main, = pathlib.Path(f"/proc/{container['process']}/task/{container['process']}/children").read_text().split()
        user = container["options"]["user"] or container["config"]["User"]
        return subprocess.run(["nsenter", "--target", main, "--mount", "--pid", f"--root=/proc/{main}/root", "--wdns=/",
                               "setpriv", f"--reuid={user.partition(':')[0]}", "--clear-groups",
                               "/usr/bin/env", "-i", "PATH=/usr/bin:/bin", *words]).returncode


def ask(method, path, content=None, password=b"a good password"):
    connection = http.client.HTTPConnection("127.0.0.1", 8080, timeout=LIMIT_SECONDS)
    connection.request(method, path, content, {"Authorization": "Basic " + base64.b64encode(b"anna:" + password).decode()})
    response = connection.getresponse()
    return response.status, response.read()


def wait_until_ready(log):
    deadline = time.monotonic() + LIMIT_SECONDS
    while time.monotonic() < deadline:
        if log.exists() and "davit is ready" in log.read_text():
            return True
        time.sleep(0.05)
    return False


def follow(report, image, work):
    """Follows the guide as a user who is not root outside of the containers, and uses the server."""
    home, programs = work / "home", work / "bin"
    for folder in (home, programs):
        folder.mkdir()
    work.chmod(0o755)
    owner = 1234
    os.chown(home, owner, owner)
    (home / "password").write_text("a good password\n")
    (home / image.name).symlink_to(image)
    # Rootless containers map the user. Here, only the stand-in runs as root.
    stub(programs, "podman", f'exec {sys.executable} {shlex.quote(__file__)} --podman {shlex.quote(str(work / "containers"))} "$@"')
    stub(programs, "id", f'[ "$*" = -u ] && echo {owner} || exec /usr/bin/id "$@"')
    environment = {"PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(home), "LC_ALL": "C.UTF-8"}
    page = ROOT / "docs/deploy/docker.md"
    report.check("the guide has commands", len(commands(page)) >= 6)
    log = work / "containers/davit.log"
    for command in commands(page):
        if " exec " in command:
            report.check("the server is ready", wait_until_ready(log), log.read_text() if log.exists() else "")
        done = subprocess.run(["sh", "-c", command], cwd=home, env=environment, capture_output=True, text=True,
                              timeout=LIMIT_SECONDS, stdin=subprocess.DEVNULL)
        report.check(f"the guide's command works: {command}", done.returncode == 0, done.stdout + done.stderr)
        for path in [home / "users", home / "files"]:
            # The user of the guide creates these files.
            if path.exists() and path.stat().st_uid == 0:
                os.chown(path, owner, owner)
    return environment, log, owner


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--davit", default=os.environ.get("DAVIT", ROOT / ".build/release/davit"), type=pathlib.Path)
    parser.add_argument("--use", type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("--podman", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.podman:
        folder, command, *words = options.podman
        return getattr(Podman(folder), command)(words)
    report = Report()
    if options.use:
        with tempfile.TemporaryDirectory(prefix="davit-image-") as work:
            use(report, options.use, pathlib.Path(work))
        print(report.passed, report.failed)
        return 0
    environment = dict(os.environ, DAVIT=str(options.davit.resolve()))
    digests = []
    for _ in range(2):
        built = subprocess.run([ROOT / "scripts/make-packages.sh", "image"], env=environment, cwd=ROOT, capture_output=True, text=True)
        report.check("the image is built", built.returncode == 0, built.stderr)
        if built.returncode:
            break
        image = pathlib.Path(built.stdout.split()[-1])
        digests.append(subprocess.run(["sha256sum", image], capture_output=True, text=True, check=True).stdout.split()[0])
    report.check("two builds give the same image", len(digests) == 2 and digests[0] == digests[1], str(digests))
    if digests:
        # The server must not be reachable from outside.
        done = subprocess.run(["unshare", "--net", "--mount", "--propagation", "private", sys.executable, __file__, "--use", image],
                              capture_output=True, text=True)
        *lines, counts = done.stdout.splitlines() or [""]
        print("\n".join(lines))
        report.check("the image is used", done.returncode == 0, done.stdout + done.stderr)
        if done.returncode == 0:
            passed, failed = map(int, counts.split())
            report.passed += passed
            report.failed += failed
    print(f"image: {report.passed} passed, {report.failed} failed")
    return 1 if report.failed else 0


def use(report, image, work):
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    environment, log, owner = follow(report, image, work)
    container = json.loads((work / "containers/davit.json").read_text())
    try:
        report.check("a wrong password is refused", ask("GET", "/", password=b"x")[0] == 401)
        report.check("a file is stored", ask("PUT", "/hello.txt", b"hello")[0] == 201)
        report.check("a file is read", ask("GET", "/hello.txt") == (200, b"hello"))
        stored = work / "home/files/hello.txt"
        report.check("the file belongs to the user of the container", stored.stat().st_uid == owner, str(stored.stat()))
        other = work / "home/files/other.txt"
        other.write_text("other")
        os.chown(other, 4321, 4321)
        report.check("files of others can be read", ask("GET", "/other.txt")[0] == 200)
        report.check("no owner is changed", other.stat().st_uid == 4321)
        check = container["config"]["Healthcheck"]["Test"]
        health = subprocess.run(["podman", "exec", "davit", *shlex.split(check[1])], env=environment, capture_output=True, text=True)
        report.check("the health check of the image succeeds", health.returncode == 0, health.stdout + health.stderr)
        probe = subprocess.run(["podman", "exec", "davit", "sh", "-c", "touch /usr/bin/x 2>/dev/null && echo written"], env=environment,
                               capture_output=True, text=True)
        report.check("the root is read-only", "written" not in probe.stdout, probe.stdout)
    finally:
        # The first process of the container is the server itself, as in a container.
        main_process, = pathlib.Path(f"/proc/{container['process']}/task/{container['process']}/children").read_text().split()
        report.check("the server is the first process", "serve" in pathlib.Path(f"/proc/{main_process}/cmdline").read_text())
        os.kill(int(main_process), signal.SIGTERM)
        deadline = time.monotonic() + LIMIT_SECONDS
        while pathlib.Path(f"/proc/{main_process}").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        report.check("the server stops", not pathlib.Path(f"/proc/{main_process}").exists())
        report.check("only the ready line is on standard output", len(re.findall("davit is ready", log.read_text())) == 1)


if __name__ == "__main__":
    sys.exit(main())
