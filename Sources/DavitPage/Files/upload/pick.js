// The browser's file and folder pickers.

const input = (attributes) => new Promise((resolve) => {
    const node = Object.assign(document.createElement("input"), { type: "file", ...attributes })
    node.className = "unseen"
    node.tabIndex = -1
    node.setAttribute("aria-hidden", "true")
    // Keep the input in the document, because some browsers garbage-collect a detached one before the user has chosen.
    document.body.append(node)
    const end = () => {
        node.remove()
        resolve([...node.files])
    }
    node.addEventListener("change", end)
    node.addEventListener("cancel", end)
    node.click()
})

/// Opens the file picker. Prefers handles, which can be reopened after a reload.
export const askForFiles = async () => {
    if (window.showOpenFilePicker) {
        try {
            return await window.showOpenFilePicker({ multiple: true, id: "davit-upload" })
        } catch (problem) {
            if (problem.name === "AbortError") return []
        }
    }
    return input({ multiple: true })
}

/// Opens the folder picker. Does not use `showDirectoryPicker`, whose handles omit members (see gather.js).
export const askForFolder = () => input({ webkitdirectory: true })
