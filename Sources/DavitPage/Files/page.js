// What the server says about this page, as it stands in the document.

import { load } from "./storage.js"

export const page = JSON.parse(document.getElementById("davit").textContent)

/// Whether the server can do what WebDAV alone does not say: "events", "trash", "uploads", …
export const has = (feature) => page.features.includes(feature)

// The language of the page. Listings need it before its texts are there.

export const languages = { en: "English", de: "Deutsch", es: "Español", fr: "Français", "zh-Hans": "简体中文" }

/// The choice of the reader, "" for what the browser says.
export const chosenLanguage = () => load("davit.language") ?? ""

const supported = (tag) => {
    const small = tag.toLowerCase()
    if (small.startsWith("zh")) return "zh-Hans"
    return Object.keys(languages).find((known) => small === known || small.startsWith(known + "-"))
}
const asked = new URLSearchParams(location.search).get("lang")
export const language = [asked, chosenLanguage(), ...navigator.languages, page.language, "en"]
    .map((tag) => supported(tag ?? "")).find(Boolean)
/// For Intl: the variant that the browser names, if it is of this language.
export const locale = navigator.languages.find((tag) => supported(tag) === language) ?? language
