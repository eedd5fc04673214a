// A resource in a listing.

import { decode, lastSegment } from "./href.js"

const kinds = {
    image: "jpg jpeg png gif webp avif svg heic heif bmp tif tiff ico jxl raw cr2 nef dng psd",
    video: "mp4 m4v mov mkv webm avi mpg mpeg ogv wmv flv 3gp mts",
    audio: "mp3 m4a aac ogg oga opus flac wav aif aiff wma mid midi",
    pdf: "pdf",
    archive: "zip gz tgz tar bz2 xz zst 7z rar lz lzma jar cab",
    disk: "iso img dmg vmdk qcow2 vdi",
    document: "doc docx odt rtf pages epub tex",
    sheet: "xls xlsx ods csv tsv numbers",
    slides: "ppt pptx odp key",
    text: "txt md markdown log rst org nfo srt vtt",
    font: "ttf otf woff woff2",
    code: "js mjs cjs ts tsx jsx json html htm xml css scss swift c h cc cpp hpp m mm py rb go rs java kt kts sh bash zsh "
        + "fish ps1 bat yml yaml toml ini conf cfg sql diff patch php pl lua r scala cs fs hs ex exs erl clj vue svelte plist "
        + "gradle make cmake dockerfile",
}
const kindOfExtension = new Map()
for (const [kind, list] of Object.entries(kinds)) for (const name of list.split(" ")) kindOfExtension.set(name, kind)

/// `href` identifies the resource. `size` is in bytes, NaN for a folder; `modified` is in ms since 1970, NaN if unknown; `etag`
/// is the quoted entity tag, or ""; `locks` contains {token, owner, principal, created (ms), until (ms), isExclusive}; `rights` is
/// described in rights.js.
export class Entry {
    #name
    #type

    constructor(href, size, modified, etag, locks) {
        this.href = href
        this.size = size
        this.modified = modified
        this.etag = etag
        this.locks = locks ?? []
        this.rights = undefined
        /// The position in the order by name.
        this.rank = 0
    }

    get isFolder() { return this.href.endsWith("/") }
    get name() { return (this.#name ??= decode(lastSegment(this.href))) }

    /// The lower-case extension without the period; empty for folders and names without an extension.
    get extension() {
        const at = this.isFolder ? 0 : this.name.lastIndexOf(".")
        return at > 0 ? this.name.slice(at + 1).toLowerCase() : ""
    }

    /// The file type, which is also the name of its icon: folder, image, video, audio, pdf, archive, disk, document, sheet,
    /// slides, text, font, code or file.
    get type() { return (this.#type ??= this.isFolder ? "folder" : kindOfExtension.get(this.extension) ?? "file") }

    /// Whether the displayed metadata is the same.
    isLike(other) {
        return Object.is(this.size, other.size) && Object.is(this.modified, other.modified) && this.etag === other.etag
            && this.rights === other.rights
            && this.locks.length === other.locks.length
            && this.locks.every((lock, index) => lock.token === other.locks[index].token)
    }
}
