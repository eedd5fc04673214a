"""Folders are uploaded completely, whatever the names are, and omitted files are counted."""

from harness import expect, test
from upload_support import NO_PICKERS, choose, drop, expect_same, local, ready, states, wait_for_uploads

# Chromium omits all of these except the last from the members of a directory handle.
UNSAFE = ["a?b.txt", "a:b.txt", "a|b.txt", "a*b.txt", 'a"b.txt', "a<b.txt", "a>b.txt", "a\\b.txt", " lead.txt", "trail.txt ",
          "dot.", "~tilde.txt", "site.url", "program.lnk", "desktop.ini", "thumbs.db", "aux.txt", "aux.d/in.txt", "q?/in.txt",
          "~d/in.txt", " sp /deep/in.txt", "plain.txt"]


def keep_names(page):
    page.get_by_role("button", name="Keep original names").click()


@test
def dropped_folder_keeps_all_names(lab):
    page = lab.page()
    ready(lab, page)
    files = [local(lab, f"tree/{name}", 100) for name in UNSAFE]
    (lab.work / "mine/tree/em:pty/in?").mkdir(parents=True)
    drop(page, lab.work / "mine/tree")
    keep_names(page)
    # The count includes eight folders, two of which contain no files.
    wait_for_uploads(lab, page, len(UNSAFE) + 8)
    for file in files:
        expect_same(file, lab.share / file.relative_to(lab.work / "mine"))
    assert (lab.share / "tree/em:pty/in?").is_dir(), "an empty folder is missing"
    assert page.locator(".uploads-note:visible").count() == 0, "the panel reports missing files although none are missing"


@test
def dropped_file_of_any_name_is_uploaded(lab):
    page = lab.page()
    ready(lab, page)
    files = [local(lab, name, 100) for name in ("a?b.txt", "~x", "x.lnk", "desktop.ini", " a ")]
    drop(page, *files)
    keep_names(page)
    wait_for_uploads(lab, page, len(files))
    for file in files:
        expect_same(file, lab.share / file.name)


@test
def chosen_folder_keeps_all_names(lab):
    """The button uses an input element, because showDirectoryPicker returns a handle with incomplete members."""
    # Keep the browser's file pickers.
    page = lab.page()
    ready(lab, page)
    files = [local(lab, f"tree/{name}", 100) for name in UNSAFE]
    choose(page, lab.work / "mine/tree", folder=True)
    keep_names(page)
    # The count includes six folders.
    wait_for_uploads(lab, page, len(UNSAFE) + 6)
    for file in files:
        expect_same(file, lab.share / file.relative_to(lab.work / "mine"))
    page.locator(".uploads-note", has_text="skips empty folders").wait_for()
    lab.screenshot(page, "uploads-chosen-folder")


@test
def omitted_files_are_counted(lab):
    context = lab.context()
    context.add_init_script(NO_PICKERS)
    page = lab.page(context=context)
    ready(lab, page)
    lab.write("there.txt", "old")
    (lab.work / "mine").mkdir(exist_ok=True)
    mine = [local(lab, name, 10) for name in ("new.txt", "there.txt")]
    page.evaluate("""async () => {
        const files = JSON.parse(document.getElementById("davit").textContent).files
        const { gather } = await import(files + "upload/gather.js")
        const shut = { name: "shut.txt", isDirectory: false, file: (_, no) => no(new DOMException("", "NotReadableError")) }
        window.given = gather([{ kind: "file", webkitGetAsEntry: () => shut }, { kind: "file", webkitGetAsEntry: () => null },
            new File(["a"], "new.txt"), new File(["b"], "there.txt")])
        const { upload } = await import(files + "upload/main.js")
        upload("/", given)
    }""")
    page.locator("dialog.conflict select").select_option("skip")
    page.locator("dialog.conflict .primary").click()
    wait_for_uploads(lab, page, 1, failed=2)
    page.locator(".uploads-note", has_text="Files found: 4. Uploaded: 1. Not uploaded: 3.").wait_for()
    expect(sorted((name, said) for name, state, said in states(page) if state == "failed"),
           [("2", "The browser cannot read this file."), ("shut.txt", "The browser cannot read this file.")])
    lab.axe(page, "the panel that lists omitted files")
    lab.screenshot(page, "uploads-difference")
    assert mine


@test
def handle_of_a_dropped_file_is_stored(lab):
    """The handle of a dropped file reopens the file without a question, as after a reload, even if it was dropped in a folder."""
    page = lab.page()
    ready(lab, page)
    local(lab, "tree/in/a.txt", 10)
    page.evaluate("""async () => {
        const files = JSON.parse(document.getElementById("davit").textContent).files
        const { gather, reopen } = await import(files + "upload/gather.js")
        addEventListener("drop", (event) => {
            event.preventDefault()
            event.stopImmediatePropagation()
            const found = gather([...event.dataTransfer.items])
            ;(async () => {
                const all = []
                for await (const one of found()) all.push(one)
                const file = all.find(one => !one.isFolder)
                window.result = [all.map(one => one.path.join("/")), (await reopen(file))?.size]
            })()
        }, true)
    }""")
    drop(page, lab.work / "mine/tree")
    expect(lab.until(page, "window.result"), [["tree", "tree/in", "tree/in/a.txt"], 10])
