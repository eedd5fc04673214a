// The page data that the server embeds in the document.

import { load } from "./storage.js"

export const page = JSON.parse(document.getElementById("davit").textContent)

/// Whether the server supports a feature beyond plain WebDAV: "events", "trash", "uploads", …
export const has = (feature) => page.features.includes(feature)

// The language of the page, separate from its texts, because listings need it before the texts are loaded.

export const languages = { en: "English", de: "Deutsch", es: "Español", fr: "Français", "zh-Hans": "简体中文" }

/// The language chosen by the reader; "" for the browser's language.
export const chosenLanguage = () => load("davit.language") ?? ""

const supported = (tag) => {
    const small = tag.toLowerCase()
    if (small.startsWith("zh")) return "zh-Hans"
    return Object.keys(languages).find((known) => small === known || small.startsWith(known + "-"))
}
const asked = new URLSearchParams(location.search).get("lang")
export const language = [asked, chosenLanguage(), ...navigator.languages, page.language, "en"]
    .map((tag) => supported(tag ?? "")).find(Boolean)
/// The locale for Intl: the browser's variant of the language, if any.
export const locale = navigator.languages.find((tag) => supported(tag) === language) ?? language
