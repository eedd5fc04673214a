import DavitHTTP
import DavitWebDAV

/// Fields that specify where partial content is written: `Content-Range` (RFC 9110 §14.4) and
/// `X-Update-Range`. An accepted range is not empty, does not overflow, and parses to the same range after it
/// is written out.
func fuzzParts(_ input: [UInt8]) {
    let (choice, bytes) = divided(input)
    if choice % 2 == 0 { checkContentRange(bytes) } else { checkUpdateRange(bytes) }
}

private func checkContentRange(_ bytes: [UInt8]) {
    guard let part = ContentRange(parsing: bytes.span) else { return }
    let range = part.range
    invariant(range.offset >= 0 && range.length > 0, "range of at least one byte")
    invariant(range.length <= .max - range.offset, "end does not overflow")
    if let total = part.total { invariant(range.end <= total, "range within the total") }
    let total = part.total.map { "\($0)" } ?? "*"
    let text = "bytes \(range.offset)-\(range.end - 1)/\(total)"
    invariant(ContentRange(parsing: Array(text.utf8).span) == part, "same range after writing")
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
        invariant(start >= 0, "offset is not negative")
        text = "bytes=\(start)-"
    case .from(let start, let length?):
        invariant(start >= 0 && length > 0 && length <= .max - start, "end does not overflow")
        text = "bytes=\(start)-\(start + length - 1)"
    }
    invariant((try? UpdateRange.parse(Array(text.utf8).span)) == range, "same range after writing")
}
