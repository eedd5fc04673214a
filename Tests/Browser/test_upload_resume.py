"""Uploads that are paused, interrupted, killed or corrupted end with the right content."""

import contextlib
import os
import pathlib
import signal
import socket

from harness import DESKTOP, expect, test
from upload_support import (HEARD, QUEUE, Proxy, behind_proxy, choose, drop, expect_same, local, queue, ready,
                            reload, unrouted, wait_for_uploads, whole_digest)

MIB = 1 << 20


def half(lab, proxy, page, name="large.bin", size=48 * MIB, others=()):
    """Starts an upload and waits until about half has arrived."""
    mine = local(lab, name, size)
    proxy.hold_at(proxy.passed + 30 * MIB)
    choose(page, mine, *others)
    proxy.wait_for(29 * MIB)
    lab.until(page, "document.querySelector('.upload[data-state=running]') !== null")
    return mine


def hidden(lab):
    return [path.name for path in lab.share.iterdir() if path.name.startswith(".davit-")]


@test
def progress_is_visible_and_announced(lab):
    """Shows the progress of each file and in total, with speed and time, and announces it in quarters."""
    for name in ("Letters", "Photos"):
        (lab.share / name).mkdir()
    lab.write("Inventory.ods", b"x" * 24_000, mtime=1_750_000_000)
    with behind_proxy(lab, script=HEARD) as (proxy, page):
        small = local(lab, "Notes.md", 12_000)
        choose(page, small)
        wait_for_uploads(lab, page, 1)
        others = [local(lab, "Flyer.pdf", 3_500_000)]
        mine = half(lab, proxy, page, "Concert.mkv", others=others)
        figures = lab.until(page, "document.querySelector('.uploads-figures').textContent.includes('/s') && "
                                  "document.querySelector('.uploads-figures').textContent")
        assert "%" in figures and "left" in figures, figures
        value = page.evaluate("document.querySelector('.uploads-total').value")
        assert 0.2 < value < 0.9, value
        proxy.hold_at(None)
        wait_for_uploads(lab, page, 2)
        for one in [mine, *others]:
            expect_same(one, lab.share / one.name)
        lab.until(page, "heard.includes('2 uploaded')")
        heard = [text for text in page.evaluate("heard") if "uploaded" in text]
        assert len(heard) <= 6, heard


@test
def upload_can_be_paused_and_resumed(lab):
    lab.allow("Failed to load resource")
    with behind_proxy(lab) as (proxy, page):
        mine = half(lab, proxy, page)
        page.get_by_role("button", name="Pause large.bin").click()
        lab.until(page, "document.querySelector('.upload[data-state=paused]') !== null")
        lab.axe(page, "a paused upload")
        proxy.cut()
        proxy.hold_at(None)
        before = proxy.passed
        page.get_by_role("button", name="Resume large.bin").click()
        wait_for_uploads(lab, page, 1)
        expect_same(mine, lab.share / "large.bin")
        assert proxy.passed - before < 40 * MIB, f"{proxy.passed - before} bytes were sent after the pause"


@test
def lost_response_is_recovered_after_a_pause(lab):
    """After a lost response, the page recognizes its own upload and no other file, even if the server is not available
    immediately."""
    lab.allow("Failed to load resource")
    with behind_proxy(lab) as (_, page):
        mine = local(lab, "small.bin", 1000)
        arrived, looks = [], []

        def arrive(route):
            if route.request.method == "PROPFIND" and not looks:
                looks.append(route.request)
                return route.abort()
            if route.request.method != "PUT" or arrived:
                return route.continue_()
            lab.server.request("PUT", "/small.bin", mine.read_bytes(), X_OC_Mtime="1500000000")
            arrived.append(route)

        page.context.route("**/small.bin", arrive)
        choose(page, mine)
        page.get_by_role("button", name="Pause small.bin").wait_for()
        lab.wait_until(page, lambda: arrived)
        page.get_by_role("button", name="Pause small.bin").click()
        arrived[0].abort()
        page.get_by_role("button", name="Resume small.bin").click()
        wait_for_uploads(lab, page, 1)
        expect(len(looks), 1, "looks")
        expect_same(mine, lab.share / "small.bin")


@test
def paused_folder_resumes_without_choosing_files(lab):
    lab.allow("Failed to load resource")
    with behind_proxy(lab, script="delete DataTransferItem.prototype.getAsFileSystemHandle") as (proxy, page):
        # A folder is created only after its parent.
        held = []
        page.context.route("**/tree/", lambda route: held.append(route) if route.request.method == "MKCOL" and not held
                           else route.continue_())
        mine = local(lab, "tree/in/a.txt", 100)
        drop(page, lab.work / "mine/tree")
        lab.wait_until(page, lambda: held)
        page.get_by_role("button", name="Pause all").click()
        lab.until(page, QUEUE.replace("{expression}", "queue.count('paused') === 3"))
        reload(lab, proxy, page)
        held[0].abort()
        page.locator(".uploads-ask", has_text="1 upload was interrupted").wait_for()
        with page.expect_file_chooser() as chooser:
            page.get_by_role("button", name="Choose files…").click()
        chooser.value.set_files(str(mine))
        wait_for_uploads(lab, page, 1)
        expect_same(mine, lab.share / "tree/in/a.txt")


def replace(lab, page, path):
    """Chooses a file, and Replace in the dialog for the existing file of the same size and time but different content. Returns
    the path of the existing file."""
    there = lab.write(path.name, b"o" * path.stat().st_size, mtime=path.stat().st_mtime)
    choose(page, path)
    page.locator("dialog.conflict select").select_option("replace")
    return there


@test
def replaced_file_is_not_resumed(lab):
    """Files with equal size and time are distinguished, after a lost connection and after a reload."""
    lab.allow("Failed to load resource")
    with behind_proxy(lab, phone=True) as (proxy, page):
        first = local(lab, "first.bin", 9 * MIB)
        there = replace(lab, page, first)
        proxy.cut(True)
        page.locator("dialog.conflict .primary").click()
        lab.until(page, QUEUE.replace("{expression}", "queue.uploads('running')[0]?.note === 'upload.waitsForServer'"))
        proxy.up()
        wait_for_uploads(lab, page, 1)
        expect_same(first, there)
        second = local(lab, "second.bin", 9 * MIB)
        there = replace(lab, page, second)
        proxy.hold_at(proxy.passed + MIB)
        page.locator("dialog.conflict .primary").click()
        proxy.wait_for(proxy.limit - 100_000)
        reload(lab, proxy, page)
        # On a phone, the panel is collapsed unless it asks a question.
        with page.expect_file_chooser() as chooser:
            page.get_by_role("button", name="Choose files…").click()
        chooser.value.set_files(str(second))
        wait_for_uploads(lab, page, 1)
        expect_same(second, there)


@test
def cancelled_upload_leaves_no_files(lab):
    lab.allow("Failed to load resource")
    with behind_proxy(lab) as (proxy, page):
        half(lab, proxy, page)
        page.get_by_role("button", name="Cancel large.bin").click()
        proxy.hold_at(None)
        lab.until(page, "document.querySelector('.upload') === null")
        lab.wait_until(page, lambda: not hidden(lab))
        expect((hidden(lab), (lab.share / "large.bin").exists()), ([], False), "the remaining files")


@test
def upload_survives_a_network_interruption(lab):
    lab.allow("Failed to load resource")
    with behind_proxy(lab) as (proxy, page):
        mine = half(lab, proxy, page)
        proxy.cut(True)
        lab.until(page, "document.querySelector('.upload-status')?.textContent.startsWith('Waiting for connection')")
        proxy.hold_at(None)
        proxy.up()
        wait_for_uploads(lab, page, 1)
        expect_same(mine, lab.share / "large.bin")


@test(is_long=True)
def upload_survives_an_offline_browser(lab):
    lab.allow("Failed to load resource")
    with behind_proxy(lab) as (proxy, page):
        mine = half(lab, proxy, page)
        page.context.set_offline(True)
        proxy.cut()
        lab.until(page, "document.querySelector('.upload-status')?.textContent.startsWith('Waiting for connection')")
        proxy.hold_at(None)
        page.context.set_offline(False)
        wait_for_uploads(lab, page, 1)
        expect_same(mine, lab.share / "large.bin")


@test
def upload_survives_a_killed_server(lab):
    lab.allow("Failed to load resource")
    with behind_proxy(lab) as (proxy, page):
        mine = half(lab, proxy, page)
        lab.server.kill()
        proxy.cut()
        lab.until(page, "document.querySelector('.upload-status')?.textContent.startsWith('Waiting for connection')")
        proxy.hold_at(None)
        before = proxy.passed
        lab.server.start()
        wait_for_uploads(lab, page, 1)
        expect_same(mine, lab.share / "large.bin")
        assert proxy.passed - before < 42 * MIB, f"{proxy.passed - before} bytes were sent after the restart"
        expect(hidden(lab), [], "the remaining files")


@test
def flipped_bit_is_detected_and_repaired(lab):
    lab.allow("Failed to load resource")
    with behind_proxy(lab) as (proxy, page):
        mine = local(lab, "large.bin", 30 * MIB)
        small = [local(lab, name, 300_000) for name in ("small.bin", "other.bin")]
        proxy.flip_at = 12 * MIB
        choose(page, mine)
        wait_for_uploads(lab, page, 1)
        expect(proxy.flip_at, None)
        expect_same(mine, lab.share / "large.bin")
        proxy.flip_at = proxy.passed + 10_000
        choose(page, *small)
        wait_for_uploads(lab, page, 2)
        expect(proxy.flip_at, None)
        for one in small:
            expect_same(one, lab.share / one.name)


@test
def corrupted_piece_is_sent_again(lab):
    """If the complete file is corrupted, the server discards it, and the page reports this and uploads the file once more."""
    lab.allow("Failed to load resource")
    with behind_proxy(lab, script=HEARD) as (proxy, page):
        mine = half(lab, proxy, page)
        # The server is killed, and one bit of the received data is changed before the restart.
        lab.server.kill()
        proxy.cut()
        staged = next(path for path in lab.share.iterdir() if path.name.startswith(".davit-"))
        with open(staged, "r+b") as file:
            file.seek(4 * MIB)
            bit = file.read(1)[0] ^ 1
            file.seek(4 * MIB)
            file.write(bytes([bit]))
        lab.server.start()
        # Let the rest of the upload pass, and then about half of the second attempt.
        proxy.hold_at(proxy.passed + 18 * MIB + 30 * MIB)
        lab.until(page, "heard.some(text => text.includes('Damaged in transit'))")
        lab.until(page, "document.querySelector('.upload-status')?.textContent.includes('Damaged in transit')")
        expect((lab.share / "large.bin").exists(), False, "whether the file exists")
        proxy.hold_at(None)
        wait_for_uploads(lab, page, 1)
        expect_same(mine, lab.share / "large.bin")
        expect(hidden(lab), [], "the remaining files")


@test
def permanent_corruption_fails_the_upload(lab):
    """A file that is corrupted each time is not sent endlessly; Retry starts the upload again."""
    lab.allow("Failed to load resource")
    script = FIELDS + """
        window.spoils = true
        const keep = XMLHttpRequest.prototype.setRequestHeader
        XMLHttpRequest.prototype.setRequestHeader = function (name, value) {
            return keep.call(this, name, spoils && name === "Repr-Digest" ? value.replace(/:./, ":A") : value)
        }"""
    with behind_proxy(lab, script=script) as (_, page):
        mine = local(lab, "large.bin", 9 * MIB)
        choose(page, mine)
        page.locator(".upload[data-state=failed]", has_text="Repeatedly damaged in transit").wait_for()
        expect(page.evaluate("fields['Repr-Digest'].length"), 2, "the number of complete transmissions")
        expect(((lab.share / "large.bin").exists(), hidden(lab)), (False, []), "whether the file exists, and temporary files")
        page.evaluate("spoils = false")
        page.get_by_role("button", name="Retry large.bin").click()
        wait_for_uploads(lab, page, 1)
        expect_same(mine, lab.share / "large.bin")


@test(is_long=True)
def expired_upload_starts_over(lab):
    lab.allow("Failed to load resource")
    with behind_proxy(lab) as (proxy, page):
        mine = half(lab, proxy, page)
        page.get_by_role("button", name="Pause large.bin").click()
        lab.until(page, "document.querySelector('.upload[data-state=paused]') !== null")
        proxy.cut()
        expect(lab.server.request("DELETE", queue(page, "queue.uploads('paused')[0].url"))[0], 204)
        proxy.hold_at(None)
        page.get_by_role("button", name="Resume large.bin").click()
        wait_for_uploads(lab, page, 1)
        expect_same(mine, lab.share / "large.bin")


@test
def upload_resumes_after_a_reload_when_the_file_is_chosen_again(lab):
    """The computation of the digest of the whole file is resumed, too, and no part of the file is read again."""
    lab.allow("Failed to load resource")
    script = FIELDS + """
        window.again = 0
        const post = Worker.prototype.postMessage
        Worker.prototype.postMessage = function (message) {
            again += message?.before?.size ?? 0
            return post.call(this, message)
        }"""
    with behind_proxy(lab, script=script) as (proxy, page):
        mine = half(lab, proxy, page)
        reload(lab, proxy, page)
        page.locator(".uploads-ask", has_text="1 upload was interrupted. To resume it").wait_for()
        lab.axe(page, "the question for files")
        # A different file of that name does not match.
        other = local(lab, "other/large.bin", 48 * MIB - 1)
        with page.expect_file_chooser() as chooser:
            page.get_by_role("button", name="Choose files…").click()
        chooser.value.set_files(str(other))
        page.locator(".toast", has_text="does not match an interrupted upload").wait_for()
        before = proxy.passed
        with page.expect_file_chooser() as chooser:
            page.get_by_role("button", name="Choose files…").click()
        chooser.value.set_files(str(mine))
        wait_for_uploads(lab, page, 1)
        expect_same(mine, lab.share / "large.bin")
        assert proxy.passed - before < 40 * MIB, f"{proxy.passed - before} bytes were sent after the reload"
        expect(page.evaluate("[fields['Repr-Digest'], again]"), [[whole_digest(mine)], 0])


# Records the header fields of uploads in `fields`.
FIELDS = """
    window.fields = {}
    const set = XMLHttpRequest.prototype.setRequestHeader
    XMLHttpRequest.prototype.setRequestHeader = function (name, value) {
        (fields[name] ??= []).push(value)
        return set.call(this, name, value)
    };"""


FROM_HANDLE = """async ([size]) => {
    const folder = await navigator.storage.getDirectory()
    const handle = await folder.getFileHandle("kept.bin", { create: true })
    const writer = await handle.createWritable()
    const bytes = new Uint8Array(size).map((_, index) => index * 7 + (index >> 9))
    await writer.write(bytes)
    await writer.close()
    const { startUpload } = await import(document.querySelector("script[type=module]").src.replace("main.js", "upload/start.js"))
    startUpload({ folder: location.pathname, items: [handle] })
}"""


def kill_browser(profile):
    """Kills all processes of the browser with this profile."""
    for entry in pathlib.Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            if f"--user-data-dir={profile}".encode() in (entry / "cmdline").read_bytes().split(b"\0"):
                os.kill(int(entry.name), signal.SIGKILL)


@test(is_long=True)
def upload_survives_a_killed_browser(lab):
    """A new browser with the same profile resumes without a question, because it can reopen the file."""
    lab.allow("Failed to load resource")
    lab.start()
    proxy = Proxy(lab)
    profile = lab.work / "profile"

    def launch():
        context = lab.playwright.chromium.launch_persistent_context(
            str(profile), executable_path="/usr/bin/chromium", viewport=DESKTOP, locale="en-GB",
            args=["--no-sandbox"] if os.geteuid() == 0 else [])
        unrouted(lab, lambda: lab.adopt(context))
        page = context.pages[0]
        page.goto(proxy.url)
        ready(lab, page)
        return context, page

    try:
        context, page = launch()
        size = 48 * MIB
        proxy.hold_at(proxy.passed + 30 * MIB)
        page.evaluate(FROM_HANDLE, [size])
        proxy.wait_for(29 * MIB)
        kill_browser(profile)
        proxy.cut()
        with contextlib.suppress(Exception):
            context.close()
        before = proxy.passed
        proxy.hold_at(None)
        context, page = launch()
        wait_for_uploads(lab, page, 1)
        assert proxy.passed - before < 42 * MIB, f"{proxy.passed - before} bytes were sent by the second browser"
        wanted = bytes((index * 7 + (index >> 9)) & 255 for index in range(1 << 17))
        expect((lab.share / "kept.bin").read_bytes()[:1 << 17] == wanted, True, "the content")
        expect((lab.share / "kept.bin").stat().st_size, size)
        context.close()
    finally:
        proxy.close()


@test(is_long=True)
def resuming_can_require_a_click(lab):
    """If the browser needs permission to reopen the files, one click resumes all uploads."""
    lab.allow("Failed to load resource")
    script = """
        if (location.protocol === "http:" && sessionStorage.asks) {
            FileSystemHandle.prototype.queryPermission = async () => "prompt"
            FileSystemHandle.prototype.requestPermission = async () => navigator.userActivation.isActive ? "granted" : "denied"
        }"""
    with behind_proxy(lab, script=script) as (proxy, page):
        proxy.hold_at(proxy.passed + 30 * MIB)
        page.evaluate(FROM_HANDLE, [48 * MIB])
        proxy.wait_for(29 * MIB)
        page.evaluate("sessionStorage.asks = 'yes'")
        reload(lab, proxy, page)
        before = proxy.passed
        page.get_by_role("button", name="Resume", exact=True).click()
        wait_for_uploads(lab, page, 1)
        expect((lab.share / "kept.bin").stat().st_size, 48 * MIB)
        assert proxy.passed - before < 42 * MIB, f"{proxy.passed - before} bytes were sent after the click"


@test(is_long=True)
def two_pages_do_not_share_an_upload(lab):
    """A new page does not take over uploads of a page that is open."""
    with behind_proxy(lab) as (proxy, page):
        mine = half(lab, proxy, page)
        other = page.context.new_page()
        other.goto(proxy.url)
        ready(lab, other)
        # A page that has taken over uploads shows the panel.
        other.evaluate("import(document.querySelector('script[type=module]').src.replace('main.js', 'upload/main.js')).then(({ restore }) => restore())")
        expect(other.locator(".uploads").count(), 0)
        proxy.hold_at(None)
        wait_for_uploads(lab, page, 1)
        expect_same(mine, lab.share / "large.bin")


@test(is_long=True)
def upload_of_a_tree_resumes_when_it_is_dropped_again(lab):
    """After a reload, the rest of a tree is uploaded. Completed files are not sent again, and cause no questions."""
    lab.allow("Failed to load resource")
    with behind_proxy(lab, script="delete DataTransferItem.prototype.getAsFileSystemHandle") as (proxy, page):
        tree = lab.work / "mine/tree"
        files = [local(lab, f"tree/{name}", size) for name, size in
                 [("a.txt", 2000), ("in/b.txt", 3000), ("in/large.bin", 48 * MIB), ("z.bin", 9 * MIB)]]
        proxy.hold_at(proxy.passed + 30 * MIB)
        drop(page, tree)
        proxy.wait_for(29 * MIB)
        lab.until(page, QUEUE.replace("{expression}", "queue.totals.done >= 4"))
        reload(lab, proxy, page)
        page.locator(".uploads-ask").wait_for()
        before = proxy.passed
        drop(page, tree)
        for file in files:
            lab.until(page, QUEUE.replace("{expression}", "!queue.isBusy && queue.count('missing') === 0 && queue.totals.done > 0"))
            expect_same(file, lab.share / file.relative_to(lab.work / "mine"))
        expect(page.get_by_role("dialog").count(), 0)
        assert proxy.passed - before < 50 * MIB, f"{proxy.passed - before} bytes were sent after the reload"


def own_address():
    """Returns a non-loopback address of this machine, or None."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return None
        return probe.getsockname()[0]


@test
def uploads_over_plain_http_are_verified(lab):
    """Browsers compute no digests over plain HTTP, so the page computes them itself; all uploads are verified."""
    address = own_address()
    if address is None:
        lab.note("no non-loopback address available")
        return
    lab.allow("401 (Unauthorized)")
    with behind_proxy(lab, host=address, options=["--user", "anna:open:sesame"], script=FIELDS,
                      signs_in=("anna", "open:sesame")) as (_, page):
        expect(page.evaluate("[isSecureContext, crypto.subtle === undefined]"), [False, True])
        mine = [local(lab, "large.bin", 20 * MIB), local(lab, "small.bin", 100_000)]
        choose(page, *mine)
        wait_for_uploads(lab, page, 2)
        for one in mine:
            expect_same(one, lab.share / one.name)
        made = page.evaluate("fields['Content-Digest']")
        # One digest for the small file, and one for each part of the large file.
        assert len(made) >= 3 and all(one.startswith("sha-256=:") for one in made), made
        expect(page.evaluate("fields['Repr-Digest']"), [whole_digest(mine[0])])


@test(is_long=True)
def uploads_pass_a_proxy_with_a_small_body_limit(lab):
    """nginx accepts one mebibyte by default: parts are made smaller, and small files are sent in parts, too."""
    lab.allow("Failed to load resource")
    for verifies in ("yes", "no"):
        with behind_proxy(lab, script=f"if (location.protocol === 'http:') localStorage['davit.verifyUploads'] = '{verifies}'") as (proxy, page):
            proxy.part_limit = MIB
            mine = [local(lab, f"large-{verifies}", 9 * MIB), local(lab, f"small-{verifies}", 3 * MIB)]
            choose(page, *mine)
            wait_for_uploads(lab, page, 2)
            for one in mine:
                expect_same(one, lab.share / one.name)
            assert proxy.refusals >= 2, "the proxy did not refuse the large requests"


@test(is_long=True)
def uploads_work_without_verification(lab):
    with behind_proxy(lab) as (_, page):
        choose(page, local(lab, "first", 10))
        wait_for_uploads(lab, page, 1)
        page.get_by_label("Verify uploads").uncheck()
        mine = [local(lab, "large.bin", 20 * MIB), local(lab, "small.bin", 1000)]
        choose(page, *mine)
        wait_for_uploads(lab, page, 2)
        for one in mine:
            expect_same(one, lab.share / one.name)


@test(is_long=True)
def files_are_uploaded_without_resumable_uploads(lab):
    """Files are sent in one request, and the panel explains the consequence."""
    with behind_proxy(lab) as (_, page):
        page.evaluate("""async () => {
            const { page } = await import(document.querySelector("script[type=module]").src.replace("main.js", "page.js"))
            page.features = []
        }""")
        mine = local(lab, "large.bin", 20 * MIB)
        choose(page, mine)
        wait_for_uploads(lab, page, 1)
        expect_same(mine, lab.share / "large.bin")
        page.get_by_text("This server cannot resume uploads").wait_for()
