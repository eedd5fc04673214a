// The page data that the server embeds in the document.

import { load } from "./storage.js"

export const page = JSON.parse(document.getElementById("davit").textContent)

/// Whether the server supports a feature beyond plain WebDAV: "events", "trash", "uploads", …
export const has = (feature) => page.features.includes(feature)

// The language of the page, separate from its texts, because listings need it before the texts are loaded.

export const languages = { en: "English", de: "Deutsch", es: "Español", fr: "Français", "zh-Hans": "简体中文" }

/// The language chosen by the user; "" for the browser's language.
export const chosenLanguage = () => load("davit.language") ?? ""

// Subtags of Traditional Chinese.
const traditional = ["hant", "tw", "hk", "mo"]

/// Returns the language of the page for a tag (RFC 5646), by the same rule as the server (PageLanguage.swift); undefined if
/// unsupported. Traditional Chinese is unsupported.
export const supportedLanguage = (tag) => {
    const parts = tag.toLowerCase().split("-")
    if (parts[0] !== "zh") return Object.keys(languages).find((known) => known === parts[0])
    const isTraditional = !parts.includes("hans") && parts.some((part) => traditional.includes(part))
    return isTraditional ? undefined : "zh-Hans"
}

const requested = new URLSearchParams(location.search).get("lang")
export const language = [requested, chosenLanguage(), ...navigator.languages, page.language, "en"]
    .map((tag) => supportedLanguage(tag ?? "")).find(Boolean)
/// The locale for Intl: the browser's variant of the language, if any.
export const locale = navigator.languages.find((tag) => supportedLanguage(tag) === language) ?? language
