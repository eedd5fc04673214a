// Words and controls for subjects and rights.

import { element, icon } from "../element.js"
import { t } from "../strings.js"
import "./api.js"

export const presets = ["view", "add", "edit", "all", "drop", "none"]
const names = ["list", "read", "create", "change", "delete", "share", "manage"]

/// Describes rights in words: those of a preset, or each right.
export const rightsText = (rights) =>
    presets.includes(rights) ? t(`people.rights.${rights}`)
        : rights.split(",").filter((name) => names.includes(name)).map((name) => t(`people.right.${name}`)).join(", ")

/// Describes whom a rule concerns: `user:NAME`, `group:NAME`, `everyone` or `anonymous`.
export const subjectText = (subject) => {
    const at = subject.indexOf(":")
    const name = subject.slice(at + 1)
    if (at < 0) return t(subject === "everyone" ? "people.everyone" : "people.anonymous")
    return subject.startsWith("group:") ? t("people.group", { name }) : name
}

export const subjectNode = (subject) =>
    element("span.people-name", {}, icon("user"), element("bdi", {}, subjectText(subject)))

/// Creates a select element for rights; rights that are not a preset can be kept.
export const rightsSelect = (rights, attributes) =>
    element("select", attributes, [...presets, ...(presets.includes(rights) ? [] : [rights])].map((one) =>
        element("option", { value: one, selected: one === rights }, rightsText(one))))
