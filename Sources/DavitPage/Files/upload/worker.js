// Computes digests in a worker, so that the page stays responsive.

import { extended, nothing } from "./adler32.js"
import { SHA256 } from "./sha256.js"

// Small enough for the processor cache, large enough to make the overhead per read negligible.
const stepBytes = 1 << 20

onmessage = async ({ data: { id, blob, isBrief } }) => {
    try {
        postMessage({ id, ...(isBrief ? checksum(blob) : await digests(blob)) })
    } catch (problem) {
        postMessage({ id, problem: `${problem.name}: ${problem.message}` })
    }
}

async function digests(blob) {
    // The browser's implementation is faster but is not available over plain HTTP.
    if (globalThis.crypto?.subtle) {
        const bytes = await blob.arrayBuffer()
        const hash = crypto.subtle.digest("SHA-256", bytes)
        const adler = extended(nothing, new Uint8Array(bytes))
        return { sha256: new Uint8Array(await hash), adler }
    }
    const hash = new SHA256()
    const { adler } = checksum(blob, (bytes) => hash.update(bytes))
    return { sha256: hash.digest(), adler }
}

function checksum(blob, take) {
    const reader = new FileReaderSync()
    let adler = nothing
    for (let from = 0; from < blob.size; from += stepBytes) {
        const bytes = new Uint8Array(reader.readAsArrayBuffer(blob.slice(from, from + stepBytes)))
        adler = extended(adler, bytes)
        take?.(bytes)
    }
    return { adler }
}
