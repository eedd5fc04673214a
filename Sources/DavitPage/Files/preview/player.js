// Media and PDF previews with the browser's own player and viewer. Range requests allow seeking.

import { element } from "../element.js"
import { visible } from "../href.js"
import { t } from "../strings.js"

export const show = ({ entry, stage, signal, fail }) => {
    const label = visible(entry.name)
    if (entry.type === "pdf") {
        if (navigator.pdfViewerEnabled === false) return fail(t("preview.noPDF"))
        return stage.replaceChildren(element("iframe.preview-pdf", { title: label, src: entry.href }))
    }
    const media = element(entry.type, { controls: true, playsinline: true, preload: "metadata", "aria-label": label, src: entry.href })
    media.addEventListener("error", () => { if (!signal.aborted && media.isConnected) fail(t("preview.notPlayed")) })
    stage.replaceChildren(element(`div.preview-media.${entry.type}`, {}, media,
        entry.type === "audio" && element("p", {}, element("bdi", {}, label))))
}
