import DavitHTTP
import DavitTesting

/// Heads mean the same however they arrive; one that is taken is taken again, with the same meaning, when it is written
/// out in the plainest form (RFC 9112 §2 to §6).
func fuzzHead(_ input: [UInt8]) {
    let (choice, bytes) = divided(input)
    let feed = HeadFeed(limits: WireLimits(requestLineBytes: 200, headBytes: 600, fieldCount: 8))
    let whole = feed.whole(bytes)
    invariant(feed.byteByByte(bytes) == whole, "byte by byte")
    invariant(feed.split(bytes, at: choice % (bytes.count + 1)) == whole, "split")
    guard let summary = whole.summary else { return }
    invariant(summary.consumed <= bytes.count, "no more than there is")
    // What follows the head does not change it.
    invariant(feed.whole(Array(bytes.prefix(summary.consumed))) == whole, "without what follows")
    invariant(
        feed.whole(Array(bytes.prefix(summary.consumed)) + [0, 13, 10]) == whole, "with other things behind")

    let request = HTTPRequest()
    var parser = HeadParser()
    let length = try? unsafe bytes.withUnsafeBytes { try unsafe parser.parse($0, into: request) }
    invariant(length == summary.consumed, "within larger limits")
    let again = feed.whole(written(request, bytes))
    if case .refused(let error) = again {
        // Each line with ": " may be over the limits, and nothing else.
        invariant(error.status == .fieldsTooLarge, "its plain form")
        return
    }
    guard var plain = again.summary else { return invariant(false, "the end of its plain form") }
    plain.consumed = summary.consumed
    invariant(plain == summary, "the meaning of its plain form")
}

/// The same request line, then each field as `name: value`.
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
