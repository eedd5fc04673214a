// What can be done with the folder and what is selected in it. The toolbar, the menus and the keyboard are made of these.

import { attempt } from "./load.js"

const known = new Map()
const listeners = new Set()
const wishes = new Set()

/// An action: `id`; `label` a key of strings or a function of the context; `icon`; `key` as `"Delete"`, `"F2"`, `"Mod+c"`, `"Shift+Delete"`
/// (Mod is ⌘ or Ctrl), or several in an array; `group` and `order` for its place: groups are "open", "new", "edit", "transfer",
/// "other"; `isBar: false` for what is in menus alone; `isPrimary` for what stands out without a selection; `enabled(context)`: whether it is offered; `run(context)`.
/// The context: {folder, entries (what it is about; empty for the folder itself), origin (element), event}.
/// An action about the folder itself says so by `scope: "folder"`, one that is for both by `scope: "both"`.
export const register = (action) => {
    known.set(action.id, {
        group: "other", order: 100, scope: "entries", isBar: true, enabled: () => true, ...action,
        run: async (context) => {
            // A second click is no second wish for the same, as long as that lasts.
            const wish = [action.id, context.folder.href, ...context.entries.map(({ href }) => href)].join()
            if (wishes.has(wish)) return
            wishes.add(wish)
            try { await attempt(() => action.run(context)) } finally { wishes.delete(wish) }
        },
    })
    for (const listener of listeners) listener()
}

export const onRegister = (listener) => listeners.add(listener)

const groups = ["open", "new", "transfer", "edit", "other"]
const place = (action) => groups.indexOf(action.group) * 1000 + action.order

export const named = (id) => known.get(id)

/// All of them, in order.
export const all = () => [...known.values()].sort((a, b) => place(a) - place(b))

/// A folder that could not be opened takes nothing new.
const can = (action, context) => (action.group !== "new" || context.folder.state !== "failed") && action.enabled(context)

/// What can be done in a context, in order.
export const offered = (context) =>
    [...known.values()]
        .filter((action) => action.scope === "both" || (action.scope === "folder") === (context.entries.length === 0))
        .filter((action) => can(action, context))
        .sort((a, b) => place(a) - place(b))

const isApple = /Mac|iP(hone|ad|od)/.test(navigator.platform)

export const matches = (key, event) => {
    const parts = key.split("+")
    const last = parts.pop() || "+"
    const mod = isApple ? event.metaKey : event.ctrlKey
    return event.key.toLowerCase() === last.toLowerCase() && parts.includes("Mod") === mod
        && parts.includes("Shift") === event.shiftKey && parts.includes("Alt") === event.altKey
        && (isApple ? !event.ctrlKey : !event.metaKey)
}

/// The action that a key stands for in a context.
export const forKey = (event, context) =>
    [...known.values()].find((action) => [action.key].flat().some((key) => key && matches(key, event))
        && (action.scope === "both" || action.scope === "folder" || context.entries.length > 0)
        && can(action, action.scope === "folder" ? { ...context, entries: [] } : context))

/// A key as it is written for people.
export const keyText = (key) =>
    key.split("+").map((part) =>
        part === "Mod" ? (isApple ? "⌘" : "Ctrl") : part === "Alt" && isApple ? "⌥" : part.length === 1 ? part.toUpperCase() : part)
        .join(isApple ? "" : "+")
