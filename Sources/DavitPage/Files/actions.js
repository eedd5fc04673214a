// Registry of actions on the folder and its selection. The toolbar, the menus and the keyboard shortcuts are built from it.

import { attempt } from "./load.js"

const known = new Map()
const listeners = new Set()
const running = new Set()

/// Registers an action:
/// - `id`; `label`, a key of strings or a function of the context; `icon`
/// - `key`: a shortcut such as `"Delete"`, `"F2"`, `"Mod+c"` or `"Shift+Delete"` (Mod is ⌘ or Ctrl), or an array of them
/// - `group` ("open", "new", "edit", "transfer" or "other") and `order`: its position
/// - `isBar: false`: shown only in menus; `isPrimary`: highlighted and first in the toolbar; `isDanger`: shown as dangerous in
///   menus; `isKeyOnly`: not shown in the toolbar
/// - `scope`: "entries" (the default), "folder" for the folder itself, or "both"
/// - `enabled(context)`: whether it is available; `run(context)`
///
/// The context is {folder, entries (the items to act on; empty for the folder itself), origin (element), event}.
export const register = (action) => {
    known.set(action.id, {
        group: "other", order: 100, scope: "entries", isBar: true, enabled: () => true, ...action,
        run: async (context) => {
            // Ignore repeated clicks while the action is running on the same entries.
            const key = [action.id, context.folder.href, ...context.entries.map(({ href }) => href)].join()
            if (running.has(key)) return
            running.add(key)
            try { await attempt(() => action.run(context)) } finally { running.delete(key) }
        },
    })
    for (const listener of listeners) listener()
}

export const onRegister = (listener) => listeners.add(listener)

const groups = ["open", "new", "transfer", "edit", "other"]
const place = (action) => groups.indexOf(action.group) * 1000 + action.order

export const named = (id) => known.get(id)

/// Returns all actions in display order.
export const all = () => [...known.values()].sort((a, b) => place(a) - place(b))

/// Whether an action is available. Nothing can be created in a folder that failed to load.
const can = (action, context) => (action.group !== "new" || context.folder.state !== "failed") && action.enabled(context)

/// Returns the actions available in a context, in display order.
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

/// Returns the action that a key event triggers in a context.
export const forKey = (event, context) =>
    [...known.values()].find((action) => [action.key].flat().some((key) => key && matches(key, event))
        && (action.scope === "both" || action.scope === "folder" || context.entries.length > 0)
        && can(action, action.scope === "folder" ? { ...context, entries: [] } : context))

/// Formats a shortcut for display.
export const keyText = (key) =>
    key.split("+").map((part) =>
        part === "Mod" ? (isApple ? "⌘" : "Ctrl") : part === "Alt" && isApple ? "⌥" : part.length === 1 ? part.toUpperCase() : part)
        .join(isApple ? "" : "+")
