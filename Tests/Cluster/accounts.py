"""Accounts, rights and commands of a share that several davit nodes serve."""

import base64
import http.client
import subprocess
import threading
import time

from uploads import create

LIMIT_SECONDS = 20


def basic(name, password):
    return "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()


def eventually(body):
    """Waits until `body` returns true: other nodes read changes of accounts once a second."""
    end = time.monotonic() + LIMIT_SECONDS
    while time.monotonic() < end:
        try:
            if body():
                return True
        except (http.client.HTTPException, OSError):
            # The server ends requests of credentials that are no longer valid.
            pass
        time.sleep(0.05)
    return False


def sessions(report, one, two):
    """A browser that has signed in with one node is known to the others, until it signs out with any of them."""
    def sign_in(node):
        status, fields, _ = node.ask("POST", "/?account", b"do=sign-in&name=anna&password=secret+of+anna",
                                     Content_Type="application/x-www-form-urlencoded", Sec_Fetch_Site="same-origin")
        report.check("sign-in with the form", status == 303, str(status))
        return (fields["Set-Cookie"] or "").partition(";")[0].partition("=")[2]

    def named(node, token):
        # The name contains the port of the address that the browser uses, which a load balancer makes the same for all nodes.
        return f"davit-{node.port}={token}"

    def reads(node, token):
        return node.status("GET", "/box/a", Cookie=named(node, token), Sec_Fetch_Site="same-origin") == 200

    token, other = sign_in(one), sign_in(one)
    report.check("the session is valid on both nodes", reads(one, token) and reads(two, token) and reads(two, other))
    report.check("a changed cookie is not", not reads(two, token[:-1] + ("0" if token[-1] != "0" else "1")))
    status = two.status("POST", "/?account", b"do=sign-out", Cookie=named(two, token), Sec_Fetch_Site="same-origin",
                        Content_Type="application/x-www-form-urlencoded")
    report.check("sign-out with the other node", status == 303, str(status))
    report.check("the session has ended there", not reads(two, token))
    report.check("and on the first node", eventually(lambda: not reads(one, token)))
    report.check("another session continues", reads(one, other) and reads(two, other))


def accounts(report, davit, start, url):
    """`url` names the share for commands; `start` starts a node of it."""
    def run(*words, standard_input=""):
        done = subprocess.run([str(davit), *words], input=standard_input, capture_output=True, text=True, timeout=120)
        return done.returncode, done.stdout + done.stderr

    def succeed(*words, standard_input=""):
        code, text = run(*words, standard_input=standard_input)
        report.check(f"davit {words[0]} {words[1]}", code == 0, text)
        return text

    succeed("account", "add", url, "anna", "--rights", "all", standard_input="secret of anna\n")
    succeed("account", "add", url, "ben", standard_input="secret of ben\n")
    anna, ben = basic("anna", "secret of anna"), basic("ben", "secret of ben")
    with start() as one, start() as two:
        report.check("a client must sign in", one.status("PROPFIND", "/", Depth="0") == 401)
        report.check("MKCOL with rights", one.status("MKCOL", "/box", Authorization=anna) == 201)
        report.check("PUT with rights", two.status("PUT", "/box/a", b"1", Authorization=anna) == 201)
        report.check("no rights", two.status("GET", "/box/a", Authorization=ben) in (403, 404))
        succeed("access", "set", url, "user:ben", "/box", "view")
        for node in (one, two):
            report.check("a new right is in effect on each node immediately",
                         node.status("GET", "/box/a", Authorization=ben) == 200)
        report.check("a right that is not granted", two.status("PUT", "/box/b", b"2", Authorization=ben) == 403)

        sessions(report, one, two)

        # The rules move with their folder, on all nodes.
        report.check("MOVE of a folder with rules",
                     one.status("MOVE", "/box", Destination=one.url("/moved"), Authorization=anna) == 201)
        for node in (one, two):
            report.check("the rules have moved", eventually(
                lambda: node.status("GET", "/moved/a", Authorization=ben) == 200), node.text()[-300:])
        text = succeed("access", "list", url)
        report.check("the command knows of it", "/moved" in text and "/box" not in text, text)

        # A restriction holds on each node as soon as the command has ended.
        succeed("access", "set", url, "user:anna", "/moved", "none")
        for node in (one, two):
            status = node.status("GET", "/moved/a", Authorization=anna)
            report.check("a restriction is in effect immediately", status in (403, 404), str(status))
        succeed("access", "remove", url, "user:anna", "/moved")

        # It is never possible to read a restricted folder while it moves to and fro.
        one.status("MKCOL", "/secret", Authorization=anna)
        one.status("PUT", "/secret/x", b"x", Authorization=anna)
        succeed("access", "set", url, "user:ben", "/", "view")
        succeed("access", "set", url, "user:ben", "/secret", "none")
        eventually(lambda: two.status("GET", "/moved/a", Authorization=ben) == 200
                   and two.status("GET", "/secret/x", Authorization=ben) in (403, 404))
        leaks, moves, is_over = [], [], []

        def read():
            while not is_over:
                for node in (one, two):
                    for path in ("/secret/x", "/other/x"):
                        if node.status("GET", path, Authorization=ben) == 200:
                            leaks.append(path)

        readers = [threading.Thread(target=read) for _ in range(3)]
        for reader in readers:
            reader.start()
        for index in range(20):
            source, target = ("/secret", "/other") if index % 2 == 0 else ("/other", "/secret")
            node = (one, two)[index // 2 % 2]
            eventually(lambda: moves.append(node.status("MOVE", source, Destination=node.url(target), Authorization=anna))
                       or moves[-1] == 201)
        is_over.append(True)
        for reader in readers:
            reader.join()
        report.check("a restricted folder moves", moves.count(201) == 20, str(moves))
        report.check("nothing restricted is read meanwhile", not leaks, str(leaks[:5]))
        report.check("it can be read with rights",
                     eventually(lambda: one.status("GET", "/secret/x", Authorization=anna) == 200))

        # The trash keeps the rules.
        report.check("DELETE of a folder with rules",
                     eventually(lambda: two.status("DELETE", "/secret", Authorization=anna) == 204))
        text = succeed("access", "list", url)
        report.check("its rules do not apply any more", "/secret" not in text, text)

        # Credentials.
        succeed("account", "password", url, "ben", standard_input="another secret\n")
        for node in (one, two):
            report.check("the old password is refused", eventually(
                lambda: node.status("GET", "/moved/a", Authorization=ben) == 401))
            report.check("the new password is accepted", eventually(
                lambda: node.status("GET", "/moved/a", Authorization=basic("ben", "another secret")) == 200))
        succeed("account", "disable", url, "ben")
        for node in (one, two):
            report.check("a disabled account is refused", eventually(
                lambda: node.status("GET", "/moved/a", Authorization=basic("ben", "another secret")) == 401))
        code, text = run("account", "add", url, "anna", standard_input="x y z secret\n")
        report.check("an account that exists", code != 0 and "exists" in text, text)

        # Other commands.
        body = (b'<?xml version="1.0"?><lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope>'
                b"<locktype><write/></locktype></lockinfo>")
        report.check("LOCK", one.status("LOCK", "/moved/a", body, Timeout="Second-600", Authorization=anna) == 200)
        text = succeed("locks", "list", url)
        report.check("locks are listed", "/moved/a" in text, text)
        code, text = run("locks", "break", url, "/moved/a")
        report.check("a lock is removed", code == 0, text)
        report.check("for all nodes", two.status("PUT", "/moved/a", b"3", Authorization=anna) == 204)
        create(one, "/moved/up", b"part", Authorization=anna)
        text = succeed("uploads", "list", url)
        report.check("uploads are listed", "/moved/up" in text, text)
        text = succeed("trash", "list", url)
        report.check("the trash is listed", "nothing" in text or "empty" in text or "secret" in text, text)


def shares(report, davit, start, url):
    """Accounts are those of all shares of a database, and rules those of one. `start` and `url` take the name of a share."""
    def succeed(*words, standard_input=""):
        done = subprocess.run([str(davit), *words], input=standard_input, capture_output=True, text=True, timeout=120)
        report.check(f"davit {words[0]} {words[1]}", done.returncode == 0, done.stdout + done.stderr)

    def status(node, method="GET"):
        return node.status(method, "/file", b"x" if method == "PUT" else None, Authorization=dora)

    # The second share is made after the accounts.
    succeed("account", "add", url("first"), "dora", "--rights", "edit", standard_input="secret of dora\n")
    dora = basic("dora", "secret of dora")
    with start("first") as first, start("second") as second:
        report.check("an account in its share", status(first, "PUT") == 201)
        report.check("a share that is made later requires accounts, too", second.status("PROPFIND", "/", Depth="0") == 401)
        report.check("and knows them, without rights", status(second, "PUT") == 403)
        succeed("access", "set", url("second"), "user:dora", "/", "edit")
        report.check("a rule of the second share", status(second, "PUT") == 201)
        succeed("access", "set", url("second"), "user:dora", "/", "none")
        report.check("is none of the first one", status(second) in (403, 404) and status(first) == 200)

        # Rules that change all the time, in another share, do not interrupt requests.
        bad, is_over = [], threading.Event()

        def read():
            while not is_over.is_set():
                found = status(first)
                if found != 200:
                    bad.append(found)

        readers = [threading.Thread(target=read) for _ in range(3)]
        for reader in readers:
            reader.start()
        for rights in ("view", "none") * 5:
            succeed("access", "set", url("second"), "user:dora", "/", rights)
        is_over.set()
        for reader in readers:
            reader.join()
        report.check("requests to the first share succeed while rules of the second one change", not bad, str(bad[:5]))
        succeed("account", "disable", url("second"), "dora")
        for node in (first, second):
            report.check("an account that is disabled in one share is refused in both", eventually(lambda: status(node) == 401))
