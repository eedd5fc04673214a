#!/usr/bin/env python3
"""Tests the Debian packages: they are built twice, checked with lintian, and installed on a new Debian system in a folder, where
the service runs as its unit describes.

    Tests/Ops/packages.py [--davit PATH]

Requires root. systemd cannot run in the folder, so a small runner starts the unit: it understands the settings that decide whether
the service works, and fails for others that it does not know. Prints a line for each failed check; the last line is
`packages: N passed, M failed`.
"""
import argparse
import configparser
import hashlib
import http.client
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "Tests/Deployment"))
from deployment import Report  # noqa: E402

PACKAGES = ROOT / ".build/packages"
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "davit"
LIMIT_SECONDS = 600
INSTANCE, FOLDER = "srv-files", "/srv/files"
# Settings that only restrict the service, and those that matter only to systemd itself.
RESTRICTIONS = re.compile(
    "Protect|Private|Restrict|Capability|Ambient|NoNew|Lock|MemoryDeny|SystemCall|ProcSubset|RemoveIPC|Keyring|Bind|ReadWrite|Limit|UMask")
IGNORED = {"Type", "Restart", "WatchdogSec", "TimeoutStopSec", "ExecReload"}
KNOWN = {"ExecStart", "EnvironmentFile", "User", "StateDirectory", "StateDirectoryMode"}


def run(*command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=LIMIT_SECONDS,
                          **({"stdin": subprocess.DEVNULL} | options))


def digests():
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(PACKAGES.glob("*.deb"))}


def build(report, davit):
    """Builds the packages twice."""
    environment = dict(os.environ, DAVIT=davit)
    found = []
    for _ in range(2):
        for path in PACKAGES.glob("*.deb"):
            path.unlink()
        built = run(ROOT / "scripts/make-packages.sh", "deb", env=environment, cwd=ROOT)
        report.check("the packages are built", built.returncode == 0, built.stderr)
        found.append(digests())
    report.check("two builds are equal", found[0] == found[1] and len(found[0]) == 2, str(found))
    # The first changelog entry of a package closes a request for it only if it is uploaded to Debian.
    lint = run("lintian", "--fail-on", "error,warning", "--suppress-tags", "initial-upload-closes-no-bugs",
               *PACKAGES.glob("davit_*.changes"))
    report.check("lintian finds nothing", lint.returncode == 0, lint.stdout + lint.stderr)


class System:
    """A Debian system in a folder."""

    def __init__(self, folder):
        self.root = pathlib.Path(folder)
        archive = CACHE / "bookworm.tar"
        if not archive.exists():
            CACHE.mkdir(parents=True, exist_ok=True)
            # mmdebstrap makes an archive only if the name ends like one.
            new = CACHE / "new-bookworm.tar"
            made = run("mmdebstrap", "--quiet", "--variant=minbase", "bookworm", new)
            if made.returncode:
                raise RuntimeError(made.stderr)
            os.rename(new, archive)
        subprocess.run(["tar", "-xf", archive, "-C", folder], check=True)
        shutil.copy("/etc/resolv.conf", self.root / "etc/resolv.conf")

    def enter(self, *words):
        """Returns the command that runs `words` in the system, with /proc and /dev, which are mounted only for this command."""
        # The process ID stays the same from the shell to the command.
        script = 'mount --bind /proc "$0/proc" && mount --bind /dev "$0/dev" && export LISTEN_PID=$$ && exec /usr/sbin/chroot "$@"'
        return ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, str(self.root), *map(str, words)]

    def run(self, *command):
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8"}
        return run(*self.enter(self.root, *command), env=environment)

    def account(self, name):
        """Returns the numbers of a user and of its group, or None if it does not exist."""
        for line in (self.root / "etc/passwd").read_text().splitlines():
            entry = line.split(":")
            if entry[0] == name:
                return int(entry[2]), int(entry[3])
        return None

    def has(self, path):
        return (self.root / path.lstrip("/")).exists()


class Unit:
    """Runs an instance of davit@.service with a socket, as the unit describes."""

    def __init__(self, system, instance, folder):
        # systemd permits repeated settings, of which only lists of restrictions make use here.
        reader = configparser.RawConfigParser(strict=False, delimiters="=", interpolation=None)
        reader.optionxform = str
        reader.read(system.root / "lib/systemd/system/davit@.service")
        self.settings = {key: value.replace("%i", instance).replace("%f", folder) for key, value in reader["Service"].items()}
        unknown = [key for key in self.settings if key not in IGNORED | KNOWN and not RESTRICTIONS.match(key)]
        if unknown:
            raise RuntimeError(f"the runner does not know {unknown}")
        self.system = system

    def start(self):
        """Starts the service and returns the port on which it listens."""
        root, user, group = self.system.root, *self.system.account(self.settings["User"])
        state = root / "var/lib" / self.settings["StateDirectory"]
        state.mkdir(parents=True, exist_ok=True)
        state.chmod(int(self.settings["StateDirectoryMode"], 8))
        os.chown(state, user, group)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.notifications = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.notifications.bind(str(root / "run/notify"))
        os.chmod(root / "run/notify", 0o777)
        self.notifications.settimeout(1)
        environment = {"PATH": "/usr/bin:/bin", "NOTIFY_SOCKET": "/run/notify", "LISTEN_FDS": "1",
                       "STATE_DIRECTORY": f"/var/lib/{self.settings['StateDirectory']}"}
        file = root / self.settings["EnvironmentFile"].removeprefix("-").lstrip("/")
        if file.exists():
            environment.update(line.split("=", 1) for line in file.read_text().splitlines())
        words = []
        for word in self.settings["ExecStart"].split():
            name = re.fullmatch(r"\$\{?(\w+)\}?", word)
            words += ([environment[name[1]]] if word.startswith("${") else environment.get(name[1], "").split()) if name else [word]

        def place_socket():
            os.dup2(self.listener.fileno(), 3)
            os.set_inheritable(3, True)

        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            self.system.enter(f"--userspec={user}:{group}", root, *words), env=environment, stdin=subprocess.DEVNULL,
            stdout=self.log, stderr=self.log, pass_fds=[3], preexec_fn=place_socket)
        while True:
            try:
                if b"READY=1" in self.notifications.recv(4096):
                    break
            except TimeoutError:
                if self.process.poll() is not None:
                    raise RuntimeError(f"the service ended: {self.output()}") from None
        return self.listener.getsockname()[1]

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(LIMIT_SECONDS)
        self.notifications.close()
        self.listener.close()
        (self.system.root / "run/notify").unlink()
        return status

    def output(self):
        self.log.seek(0)
        return self.log.read().decode(errors="replace")


def request(port, method, path, body=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=LIMIT_SECONDS)
    connection.request(method, path, body)
    response = connection.getresponse()
    content = response.read()
    connection.close()
    return response.status, content


def install(report, system):
    for path in PACKAGES.glob("*.deb"):
        shutil.copy(path, system.root / "tmp" / path.name)
    packages = [f"/tmp/{path.name}" for path in PACKAGES.glob("*.deb")]
    updated = system.run("apt-get", "-qq", "update")
    report.check("package lists are read", updated.returncode == 0, updated.stderr)
    installed = system.run("apt-get", "-qq", "install", "--yes", "--no-install-recommends", *packages)
    report.check("the packages are installed", installed.returncode == 0, installed.stdout + installed.stderr)
    version = system.run("davit", "--version")
    report.check("the program starts", version.returncode == 0, version.stdout + version.stderr)
    report.check("the user exists", system.account("davit"))
    for path in ("/usr/share/man/man1/davit-serve.1.gz", "/usr/share/doc/davit-doc", "/etc/davit",
                 "/usr/share/bash-completion/completions/davit"):
        report.check(f"{path} is installed", system.has(path))
    return packages


def serve(report, system):
    folder = system.root / FOLDER.lstrip("/")
    folder.mkdir(parents=True, exist_ok=True)
    os.chown(folder, *system.account("davit"))
    unit = Unit(system, INSTANCE, FOLDER)
    port = unit.start()
    try:
        status, _ = request(port, "PUT", "/hello.txt", b"hello")
        report.check("a file goes in", status in (201, 204), f"{status} {unit.output()}")
        status, content = request(port, "GET", "/hello.txt")
        report.check("a file comes out", (status, content) == (200, b"hello"), f"{status} {unit.output()}")
        report.check("the option of the environment file applies", request(port, "GET", "/")[1].count(b"<title>Package-test") == 1)
    finally:
        status = unit.stop()
    report.check("the service stops", status == 0, f"{status} {unit.output()}")
    report.check("the state is in its folder", any((system.root / "var/lib/davit" / INSTANCE).iterdir()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--davit", default=os.environ.get("DAVIT", str(ROOT / ".build/release/davit")))
    options = parser.parse_args()
    report = Report()
    missing = [program for program in ("dh", "lintian", "mmdebstrap") if not shutil.which(program)]
    if os.getuid() or missing:
        print(f"SKIPPED: packages: {'requires ' + ' and '.join(missing) if missing else 'requires root'}")
        print("packages: 0 passed, 0 failed")
        return
    build(report, options.davit)
    with tempfile.TemporaryDirectory(prefix="davit-packages.") as folder:
        os.chmod(folder, 0o755)
        test(report, System(folder))
    print(f"packages: {report.passed} passed, {report.failed} failed")
    sys.exit(1 if report.failed else 0)


def test(report, system):
    packages = install(report, system)
    options = system.root / f"etc/davit/{INSTANCE}.conf"
    options.write_text("DAVIT_OPTIONS=--title Package-test\n")
    serve(report, system)
    upgraded = system.run("apt-get", "-qq", "install", "--yes", "--reinstall", *packages)
    report.check("the packages are upgraded", upgraded.returncode == 0, upgraded.stdout + upgraded.stderr)
    report.check("an upgrade keeps the configuration",
                 options.read_text() == "DAVIT_OPTIONS=--title Package-test\n")
    serve(report, system)
    purged = system.run("apt-get", "-qq", "purge", "--yes", "davit", "davit-doc")
    report.check("the packages are purged", purged.returncode == 0, purged.stdout + purged.stderr)
    report.check("a purge leaves people's files", (system.root / "srv/files/hello.txt").read_bytes() == b"hello")
    report.check("a purge leaves the state", system.has(f"/var/lib/davit/{INSTANCE}"))
    for path in ("/usr/share/doc/davit", "/usr/bin/davit", "/lib/systemd/system/davit@.service"):
        report.check(f"{path} is purged", not system.has(path))


main()
