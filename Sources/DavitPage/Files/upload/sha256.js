// SHA-256 (FIPS 180-4) for pages over plain HTTP, where browsers do not provide it.

const K = new Int32Array(64)
const START = new Int32Array(8)

// The constants: the first bits of the fractional parts of the square and cube roots of the first primes, computed exactly.
{
    const root = (value, power, low, high) => {
        while (low < high) {
            const middle = (low + high + 1n) >> 1n
            if (middle ** power <= value) low = middle
            else high = middle - 1n
        }
        return low
    }
    const primes = []
    for (let n = 2; primes.length < 64; n += 1) if (primes.every((prime) => n % prime !== 0)) primes.push(n)
    primes.forEach((prime, index) => {
        K[index] = Number(BigInt.asIntN(32, root(BigInt(prime) << 96n, 3n, 0n, 1n << 36n)))
        if (index < 8) START[index] = Number(BigInt.asIntN(32, root(BigInt(prime) << 64n, 2n, 0n, 1n << 37n)))
    })
}

const W = new Int32Array(64)

// Processes whole blocks of 64 bytes.
function compress(state, bytes, blocks) {
    const s = state, w = W, k = K
    const view = new DataView(bytes.buffer, bytes.byteOffset)
    for (let block = 0, at = 0; block < blocks; block += 1, at += 64) {
        for (let i = 0; i < 16; i += 1) w[i] = view.getInt32(at + i * 4)
        for (let i = 16; i < 64; i += 1) {
            const x = w[i - 15], y = w[i - 2]
            w[i] = (w[i - 16] + w[i - 7] + ((x >>> 7 | x << 25) ^ (x >>> 18 | x << 14) ^ x >>> 3)
                + ((y >>> 17 | y << 15) ^ (y >>> 19 | y << 13) ^ y >>> 10)) | 0
        }
        let a = s[0], b = s[1], c = s[2], d = s[3], e = s[4], f = s[5], g = s[6], h = s[7]
        for (let i = 0; i < 64; i += 1) {
            const t = h + ((e >>> 6 | e << 26) ^ (e >>> 11 | e << 21) ^ (e >>> 25 | e << 7)) + (g ^ e & (f ^ g)) + k[i] + w[i] | 0
            h = g
            g = f
            f = e
            e = d + t | 0
            d = c
            c = b
            b = a
            a = t + ((b >>> 2 | b << 30) ^ (b >>> 13 | b << 19) ^ (b >>> 22 | b << 10)) + (b & c | d & (b | c)) | 0
        }
        s[0] += a
        s[1] += b
        s[2] += c
        s[3] += d
        s[4] += e
        s[5] += f
        s[6] += g
        s[7] += h
    }
}

/// Incremental SHA-256; all pieces except the last must be whole blocks of 64 bytes.
export class SHA256 {
    #words = Int32Array.from(START)
    #rest = new Uint8Array(0)
    #length = 0

    update(bytes) {
        const blocks = Math.floor(bytes.length / 64)
        if (blocks > 0) compress(this.#words, bytes, blocks)
        this.#rest = bytes.subarray(blocks * 64)
        this.#length += bytes.length
    }

    /// Finishes and returns the 32 bytes of the digest.
    digest() {
        const rest = this.#rest
        const last = new Uint8Array(rest.length < 56 ? 64 : 128)
        last.set(rest)
        last[rest.length] = 0x80
        const view = new DataView(last.buffer)
        view.setUint32(last.length - 8, Math.floor(this.#length / 0x20000000))
        view.setUint32(last.length - 4, this.#length * 8 >>> 0)
        compress(this.#words, last, last.length / 64)
        const result = new DataView(new ArrayBuffer(32))
        this.#words.forEach((word, index) => result.setInt32(index * 4, word))
        return new Uint8Array(result.buffer)
    }
}
