"""The interrupted changes. Each scene prepares a share and consists of one request."""

from dav import DATED, LOCK_BODY, property_update

OLD = b"old content " * 500
NEW = b"new, longer content " * 700
# Exceeds the limit for buffers in memory, so the server writes it to a file while receiving it.
LARGE = b"large content " * 150_000


class Request:
    def __init__(self, method, path, body=None, **fields):
        self.method, self.path, self.body = method, path, body
        self.fields = {name.replace("_", "-"): value for name, value in fields.items()}


class Scene:
    """`build(client, tokens)` prepares the share and returns the request; it adds lock tokens to `tokens`."""

    def __init__(self, name, build, needs_volume=False, fail_call=None, sync="none", keeps=False, mounts=False,
                 has_rules=False):
        """`needs_volume`: whether /other is a separate volume. `fail_call`: the calls that the volume does not support.
        `keeps`: whether the share has a trash. `mounts`: whether the server mounts another folder at /other.
        `has_rules`: whether the share has an account database; clients that have not signed in have all rights."""
        self.name, self.build, self.sync, self.keeps = name, build, sync, keeps
        self.needs_volume, self.fail_call, self.mounts = needs_volume, fail_call, mounts
        self.has_rules = has_rules


def make_tree(client, root, text):
    client.must("MKCOL", root)
    client.must("MKCOL", f"{root}/inner")
    client.put(f"{root}/first", text)
    client.put(f"{root}/inner/second", text + b"!")
    client.put(f"{root}/inner/empty", b"")


def add_properties(client, root, text):
    client.set(root, one=f"{text} of the root")
    client.set(f"{root}/inner/second", one=f"{text} below", two=text)


def put_new(client, tokens):
    return Request("PUT", "/new", NEW)


def put_over(client, tokens):
    client.put("/file", OLD)
    return Request("PUT", "/file", NEW)


def put_over_with_rows(client, tokens):
    client.put("/file", OLD)
    client.set("/file", one="first", two="second")
    tokens["taken"] = client.lock("/file")
    return Request("PUT", "/file", NEW, If=f"(<{tokens['taken']}>)")


def put_empty_over_with_properties(client, tokens):
    client.put("/file", OLD)
    client.set("/file", one="first")
    return Request("PUT", "/file", b"")


def begin_upload(client, path, sent=b"", **fields):
    """Creates an upload with `sent` as its partial content, and returns its URL."""
    upload = client.must("PUT", path, {"Upload-Complete": "?0", **fields}, b"").fields["Location"]
    if sent:
        client.must("PATCH", upload, piece(0, False), sent)
    return upload


def piece(offset, is_last, **fields):
    return {"Content-Type": "application/partial-upload", "Upload-Offset": str(offset),
            "Upload-Complete": "?1" if is_last else "?0", **fields}


class UploadRequest(Request):
    """The last part of an upload, which can be resumed after a kill, or a complete upload whose URL the client does not
    know."""

    def __init__(self, method, path, content, sent=0, fields=None, condition=None):
        super().__init__(method, path, content[sent:])
        self.content, self.condition, self.is_begun = content, condition, method == "PATCH"
        self.fields = dict(fields or piece(sent, True))

    def rest(self, offset):
        """Returns the fields and the content that complete the upload."""
        return piece(offset, True, **({"If": self.condition} if self.condition else {})), self.content[offset:]


def upload_end(client, tokens):
    return UploadRequest("PATCH", begin_upload(client, "/new", LARGE), LARGE + LARGE, len(LARGE))


def upload_end_over_with_rows(client, tokens):
    client.put("/file", OLD)
    client.set("/file", one="first", two="second")
    tokens["taken"] = client.lock("/file")
    condition = f"(<{tokens['taken']}>)"
    upload = begin_upload(client, "/file", LARGE, If=condition)
    return UploadRequest("PATCH", upload, LARGE + NEW, len(LARGE), condition=condition)


def upload_whole(client, tokens):
    client.put("/file", OLD)
    return UploadRequest("PUT", "/file", LARGE, fields={
        "Upload-Complete": "?1", "Upload-Draft-Interop-Version": "8"})


def upload_end_in_moved_folder(client, tokens):
    client.must("MKCOL", "/folder")
    upload = begin_upload(client, "/folder/new", NEW)
    client.must("MOVE", "/folder", {"Destination": "/moved"})
    return UploadRequest("PATCH", upload, NEW, len(NEW))


def put_large_new(client, tokens):
    return Request("PUT", "/new", LARGE)


def put_large_over_with_properties(client, tokens):
    client.put("/file", OLD)
    client.set("/file", one="first")
    return Request("PUT", "/file", LARGE)


def part(path, body, range_, **fields):
    return Request("PATCH", path, body, Content_Type="application/x-sabredav-partialupdate",
                   X_Update_Range=range_, **fields)


def put_part(client, tokens):
    client.put("/file", OLD)
    end = 99 + len(NEW)
    return Request("PUT", "/file", NEW, Content_Range=f"bytes 100-{end}/{end + 1}")


def put_part_new(client, tokens):
    return Request("PUT", "/new", NEW, Content_Range=f"bytes 0-{len(NEW) - 1}/*")


def patch_with_rows(client, tokens):
    client.put("/file", OLD)
    client.set("/file", one="first", two="second")
    tokens["taken"] = client.lock("/file")
    return part("/file", NEW, "append", If=f"(<{tokens['taken']}>)")


def patch_large(client, tokens):
    client.put("/file", LARGE)
    client.set("/file", one="first")
    return part("/file", LARGE, "bytes=1000-")


def add_member(client, tokens):
    client.put("/file.txt", OLD)
    return Request("POST", "/?add-member", NEW, Slug="file.txt")


def mkcol(client, tokens):
    return Request("MKCOL", "/folder")


def mkcol_with_properties(client, tokens):
    body = (
        '<?xml version="1.0"?><D:mkcol xmlns:D="DAV:" xmlns:T="urn:test:"><D:set><D:prop><D:resourcetype>'
        "<D:collection/></D:resourcetype><T:one>first</T:one><T:two>second</T:two></D:prop></D:set></D:mkcol>")
    return Request("MKCOL", "/folder", body.encode(), Content_Type="application/xml")


def delete_file(client, tokens):
    client.put("/file", OLD)
    return Request("DELETE", "/file")


def delete_file_with_rows(client, tokens):
    client.put("/file", OLD)
    client.set("/file", one="first")
    tokens["taken"] = client.lock("/file")
    return Request("DELETE", "/file", If=f"(<{tokens['taken']}>)")


def delete_tree(client, tokens):
    make_tree(client, "/tree", OLD)
    return Request("DELETE", "/tree")


def delete_tree_with_properties(client, tokens):
    make_tree(client, "/tree", OLD)
    add_properties(client, "/tree", "old")
    return Request("DELETE", "/tree")


def delete_on_other_volume(client, tokens):
    make_tree(client, "/other/tree", OLD)
    add_properties(client, "/other/tree", "old")
    return Request("DELETE", "/other/tree")


def ruled_tree(method, path="/tree", destination=None, has_properties=False):
    """Returns a builder of a request for a folder with rules, also for a folder in it."""

    def build(client, tokens):
        make_tree(client, path, OLD)
        client.rule("anonymous", path, "all")
        client.rule("everyone", f"{path}/inner", "none")
        client.rule("anonymous", f"{path}/inner", "edit")
        if has_properties:
            add_properties(client, path, "old")
        return Request(method, path, **({"Destination": destination} if destination else {}))

    return build


def ruled(name, build, **options):
    return Scene(f"{name} with rules", build, has_rules=True, **options)


def restore(build, path, taken="rename", **options):
    """Returns a scene that restores what the request of `build` has moved to the trash."""

    def built(client, tokens):
        request = build(client, tokens)
        answer = client.must(request.method, request.path, request.fields, request.body)
        tokens.clear()
        body = f"id={answer.fields['Davit-Trash']}&taken={taken}".encode()
        return Request("POST", "/?action=restore", body, Sec_Fetch_Site="same-origin",
                       Content_Type="application/x-www-form-urlencoded")

    return Scene(f"restore {path}", built, keeps=True, **options)


def kept(scene, suffix=", kept", **options):
    """Returns the same scene with a trash."""
    return Scene(scene.name + suffix, scene.build, keeps=True, needs_volume=scene.needs_volume, mounts=scene.mounts,
                 **options)


def transfer(method, source, destination, places=("/a", "/b"), suffix="", **options):
    """Returns a scene with COPY or MOVE; source and destination are pairs: the kind of resource, and whether it has
    properties."""

    def build(client, tokens):
        for path, (kind, has_properties), text in zip(places, (source, destination), (OLD, NEW)):
            if kind == "file":
                client.put(path, text)
                if has_properties:
                    client.set(path, one=f"one of {path}", **{"two" if path == places[0] else "three": path})
            elif kind == "tree":
                make_tree(client, path, text)
                if has_properties:
                    add_properties(client, path, path)
        return Request(method, places[0], Destination=places[1])

    def words(side):
        kind, has_properties = side
        return kind + (" with properties" if has_properties else "")

    return Scene(f"{method} {words(source)} to {words(destination)}{suffix}", build, **options)


def copy_under_lock(client, tokens):
    client.put("/a", OLD)
    client.set("/a", one="copied")
    client.put("/b", NEW)
    tokens["taken"] = client.lock("/b")
    return Request("COPY", "/a", Destination="/b", If=f"</b> (<{tokens['taken']}>)")


def move_locked(client, tokens):
    client.put("/a", OLD)
    client.set("/a", one="moved")
    tokens["taken"] = client.lock("/a")
    return Request("MOVE", "/a", Destination="/b", If=f"(<{tokens['taken']}>)")


def move_locked_across_volumes(client, tokens):
    client.put("/a", OLD)
    client.set("/a", one="moved")
    client.put("/other/b", NEW)
    tokens["source"] = client.lock("/a")
    tokens["destination"] = client.lock("/other/b")
    return Request("MOVE", "/a", Destination="/other/b",
                   If=f"</a> (<{tokens['source']}>) </other/b> (<{tokens['destination']}>)")


def proppatch_first(client, tokens):
    client.put("/file", OLD)
    return Request("PROPPATCH", "/file", property_update(one="new", two="also new"))


def proppatch_more(client, tokens):
    client.put("/file", OLD)
    client.set("/file", one="first", two="second")
    return Request("PROPPATCH", "/file", property_update(one="changed", two=None, three="third"))


def proppatch_collection(client, tokens):
    client.must("MKCOL", "/folder")
    client.set("/folder", one="first")
    return Request("PROPPATCH", "/folder", property_update(one=None, two="second"))


def proppatch_executable(client, tokens):
    client.put("/file", OLD)
    client.set("/file", one="first")
    body = property_update(one="changed").replace(
        b"<D:prop>", b'<D:prop><A:executable xmlns:A="http://apache.org/dav/props/">T</A:executable>', 1)
    return Request("PROPPATCH", "/file", body)


def proppatch_modified(client, tokens):
    client.put("/file", OLD)
    client.set("/file", one="first")
    body = property_update(one="changed").replace(
        b"<D:prop>", b"<D:prop><D:getlastmodified>" + DATED.encode() + b"</D:getlastmodified>", 1)
    return Request("PROPPATCH", "/file", body)


def lock(path, depth="0", scope="exclusive"):
    return Request("LOCK", path, LOCK_BODY.format(scope=scope).encode(), Depth=depth, Timeout="Second-3600")


def lock_file(client, tokens):
    client.put("/file", OLD)
    return lock("/file")


def lock_free_name(client, tokens):
    return lock("/new")


def lock_tree_shared(client, tokens):
    make_tree(client, "/tree", OLD)
    tokens["other"] = client.lock("/tree", scope="shared", depth="infinity")
    return lock("/tree", depth="infinity", scope="shared")


def refresh(client, tokens):
    client.put("/file", OLD)
    tokens["taken"] = client.lock("/file")
    return Request("LOCK", "/file", If=f"(<{tokens['taken']}>)", Timeout="Second-1800")


def unlock(client, tokens):
    client.put("/file", OLD)
    tokens["taken"] = client.lock("/file")
    return Request("UNLOCK", "/file", Lock_Token=f"<{tokens['taken']}>")


NOTHING = ("free name", False)
FILE, FILE_ROWS = ("file", False), ("file", True)
TREE, TREE_ROWS = ("tree", False), ("tree", True)

# Simulates volumes without unnamed files, and without renames that exchange or that refuse to replace.
PLAIN = "opentmpfile:ENOTSUP,renameat2:EINVAL"

SCENES = [
    Scene("PUT new", put_new),
    Scene("PUT new, large", put_large_new),
    Scene("PUT over a file, large, properties", put_large_over_with_properties),
    Scene("PUT over a file", put_over),
    Scene("upload, last part", upload_end),
    Scene("upload, last part, properties and lock", upload_end_over_with_rows),
    Scene("upload in one request, replacing", upload_whole),
    Scene("upload, last part in a folder that was moved", upload_end_in_moved_folder),
    Scene("PUT over a file, properties and lock", put_over_with_rows),
    Scene("PUT empty over, properties", put_empty_over_with_properties),
    Scene("PUT of a part", put_part),
    Scene("PUT of a part, new", put_part_new),
    Scene("PATCH, properties and lock", patch_with_rows),
    Scene("PATCH large, properties", patch_large),
    Scene("POST add-member", add_member),
    Scene("MKCOL", mkcol),
    Scene("MKCOL with properties", mkcol_with_properties),
    Scene("DELETE file", delete_file),
    Scene("DELETE file, properties and lock", delete_file_with_rows),
    Scene("DELETE tree", delete_tree),
    Scene("DELETE tree with properties", delete_tree_with_properties),
    *[transfer("COPY", source, destination) for source, destination in (
        (FILE, NOTHING), (FILE_ROWS, NOTHING), (FILE, FILE), (FILE_ROWS, FILE_ROWS), (FILE, FILE_ROWS),
        (TREE, NOTHING), (TREE_ROWS, NOTHING), (TREE, TREE), (TREE_ROWS, TREE_ROWS), (TREE, FILE_ROWS))],
    *[transfer("MOVE", source, destination) for source, destination in (
        (FILE, NOTHING), (FILE_ROWS, NOTHING), (FILE, FILE), (FILE_ROWS, FILE_ROWS), (FILE, FILE_ROWS),
        (TREE, NOTHING), (TREE_ROWS, NOTHING), (TREE, TREE), (TREE_ROWS, TREE_ROWS), (FILE_ROWS, TREE_ROWS),
        (TREE_ROWS, FILE_ROWS))],
    Scene("COPY onto a locked file", copy_under_lock),
    Scene("MOVE a locked file", move_locked),
    Scene("PROPPATCH, first property", proppatch_first),
    Scene("PROPPATCH, set and remove", proppatch_more),
    Scene("PROPPATCH collection", proppatch_collection),
    Scene("PROPPATCH, properties and execute bits", proppatch_executable),
    Scene("PROPPATCH, properties and time", proppatch_modified),
    Scene("LOCK file", lock_file),
    Scene("LOCK free name", lock_free_name),
    Scene("LOCK tree, a second shared one", lock_tree_shared),
    Scene("LOCK refresh", refresh),
    Scene("UNLOCK", unlock),
    *[transfer("MOVE", source, destination, ("/a", "/other/b"), " on another volume", needs_volume=True)
      for source, destination in (
          (FILE, NOTHING), (FILE_ROWS, NOTHING), (FILE, FILE), (FILE_ROWS, FILE_ROWS), (TREE, NOTHING),
          (TREE_ROWS, TREE_ROWS))],
    transfer("MOVE", TREE_ROWS, FILE_ROWS, ("/other/a", "/b"), " on another volume, back", needs_volume=True),
    transfer("COPY", TREE_ROWS, TREE_ROWS, ("/a", "/other/b"), " on another volume", needs_volume=True),
    Scene("MOVE a locked file over another file, on another volume", move_locked_across_volumes, needs_volume=True),
    *[transfer("MOVE", source, destination, ("/a", "/other/b"), " in a mounted folder", mounts=True)
      for source, destination in ((FILE, NOTHING), (FILE_ROWS, FILE_ROWS), (TREE_ROWS, TREE_ROWS))],
    *[transfer("MOVE", source, destination, ("/a", "/other/b"), " in a mounted folder on another volume",
               mounts=True, needs_volume=True)
      for source, destination in ((FILE_ROWS, NOTHING), (FILE_ROWS, FILE_ROWS), (TREE_ROWS, TREE_ROWS))],
    transfer("MOVE", TREE_ROWS, FILE_ROWS, ("/other/a", "/b"), " in a mounted folder on another volume, back",
             mounts=True, needs_volume=True),
    transfer("COPY", TREE_ROWS, TREE_ROWS, ("/a", "/other/b"), " in a mounted folder", mounts=True),
    *[Scene(f"{scene.name}, plain volume", scene.build, fail_call=PLAIN) for scene in (
        Scene("PUT new", put_new),
        Scene("PUT over a file, properties and lock", put_over_with_rows),
        Scene("PATCH, properties and lock", patch_with_rows),
        Scene("upload, last part", upload_end),
        Scene("MKCOL with properties", mkcol_with_properties),
        Scene("DELETE tree with properties", delete_tree_with_properties),
        Scene("LOCK free name", lock_free_name),
        transfer("COPY", FILE_ROWS, NOTHING),
        transfer("COPY", TREE_ROWS, TREE_ROWS),
        transfer("MOVE", FILE_ROWS, NOTHING),
        transfer("MOVE", FILE_ROWS, FILE_ROWS),
        transfer("MOVE", TREE_ROWS, TREE_ROWS),
        transfer("MOVE", FILE, NOTHING))],
    *[Scene(f"{scene.name}, synced", scene.build, sync="full") for scene in (
        Scene("PUT over a file, properties and lock", put_over_with_rows),
        Scene("PATCH, properties and lock", patch_with_rows),
        Scene("upload, last part, properties and lock", upload_end_over_with_rows),
        Scene("MKCOL with properties", mkcol_with_properties),
        Scene("DELETE file, properties and lock", delete_file_with_rows),
        Scene("PROPPATCH, properties and execute bits", proppatch_executable),
        Scene("PROPPATCH, properties and time", proppatch_modified),
        Scene("LOCK free name", lock_free_name),
        transfer("COPY", TREE_ROWS, TREE_ROWS),
        transfer("MOVE", FILE_ROWS, FILE_ROWS))],
    *[kept(scene) for scene in (
        Scene("DELETE file", delete_file),
        Scene("DELETE file, properties and lock", delete_file_with_rows),
        Scene("DELETE tree", delete_tree),
        Scene("DELETE tree with properties", delete_tree_with_properties),
        Scene("DELETE tree with properties on another volume", delete_on_other_volume, needs_volume=True),
        Scene("PUT over a file", put_over),
        Scene("PUT over a file, large, properties", put_large_over_with_properties),
        Scene("PUT over a file, properties and lock", put_over_with_rows),
        Scene("PATCH, properties and lock", patch_with_rows),
        transfer("COPY", FILE, FILE), transfer("COPY", FILE_ROWS, FILE_ROWS),
        transfer("COPY", TREE_ROWS, TREE_ROWS),
        transfer("MOVE", FILE, FILE), transfer("MOVE", FILE_ROWS, FILE_ROWS), transfer("MOVE", TREE, TREE),
        transfer("MOVE", TREE_ROWS, FILE_ROWS),
        transfer("MOVE", TREE_ROWS, TREE_ROWS, ("/a", "/other/b"), " on another volume", needs_volume=True),
        transfer("MOVE", TREE_ROWS, TREE_ROWS, ("/a", "/other/b"), " in a mounted folder on another volume",
                 mounts=True, needs_volume=True))],
    restore(delete_file, "file"),
    restore(delete_tree_with_properties, "tree with properties"),
    restore(put_over, "version over content", "replace"),
    restore(put_large_over_with_properties, "version over content with properties", "replace"),
    ruled("MOVE tree", ruled_tree("MOVE", destination="/moved")),
    ruled("MOVE tree with properties", ruled_tree("MOVE", destination="/moved", has_properties=True)),
    ruled("MOVE tree in a mounted folder", ruled_tree("MOVE", destination="/other/moved"), mounts=True),
    ruled("DELETE tree", ruled_tree("DELETE")),
    ruled("DELETE tree, kept", ruled_tree("DELETE"), keeps=True),
    ruled("DELETE tree with properties, kept", ruled_tree("DELETE", has_properties=True), keeps=True),
    restore(ruled_tree("DELETE"), "tree with rules", has_rules=True),
    *[kept(scene, ", kept, synced", sync="full") for scene in (
        Scene("DELETE file", delete_file), Scene("PUT over a file, properties and lock", put_over_with_rows),
        transfer("MOVE", FILE_ROWS, FILE_ROWS))],
    *[kept(scene, ", kept, plain volume", fail_call=PLAIN) for scene in (
        Scene("DELETE file", delete_file), Scene("DELETE tree with properties", delete_tree_with_properties),
        Scene("PUT over a file, properties and lock", put_over_with_rows))],
]
