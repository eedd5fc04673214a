// Adler-32 (RFC 1950 §8.2): quick, takes content piece by piece, and two numbers are all that it has to remember.

const modulus = 65521
// As many words as can be added up before a sum of sums leaves its 16 bits.
const blockBytes = 88

// Whole blocks, four bytes at once: the first and the third of each word side by side in `even`, the others in `odd`. How
// often a byte counts in the second sum follows from its place in the block.
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

/// Of nothing. What is known of content: it can be sent, kept, and combined.
export const nothing = { sums: [1, 0], length: 0 }

/// Of what is known and of bytes behind it.
export function extended({ sums, length }, bytes) {
    const end = bytes.length - bytes.length % blockBytes
    let [a, b] = addBlocks(sums, new DataView(bytes.buffer, bytes.byteOffset), end)
    for (let at = end; at < bytes.length; at += 1) {
        a = (a + bytes[at]) % modulus
        b = (b + a) % modulus
    }
    return { sums: [a, b], length: length + bytes.length }
}

/// Of two pieces, one behind the other.
export function combined({ sums: [a, b], length }, next) {
    const [low, high] = next.sums
    // Each byte of the first piece counts once more for each byte of the second; both began at one.
    const more = (a + modulus - 1) % modulus * (next.length % modulus)
    return { sums: [(a + low + modulus - 1) % modulus, (b + high + more) % modulus], length: length + next.length }
}

/// The four bytes that stand for content.
export const adlerBytes = ({ sums: [low, high] }) => Uint8Array.of(high >> 8, high & 255, low >> 8, low & 255)
