// The dialog with the keyboard shortcuts.

import { all, keyText } from "./actions.js"
import { dialog } from "./dialog.js"
import { element } from "./element.js"
import { t } from "./strings.js"

const fixed = [
    ["ArrowUp", "ArrowDown", "help.move"], ["Space", "help.select"], ["Shift+↑", "Shift+↓", "help.extend"],
    ["Mod+A", "help.all"], ["Enter", "help.open"], ["Home", "End", "help.ends"], ["Shift+F10", "help.menu"], ["A–Z", "help.type"],
    ["Esc", "help.escape"],
]

export const showHelp = async () => {
    const arrows = { ArrowUp: "↑", ArrowDown: "↓" }
    const row = (keys, text) => element("div.key-row", {}, element("dt", {}, keys.map((key) => element("kbd", {}, arrows[key] ?? keyText(key).replace("ArrowUp", "↑")))),
        element("dd", {}, text))
    return dialog({
        title: t("core.keys"), className: "help",
        body: element("dl.keys", {}, fixed.map((line) => row(line.slice(0, -1), t(line.at(-1)))),
            all().filter(({ key, id }) => key && id !== "open").map((action) =>
                row([action.key].flat(), typeof action.label === "function" ? action.label({ entries: [], folder: undefined }) : t(action.label)))),
        actions: [{ label: t("core.close"), value: true, kind: "primary" }],
    })
}
