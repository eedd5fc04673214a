import DavitHTTP
import DavitTesting

/// Chunks hold the same data however they arrive and wherever they are put, and again when these data are sent as one
/// chunk each (RFC 9112 §7.1).
func fuzzChunked(_ input: [UInt8]) {
    let (choice, bytes) = divided(input)
    let feed = ChunkFeed(limits: WireLimits(fieldCount: 3, chunkLineBytes: 24, trailerBytes: 48))
    let whole = feed.decode([bytes])
    let cut = choice % (bytes.count + 1)
    let pieces = [Array(bytes[..<cut]), Array(bytes[cut...])]
    invariant(feed.byteByByte(bytes) == whole, "byte by byte")
    invariant(feed.decode(pieces, portion: choice % 7 + 1) == whole, "split, in portions")

    // In place, data before broken framing in the same piece are not given out; the error is the same.
    let placed = feed.decodeInPlace([bytes])
    let divided = feed.decodeInPlace(pieces)
    for outcome in [placed, divided] {
        invariant(outcome.error == whole.error, "the same error in place")
        if whole.error == nil { invariant(outcome == whole, "the same in place") }
    }

    guard whole.isEnded else { return }
    invariant(whole.data.count + whole.rest.count < bytes.count, "framing takes room")
    invariant(bytes.suffix(whole.rest.count) == whole.rest[...], "what follows is untouched")
    var plain: [UInt8] = []
    for byte in whole.data { plain += Array("1\r\n".utf8) + [byte, 13, 10] }
    plain += Array("0\r\n\r\n".utf8) + whole.rest
    invariant(feed.decode([plain]) == whole, "encoded again")
}
