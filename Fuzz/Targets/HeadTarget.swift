import DavitHTTP
import DavitTesting

/// Heads parse to the same meaning regardless of how they are split. An accepted head parses to the same
/// meaning after it is written in its simplest form (RFC 9112 §2 to §6).
func fuzzHead(_ input: [UInt8]) {
    let (choice, bytes) = divided(input)
    let feed = HeadFeed(limits: WireLimits(requestLineBytes: 200, headBytes: 600, fieldCount: 8))
    let whole = feed.whole(bytes)
    invariant(feed.byteByByte(bytes) == whole, "same result byte by byte")
    invariant(feed.split(bytes, at: choice % (bytes.count + 1)) == whole, "split")
    guard let summary = whole.summary else { return }
    invariant(summary.consumed <= bytes.count, "consumed bytes within the input")
    // Bytes after the head do not affect it.
    invariant(feed.whole(Array(bytes.prefix(summary.consumed))) == whole, "same result alone")
    invariant(
        feed.whole(Array(bytes.prefix(summary.consumed)) + [0, 13, 10]) == whole, "same result before junk")

    let request = HTTPRequest()
    var parser = HeadParser()
    let length = try? unsafe bytes.withUnsafeBytes { try unsafe parser.parse($0, into: request) }
    invariant(length == summary.consumed, "same length with larger limits")
    let again = feed.whole(written(request, bytes))
    if case .refused(let error) = again {
        // Only the added ": " may exceed the limits.
        invariant(error.status == .fieldsTooLarge, "plain form is accepted")
        return
    }
    guard var plain = again.summary else { return invariant(false, "plain form is complete") }
    plain.consumed = summary.consumed
    invariant(plain == summary, "plain form has the same meaning")
}

/// Writes the request line unchanged, then each field as `name: value`.
private func written(_ request: HTTPRequest, _ bytes: [UInt8]) -> [UInt8] {
    var start = 0
    while bytes[start] == 13 || bytes[start] == 10 { start += 1 }
    let end = bytes[start...].firstIndex(of: 13) ?? bytes.endIndex
    var text = Array(bytes[start..<end]) + [13, 10]
    for line in request.lines {
        let nameStart = Int(line.nameStart)
        text += request.head[nameStart..<nameStart + Int(line.nameLength)]
        text += Array(": ".utf8) + request.head[line.valueRange] + [13, 10]
    }
    return text + [13, 10]
}
