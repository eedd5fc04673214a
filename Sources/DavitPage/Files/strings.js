// Localized texts, numbers and times.

import { language, locale } from "./page.js"

const texts = new Map()

/// Adds the texts of a folder, which ends in a slash.
export const loadTexts = async (folder) => {
    const response = await fetch(new URL(`${folder}strings/${language}.txt`, import.meta.url))
    if (!response.ok) return
    for (const line of (await response.text()).split("\n")) {
        const at = line.startsWith("#") ? -1 : line.indexOf(" = ")
        if (at > 0) texts.set(line.slice(0, at), line.slice(at + 3).replaceAll("\\n", "\n"))
    }
}
await loadTexts("")
const plural = new Intl.PluralRules(locale)

/// Returns the text for a key. Replaces `{name}` with a value; `count` selects the plural form, `key.one` or `key.other`.
export const t = (key, values = {}) => {
    let found = texts.get(key)
    if (found === undefined && typeof values.count === "number") {
        found = texts.get(`${key}.${plural.select(values.count)}`) ?? texts.get(`${key}.other`)
    }
    return (found ?? key).replace(/\{(\w+)\}/g, (all, name) => {
        const value = values[name]
        return value === undefined ? all : typeof value === "number" ? number(value) : String(value)
    })
}

const numbers = new Intl.NumberFormat(locale)
export const number = (value) => numbers.format(value)

const units = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte", "petabyte"]
const formats = new Map()
const sizeFormat = (unit, digits) => {
    const key = unit + digits
    if (!formats.has(key)) {
        formats.set(key, new Intl.NumberFormat(locale, {
            style: "unit", unit, unitDisplay: unit === "byte" ? "long" : "short", maximumFractionDigits: digits,
            minimumFractionDigits: digits,
        }))
    }
    return formats.get(key)
}
/// Formats a number of bytes in decimal units, with one decimal below ten: `1.5 MB`.
export const bytes = (count) => {
    if (!Number.isFinite(count)) return ""
    let unit = 0
    let size = count
    while (size >= 999.5 && unit + 1 < units.length) {
        size /= 1000
        unit += 1
    }
    return sizeFormat(units[unit], unit > 0 && size < 9.95 ? 1 : 0).format(size)
}

const days = new Intl.DateTimeFormat(locale, { dateStyle: "medium" })
const clocks = new Intl.DateTimeFormat(locale, { timeStyle: "short" })
const moments = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" })
export const dateTime = (ms) => (Number.isFinite(ms) ? moments.format(ms) : "")

const relative = new Intl.RelativeTimeFormat(locale, { numeric: "auto" })
/// Formats a time relative to now: `5 minutes ago`, `yesterday`; a date if it is a week ago or more.
export const relativeTime = (ms) => {
    if (!Number.isFinite(ms)) return ""
    const seconds = (ms - Date.now()) / 1000
    const size = Math.abs(seconds)
    if (size < 60) return relative.format(Math.round(seconds), "second")
    if (size < 3600) return relative.format(Math.round(seconds / 60), "minute")
    if (size < 86400) return relative.format(Math.round(seconds / 3600), "hour")
    if (size < 7 * 86400) return relative.format(Math.round(seconds / 86400), "day")
    return days.format(ms)
}

/// Formats a time briefly: the time of day for today, else a date.
export const shortTime = (ms) => {
    if (!Number.isFinite(ms)) return ""
    return new Date(ms).toDateString() === new Date().toDateString() ? clocks.format(ms) : days.format(ms)
}

const amounts = Object.fromEntries(["second", "minute", "hour", "day"].map((unit) =>
    [unit, new Intl.NumberFormat(locale, { style: "unit", unit, unitDisplay: "short", maximumFractionDigits: 0 })]))
/// Formats a duration in at most two units: `12 sec`, `3 min 20 sec`, `2 hr 5 min`.
export const duration = (seconds) => {
    const whole = Math.max(0, Math.round(seconds))
    if (!Number.isFinite(whole)) return ""
    if (whole < 60) return amounts.second.format(whole)
    if (whole < 3600) return pair("minute", Math.floor(whole / 60), "second", whole < 600 ? whole % 60 : 0)
    if (whole < 86400) return pair("hour", Math.floor(whole / 3600), "minute", Math.floor((whole % 3600) / 60))
    return pair("day", Math.floor(whole / 86400), "hour", Math.floor((whole % 86400) / 3600))
}
const pair = (unit, count, smaller, rest) =>
    amounts[unit].format(count) + (rest > 0 ? ` ${amounts[smaller].format(rest)}` : "")
