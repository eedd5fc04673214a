// Creates elements without parsing HTML, so that recorded text can never become markup.

// Attributes that begin with `on` are event handlers; false, null and undefined are left out.
export function element(name, attributes = {}, ...children) {
    const made = document.createElement(name)
    for (const [key, value] of Object.entries(attributes)) {
        if (value === false || value === null || value === undefined) continue
        if (key.startsWith("on")) made.addEventListener(key.slice(2), value)
        else if (key === "value" || key === "checked") made[key] = value
        else made.setAttribute(key, value === true ? "" : value)
    }
    made.append(...children.flat().filter(child => child !== null && child !== undefined && child !== false))
    return made
}

export function button(text, onclick, kind = "tool", attributes = {}) {
    return element("button", {type: "button", class: kind, onclick, ...attributes}, text)
}

export function labeled(text, control) {
    return element("label", {class: "field-label"}, text, control)
}
