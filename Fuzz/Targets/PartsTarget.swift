import DavitHTTP
import DavitWebDAV

/// Fields that say where partial content is written: `Content-Range` (RFC 9110 §14.4) and `X-Update-Range`. An accepted
/// range has a length above zero, does not overflow, and means the same when it is written out.
func fuzzParts(_ input: [UInt8]) {
    let (choice, bytes) = divided(input)
    if choice % 2 == 0 { checkContentRange(bytes) } else { checkUpdateRange(bytes) }
}

private func checkContentRange(_ bytes: [UInt8]) {
    guard let part = ContentRange(parsing: bytes.span) else { return }
    let range = part.range
    invariant(range.offset >= 0 && range.length > 0, "a range of at least one byte")
    invariant(range.length <= .max - range.offset, "an end that fits")
    if let total = part.total { invariant(range.end <= total, "a range within the total") }
    let total = part.total.map { "\($0)" } ?? "*"
    let text = "bytes \(range.offset)-\(range.end - 1)/\(total)"
    invariant(ContentRange(parsing: Array(text.utf8).span) == part, "the same range written out")
}

private func checkUpdateRange(_ bytes: [UInt8]) {
    guard let range = try? UpdateRange.parse(bytes.span) else { return }
    let text: String
    switch range {
    case .append: text = "append"
    case .fromEnd(let count):
        invariant(count >= 0, "a count")
        text = "bytes=-\(count)"
    case .from(let start, nil):
        invariant(start >= 0, "an offset")
        text = "bytes=\(start)-"
    case .from(let start, let length?):
        invariant(start >= 0 && length > 0 && length <= .max - start, "an end that fits")
        text = "bytes=\(start)-\(start + length - 1)"
    }
    invariant((try? UpdateRange.parse(Array(text.utf8).span)) == range, "the same range written out")
}
