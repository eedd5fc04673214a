"""Sessions of Python's WebDAV clients: python_clients.py CLIENT URL TREE WORK

Prints `ok WHAT` or `not ok WHAT` for each check, and `done` at the end.
"""

import filecmp
import os
import sys
import traceback

USER, PASSWORD = os.environ["USER_NAME"], os.environ["PASSWORD"]
SCHEMES, AUTHORITY = os.environ["SCHEMES"], os.environ["AUTHORITY"]


def fact(what, check):
    try:
        holds = check()
    except Exception:
        traceback.print_exc()
        holds = False
    print("ok" if holds else "not ok", what, flush=True)


def refuses(call, *names):
    try:
        call()
    except Exception as error:
        return type(error).__name__ in names
    return False


def same(a, b):
    """Returns whether two trees have the same names and content."""
    seen = filecmp.dircmp(a, b)
    _, wrong, odd = filecmp.cmpfiles(a, b, seen.common_files, shallow=False)
    if seen.left_only or seen.right_only or wrong or odd:
        print(seen.left_only, seen.right_only, wrong, odd, file=sys.stderr)
        return False
    return all(same(os.path.join(a, name), os.path.join(b, name)) for name in seen.common_dirs)


def webdav4(url, tree, work):
    import httpx
    from webdav4.client import Client
    from webdav4.fsspec import WebdavFileSystem

    options = {"verify": AUTHORITY or True}
    if USER:
        options["auth"] = httpx.DigestAuth(USER, PASSWORD) if SCHEMES == "digest" else (USER, PASSWORD)
    client = Client(url, **options)
    client.mkdir("four")
    fact("exists", lambda: client.exists("four") and not client.exists("absent"))
    fact("isdir and isfile", lambda: client.isdir("four") and not client.isfile("four"))
    fact("mkdir of an existing folder is refused", lambda: refuses(lambda: client.mkdir("four"), "ResourceAlreadyExists"))
    for folder, _, files in os.walk(tree):
        target = os.path.join("four/tree", os.path.relpath(folder, tree))
        target = os.path.normpath(target)
        client.mkdir(target)
        for name in files:
            client.upload_file(os.path.join(folder, name), target + "/" + name)
    names = sorted(os.listdir(os.path.join(tree, "odd names")))
    fact("ls lists the names", lambda: sorted(
        os.path.basename(entry["name"]) for entry in client.ls("four/tree/odd names")) == names)
    large = os.path.join(tree, "large.bin")
    fact("content_length", lambda: client.content_length("four/tree/large.bin") == os.path.getsize(large))
    fact("etag and modified", lambda: client.etag("four/tree/large.bin") and client.modified("four/tree/large.bin"))
    fact("created", lambda: client.created("four/tree/large.bin") is not None)

    def downloads():
        client.download_file("four/tree/large.bin", os.path.join(work, "four.bin"))
        return filecmp.cmp(large, os.path.join(work, "four.bin"), shallow=False)

    fact("downloads", downloads)

    def reads_a_part():
        with client.open("four/tree/large.bin", mode="rb") as remote, open(large, "rb") as local:
            remote.seek(1000000)
            local.seek(1000000)
            return remote.read(70000) == local.read(70000)

    fact("reads a range", reads_a_part)
    fact("an upload does not overwrite by default", lambda: refuses(
        lambda: client.upload_file(large, "four/tree/large.bin"), "ResourceAlreadyExists"))
    client.copy("four/tree/large.bin", "four/copy.bin")
    fact("copy", lambda: client.content_length("four/copy.bin") == os.path.getsize(large))
    client.move("four/copy.bin", "four/moved.bin")
    fact("move", lambda: client.exists("four/moved.bin") and not client.exists("four/copy.bin"))
    client.copy("four/tree", "four/tree 2")
    fact("a copied folder is complete", lambda: len(client.ls("four/tree 2/odd names", detail=False)) == len(names))
    client.remove("four/tree 2")
    client.remove("four/moved.bin")
    fact("remove", lambda: not client.exists("four/tree 2") and not client.exists("four/moved.bin"))
    fact("a missing file is reported", lambda: refuses(lambda: client.remove("four/absent"), "ResourceNotFound"))

    system = WebdavFileSystem(url, client=client)
    with system.open("four/written", "wb") as file:
        file.write(b"text" * 1000)
    fact("fsspec writes and reads", lambda: system.cat("four/written") == b"text" * 1000)
    fact("fsspec finds", lambda: "four/tree/large.bin" in system.find("four"))
    system.rm("four/written")
    fact("fsspec removes", lambda: not system.exists("four/written"))


def webdavclient3(url, tree, work):
    from webdav3.client import Client

    options = {"webdav_hostname": url.rstrip("/")}
    if USER:
        options |= {"webdav_login": USER, "webdav_password": PASSWORD}
    client = Client(options)
    client.verify = AUTHORITY or True
    # webdavclient3 maps file names to URLs in its own way, so only plain names are tested here.
    fact("mkdir", lambda: client.mkdir("three"))
    fact("check", lambda: client.check("three") and not client.check("absent"))
    client.upload_sync(remote_path="three/tree", local_path=tree)
    fact("list", lambda: sorted(name.rstrip("/") for name in client.list("three/tree")) == sorted(os.listdir(tree)))
    fact("info has the size", lambda: int(client.info("three/tree/large.bin")["size"]) == os.path.getsize(
        os.path.join(tree, "large.bin")))
    fact("is_dir", lambda: client.is_dir("three/tree") and not client.is_dir("three/tree/large.bin"))
    fact("free space", lambda: int(client.free()) > 0)
    client.download_sync(remote_path="three/tree", local_path=os.path.join(work, "three"))
    fact("the tree is downloaded", lambda: same(tree, os.path.join(work, "three")))
    client.copy("three/tree/large.bin", "three/copy.bin")
    client.move("three/copy.bin", "three/moved.bin")
    fact("copy and move", lambda: client.check("three/moved.bin") and not client.check("three/copy.bin"))
    name = {"namespace": "urn:test", "name": "colour"}
    client.set_property("three/moved.bin", option=name | {"value": "blue"})
    fact("a property is kept", lambda: client.get_property("three/moved.bin", option=name) == "blue")
    client.clean("three/moved.bin")
    fact("clean", lambda: not client.check("three/moved.bin"))


if __name__ == "__main__":
    {"webdav4": webdav4, "webdavclient3": webdavclient3}[sys.argv[1]](*sys.argv[2:])
    print("done")
