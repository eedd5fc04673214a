// What the reader has chosen, kept in this browser.

/// One of `known`; the first where nothing else was chosen.
export const readSetting = (name, known) => {
    const value = localStorage.getItem(`davit.${name}`)
    return known.includes(value) ? value : known[0]
}

export const writeSetting = (name, value) => {
    try {
        localStorage.setItem(`davit.${name}`, value)
    } catch { /* It is for this time, then. */ }
}

export const themes = ["system", "light", "dark"]
export const theme = () => readSetting("theme", themes)
export const applyTheme = (name = theme()) => {
    if (name === "system") delete document.documentElement.dataset.theme
    else document.documentElement.dataset.theme = name
}
