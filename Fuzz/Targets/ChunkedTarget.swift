import DavitHTTP
import DavitTesting

/// Chunked content decodes to the same data regardless of how it is split and where the data is stored, and
/// even after it is encoded again as one chunk per piece (RFC 9112 §7.1).
func fuzzChunked(_ input: [UInt8]) {
    let (choice, bytes) = divided(input)
    let feed = ChunkFeed(limits: WireLimits(fieldCount: 3, chunkLineBytes: 24, trailerBytes: 48))
    let whole = feed.decode([bytes])
    let cut = choice % (bytes.count + 1)
    let pieces = [Array(bytes[..<cut]), Array(bytes[cut...])]
    invariant(feed.byteByByte(bytes) == whole, "same result byte by byte")
    invariant(feed.decode(pieces, portion: choice % 7 + 1) == whole, "same result split and in portions")

    // In-place decoding drops the data before a framing error in the same piece; the error is the same.
    let placed = feed.decodeInPlace([bytes])
    let divided = feed.decodeInPlace(pieces)
    for outcome in [placed, divided] {
        invariant(outcome.error == whole.error, "same error in place")
        if whole.error == nil { invariant(outcome == whole, "same data in place") }
    }

    guard whole.isEnded else { return }
    invariant(whole.data.count + whole.rest.count < bytes.count, "framing is not counted as data")
    invariant(bytes.suffix(whole.rest.count) == whole.rest[...], "bytes after the content are unchanged")
    var plain: [UInt8] = []
    for byte in whole.data { plain += Array("1\r\n".utf8) + [byte, 13, 10] }
    plain += Array("0\r\n\r\n".utf8) + whole.rest
    invariant(feed.decode([plain]) == whole, "same data after encoding again")
}
