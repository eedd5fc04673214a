// The image viewer: fits the image; zooms by wheel, pinch, double click, keys and buttons. An SVG is shown as an image, without
// scripts.

import { element, iconButton } from "../element.js"
import { visible } from "../href.js"
import { number, t } from "../strings.js"

const most = 16

export const show = ({ entry, stage, tools, signal, fail }) => new Promise((resolve) => {
    const image = element("img.preview-image", { alt: visible(entry.name), draggable: "false" })
    const frame = element("div.preview-frame", {}, image)
    const state = { scale: 1, x: 0, y: 0 }
    const shownSize = element("span.preview-zoom", { "aria-live": "polite" })

    /// Returns the scale at which the image fits the frame, at most 1.
    const fit = () => {
        const { naturalWidth: width, naturalHeight: height } = image
        return width && height ? Math.min(1, frame.clientWidth / width, frame.clientHeight / height) : 1
    }
    const apply = () => {
        const whole = fit() * state.scale
        const width = (image.naturalWidth || frame.clientWidth) * whole
        const height = (image.naturalHeight || frame.clientHeight) * whole
        const limit = (value, size, room) => Math.max(-Math.max(0, (size - room) / 2), Math.min(Math.max(0, (size - room) / 2), value))
        state.x = limit(state.x, width, frame.clientWidth)
        state.y = limit(state.y, height, frame.clientHeight)
        image.style.width = `${width}px`
        image.style.height = `${height}px`
        image.style.transform = `translate(${state.x}px, ${state.y}px)`
        frame.classList.toggle("is-zoomed", state.scale > 1)
        shownSize.textContent = `${number(Math.round(whole * 100))} %`
    }
    /// Zooms by a factor around a point of the frame.
    const zoom = (factor, point = { x: 0, y: 0 }) => {
        const scale = Math.max(1, Math.min(most / Math.min(1, fit()), state.scale * factor))
        const real = scale / state.scale
        state.x = point.x - (point.x - state.x) * real
        state.y = point.y - (point.y - state.y) * real
        state.scale = scale
        apply()
    }
    const pointOf = ({ clientX, clientY }) => {
        const box = frame.getBoundingClientRect()
        return { x: clientX - box.left - box.width / 2, y: clientY - box.top - box.height / 2 }
    }

    frame.addEventListener("wheel", (event) => {
        event.preventDefault()
        zoom(Math.exp(-event.deltaY * (event.ctrlKey ? .01 : .002)), pointOf(event))
    }, { passive: false })
    frame.addEventListener("dblclick", (event) => {
        if (state.scale > 1) Object.assign(state, { scale: 1, x: 0, y: 0 })
        else zoom(Math.max(2, 1 / fit()), pointOf(event))
        apply()
    })
    const pointers = new Map()
    frame.addEventListener("pointerdown", (event) => {
        if (event.button !== 0) return
        pointers.set(event.pointerId, event)
        frame.setPointerCapture(event.pointerId)
    })
    frame.addEventListener("pointermove", (event) => {
        const before = pointers.get(event.pointerId)
        if (!before) return
        if (pointers.size === 1 && state.scale > 1) {
            state.x += event.clientX - before.clientX
            state.y += event.clientY - before.clientY
            apply()
        } else if (pointers.size === 2) {
            const [other] = [...pointers.values()].filter(({ pointerId }) => pointerId !== event.pointerId)
            const length = (one) => Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY)
            const middle = { clientX: (event.clientX + other.clientX) / 2, clientY: (event.clientY + other.clientY) / 2 }
            zoom(length(event) / Math.max(1, length(before)), pointOf(middle))
        }
        pointers.set(event.pointerId, event)
    })
    for (const type of ["pointerup", "pointercancel"]) frame.addEventListener(type, ({ pointerId }) => pointers.delete(pointerId))

    const reset = () => {
        Object.assign(state, { scale: 1, x: 0, y: 0 })
        apply()
    }
    tools.replaceChildren(shownSize,
        iconButton("zoom-out", t("preview.smaller"), () => zoom(1 / 1.5)),
        iconButton("zoom-in", t("preview.larger"), () => zoom(1.5)),
        iconButton("fit", t("preview.fit"), reset))
    const observer = new ResizeObserver(apply)
    observer.observe(frame)
    const key = ({ key: pressed }) => {
        if (pressed === "+" || pressed === "=") zoom(1.5)
        else if (pressed === "-") zoom(1 / 1.5)
        else if (pressed === "0") reset()
        else if (state.scale > 1 && pressed.startsWith("Arrow")) {
            state.x += pressed === "ArrowLeft" ? 80 : pressed === "ArrowRight" ? -80 : 0
            state.y += pressed === "ArrowUp" ? 80 : pressed === "ArrowDown" ? -80 : 0
            apply()
        } else return false
        return true
    }
    const end = () => resolve({ key, isZoomed: () => state.scale > 1, close: () => observer.disconnect() })
    image.addEventListener("load", () => {
        if (signal.aborted) return end()
        stage.replaceChildren(frame)
        apply()
        end()
    })
    image.addEventListener("error", () => {
        tools.replaceChildren()
        if (!signal.aborted) fail(t("preview.noPicture"))
        end()
    })
    image.src = entry.href
})
