#!/usr/bin/env python3
"""Measures the browser page in headless Chromium: navigation to folders of several sizes, and many uploads.

    bench/browser-page.py [--davit PATH] [--files FOLDER] [--rounds N] [--entries 20,10000,100000] [--uploads N] [--markdown FILE]

Each visit starts with an empty browser cache. Times are measured from the navigation; processor time is that of the
renderer with its workers, of the whole browser, and of the server. Prints medians, saves them as JSON in
bench-results, and updates its section of the document with --markdown. `--files` serves the page's files from a
folder instead of the binary. Requires a Python with Playwright: scripts/browser-python.sh prints its path.
"""

import argparse
import os
import pathlib
import statistics
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "Tests/Browser"))

import document  # noqa: E402
import harness  # noqa: E402
from measure import cpu_seconds  # noqa: E402
from playwright.sync_api import sync_playwright  # noqa: E402

# Observes the page from inside, frame by frame, because queries from outside would use the processor time of the page.
WATCH = """(() => {
    const seen = { tasks: [] }
    window.davitSeen = seen
    new PerformanceObserver(list => {
        for (const one of list.getEntries()) seen.tasks.push([one.startTime, one.duration])
    }).observe({ type: "longtask", buffered: true })
    addEventListener("keydown", () => { seen.pressed = performance.now() }, { capture: true })
    const look = () => {
        const items = document.querySelector(".items")
        const now = performance.now()
        if (document.querySelector(".items .item") && seen.rows === undefined) seen.rows = now
        if (items && Number(items.getAttribute("aria-rowcount")) === window.davitWanted + 1) seen.whole ??= now
        if (seen.last && document.activeElement?.querySelector?.(".name-text")?.textContent === seen.last) {
            seen.end ??= now - seen.pressed
        }
        requestAnimationFrame(look)
    }
    requestAnimationFrame(look)
})()"""
UPLOAD = """async ({ count, size }) => {
    const script = document.querySelector("script[type=module]").src
    const { queue } = await import(script.replace("main.js", "upload/main.js"))
    const { startUpload } = await import(script.replace("main.js", "upload/start.js"))
    const files = Array.from({ length: count }, (_, number) => new File([new Uint8Array(size)], `upload-${number}.bin`))
    let done = 0
    const all = new Promise((resolve, reject) => {
        queue.addEventListener("done", () => { if (++done === count) resolve() })
        queue.addEventListener("failed", event => reject(event.detail.problem))
    })
    const begin = performance.now()
    startUpload({ folder: location.pathname, items: files })
    await all
    return [begin, performance.now()]
}"""


def browser_seconds(session):
    """Returns the processor time of each browser process so far: {id: (type, seconds)}."""
    found = session.send("SystemInfo.getProcessInfo")["processInfo"]
    return {one["id"]: (one["type"], one["cpuTime"]) for one in found}


class Costs:
    """Measures the processor time since the object was created."""

    def __init__(self, session, lab):
        self.session, self.server = session, lab.server.process.pid
        self.before, self.server_before = browser_seconds(session), cpu_seconds(self.server)

    def figures(self):
        after = browser_seconds(self.session)
        spent = [(kind, seconds - self.before.get(one, (kind, 0))[1]) for one, (kind, seconds) in after.items()]
        return {"renderer_cpu": 1000 * sum(seconds for kind, seconds in spent if kind == "renderer"),
                "browser_cpu": 1000 * sum(seconds for _, seconds in spent),
                "server_cpu": 1000 * (cpu_seconds(self.server) - self.server_before)}


def main_thread(client):
    """Returns the times of the main thread so far, in ms."""
    found = {one["name"]: one["value"] for one in client.send("Performance.getMetrics")["metrics"]}
    return {"script": 1000 * found["ScriptDuration"], "tasks": 1000 * found["TaskDuration"],
            "layout": 1000 * (found["LayoutDuration"] + found["RecalcStyleDuration"])}


def longest(tasks, begin=0, end=float("inf")):
    return max((duration for start, duration in tasks if begin <= start <= end), default=0)


def fresh(lab):
    """Opens a page in a new browser context, with access to its metrics."""
    page = lab.context().new_page()
    client = page.context.new_cdp_session(page)
    client.send("Performance.enable")
    page.add_init_script(WATCH)
    return page, client


def visit(lab, session, count):
    """Opens the folder with `count` entries, moves to the last one with the keyboard, and filters."""
    page, client = fresh(lab)
    page.add_init_script(f"window.davitWanted = {count}")
    costs = Costs(session, lab)
    page.goto(f"{lab.url}{count}/", wait_until="commit")
    lab.until(page, "window.davitSeen.whole")
    lab.ready(page)
    found = {**page.evaluate("({ rows: davitSeen.rows, whole: davitSeen.whole })"),
             "paint": page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime"),
             **main_thread(client), **costs.figures(),
             "task": longest(page.evaluate("davitSeen.tasks"))}
    page.evaluate("last => { davitSeen.last = last; document.querySelector('.item[tabindex=\"0\"]').focus() }", name_of(count - 1))
    page.keyboard.press("End")
    found["end"] = lab.until(page, "davitSeen.end")
    begin = page.evaluate("performance.now()")
    page.get_by_role("searchbox").fill("99")
    lab.until(page, "count => Number(document.querySelector('.items').getAttribute('aria-rowcount')) <= count", count)
    found["filter_task"] = longest(page.evaluate("davitSeen.tasks"), begin)
    page.context.close()
    return found


def uploads(lab, session, count):
    """Uploads many small files concurrently."""
    page, client = fresh(lab)
    folder = lab.share / "uploads"
    folder.mkdir()
    page.goto(f"{lab.url}uploads/")
    lab.ready(page)
    page.locator("[data-action=upload]").wait_for()
    costs, before = Costs(session, lab), main_thread(client)
    begin, end = page.evaluate(UPLOAD, {"count": count, "size": 4096})
    # The last rows appear half a second after the last file.
    lab.until(page, "count => Number(document.querySelector('.items').getAttribute('aria-rowcount')) === count + 1", count)
    found = {"whole": end - begin, **{name: value - before[name] for name, value in main_thread(client).items()},
             **costs.figures(), "task": longest(page.evaluate("davitSeen.tasks"), begin)}
    page.context.close()
    made = sorted(folder.iterdir())
    assert len(made) == count and all(one.stat().st_size == 4096 for one in made), f"{len(made)} files arrived"
    for one in made:
        one.unlink()
    folder.rmdir()
    return found


def name_of(number):
    return f"file-{number:06}.txt"


def measure(lab, session, options):
    found = {}
    for count in options.entries:
        folder = lab.share / str(count)
        folder.mkdir()
        for number in range(count):
            (folder / name_of(number)).touch()
    rows = [(f"{count} entries", lambda count=count: visit(lab, session, count)) for count in options.entries]
    if options.uploads:
        rows.append((f"{options.uploads} uploads", lambda: uploads(lab, session, options.uploads)))
    for turn in range(options.rounds + 1):
        for name, run in rows:
            figures = run()
            # The first visit of each kind is the warm-up.
            if turn > 0:
                found.setdefault(name, []).append(figures)
                print(f"{name}: " + ", ".join(f"{key} {value:.0f}" for key, value in figures.items()), file=sys.stderr)
    return {name: {key: statistics.median(turn[key] for turn in turns) for key in turns[0]} for name, turns in found.items()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--davit", default=os.environ.get("DAVIT", str(ROOT / ".build/release/davit")))
    parser.add_argument("--files")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--entries", type=lambda text: [int(one) for one in text.split(",") if one], default=[20, 10_000, 100_000])
    parser.add_argument("--uploads", type=int, default=2000)
    parser.add_argument("--markdown", help="update the figures in this document")
    options = parser.parse_args()
    options.screenshots = None
    options.short = False
    tempfile.tempdir = "/dev/shm"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox"] if os.geteuid() == 0 else [])
        lab = harness.Lab(browser, options, "page")
        try:
            lab.start()
            run = {"chromium": browser.version, "rounds": options.rounds,
                   "rows": measure(lab, browser.new_browser_cdp_session(), options)}
        finally:
            lab._close("ended")
        browser.close()
    document.keep(run, "browser-page", document.browser_part, options.markdown)


main()
