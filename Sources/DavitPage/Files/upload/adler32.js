// Adler-32 (RFC 1950 §8.2): fast, incremental, with a state of only two numbers.

const modulus = 65521
// The largest block for which the sum of the running sums fits in 16 bits.
const blockBytes = 88

// Adds whole blocks, four bytes at a time: `even` sums the first and third byte of each word, `odd` the second and fourth. The
// weight of a byte in the second sum of the checksum follows from its position in the block.
function addBlocks([low, high], view, end) {
    let a = low, b = high
    for (let at = 0; at < end;) {
        let even = 0, evens = 0, odd = 0, odds = 0
        for (const next = at + blockBytes; at < next; at += 4) {
            const word = view.getInt32(at, true)
            even = even + (word & 0xff00ff) | 0
            evens = evens + even | 0
            odd = odd + (word >>> 8 & 0xff00ff) | 0
            odds = odds + odd | 0
        }
        const second = odd & 0xffff, third = even >>> 16, fourth = odd >>> 16
        const all = (evens & 0xffff) + (evens >>> 16) + (odds & 0xffff) + (odds >>> 16)
        b = (b + blockBytes * a + 4 * all - second - 2 * third - 3 * fourth) % modulus
        a = (a + (even & 0xffff) + second + third + fourth) % modulus
    }
    return [a, b]
}

/// The checksum of empty content. Checksums can be sent to other threads, stored and combined.
export const nothing = { sums: [1, 0], length: 0 }

/// Returns the checksum extended by more bytes.
export function extended({ sums, length }, bytes) {
    const end = bytes.length - bytes.length % blockBytes
    let [a, b] = addBlocks(sums, new DataView(bytes.buffer, bytes.byteOffset), end)
    for (let at = end; at < bytes.length; at += 1) {
        a = (a + bytes[at]) % modulus
        b = (b + a) % modulus
    }
    return { sums: [a, b], length: length + bytes.length }
}

/// Returns the checksum of two consecutive pieces.
export function combined({ sums: [a, b], length }, next) {
    const [low, high] = next.sums
    // Each byte of the second piece adds the first sum of the first piece once more. One is subtracted, because the first sum
    // of each piece starts at one.
    const more = (a + modulus - 1) % modulus * (next.length % modulus)
    return { sums: [(a + low + modulus - 1) % modulus, (b + high + more) % modulus], length: length + next.length }
}

/// Returns the four bytes of the checksum.
export const adlerBytes = ({ sums: [low, high] }) => Uint8Array.of(high >> 8, high & 255, low >> 8, low & 255)
