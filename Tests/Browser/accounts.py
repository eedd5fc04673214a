"""Support for tests with accounts that have different rights."""

import base64
import subprocess

PASSWORD = "correct horse"


def command(lab, *arguments, password=None):
    """Runs a `davit` command on the share, with or without a running server."""
    done = subprocess.run(
        [lab.arguments.davit, *arguments[:2], str(lab.share), *arguments[2:], "--state-dir", str(lab.work / "state")],
        input=f"{password}\n" if password else None, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{arguments}: {done.stdout}{done.stderr}"
    return done.stdout


def prepare(lab, rules=(), names=("anna", "ben"), groups=None):
    """Creates accounts and rules, each (subject, path, rights), and starts the server. Anna may do everything."""
    for name in names:
        command(lab, "account", "add", name, *(["--rights", "all"] if name == "anna" else []), password=PASSWORD)
    for group, members in (groups or {}).items():
        command(lab, "group", "add", group)
        for member in members:
            command(lab, "group", "join", group, member)
    for subject, path, rights in rules:
        command(lab, "access", "set", subject, path, rights)
    lab.start("--trash")


def credentials(name, password=PASSWORD):
    """Returns the options of a context that sends Basic with each request: browsers would otherwise get the form."""
    token = base64.b64encode(f"{name}:{password}".encode()).decode()
    return {"extra_http_headers": {"Authorization": f"Basic {token}"}}


def open_as(lab, name, path="", **options):
    """Opens the page with the account."""
    return lab.page(path, lab.context(**credentials(name), **options))
