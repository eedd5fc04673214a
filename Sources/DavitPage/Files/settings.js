// The user's settings, stored in the browser.

import { load, save } from "./storage.js"

/// Returns the stored setting if it is one of `known`, else the first of them.
export const readSetting = (name, known) => {
    const value = load(`davit.${name}`)
    return known.includes(value) ? value : known[0]
}

export const writeSetting = (name, value) => save(`davit.${name}`, value)

export const themes = ["system", "light", "dark"]
export const theme = () => readSetting("theme", themes)
export const applyTheme = (name = theme()) => {
    if (name === "system") delete document.documentElement.dataset.theme
    else document.documentElement.dataset.theme = name
}
