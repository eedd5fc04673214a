import DavitHTTP
import DavitServer
import DavitTesting

/// Forms have the same parts regardless of how they are split, and after the parts are written in the
/// simplest form (RFC 7578).
func fuzzMultipart(_ input: [UInt8]) {
    let (choice, bytes) = divided(input)
    var limits = MultipartLimits()
    limits.parts = 8
    limits.partHeadBytes = 160
    let feed = MultipartFeed(boundary: "b", limits: limits)
    let whole = feed.parse([bytes])
    let cut = choice % (bytes.count + 1)
    invariant(feed.parse(bytes.map { [$0] }) == whole, "same result byte by byte")
    invariant(feed.parse([Array(bytes[..<cut]), Array(bytes[cut...])]) == whole, "split")
    let kept = feed.parse(bytes.map { [$0] }).mostKept
    invariant(kept <= limits.partHeadBytes + 80, "buffer within the limit")
    let size = whole.parts.reduce(0) { $0 + $1.bytes.count }
    invariant(size <= bytes.count, "parts fit into the input")
    for part in whole.parts {
        guard let name = part.head.fileName else { continue }
        let holdsPath = name.utf8.contains {
            $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") || $0.isControl
        }
        invariant(!holdsPath && name != ".." && name != ".", "file name without a path")
    }
    guard whole.error == nil else { return }
    // A boundary that occurs in no part, as clients choose it.
    let again = MultipartFeed(boundary: boundary).parse([written(whole.parts)])
    let expected = whole.parts.map { [Array($0.head.name.utf8), $0.bytes] }
    invariant(again.error == nil, "written form is accepted")
    invariant(again.parts.map { [Array($0.head.name.utf8), $0.bytes] } == expected, "same parts after write")
}

private let boundary = "----Fuzz7MA4YWxkTrZu0gW----Fuzz7MA4YWxkTrZu0gW"

private func written(_ parts: [MultipartFeed.Part]) -> [UInt8] {
    var form: [UInt8] = []
    for part in parts {
        form += Array("--\(boundary)\r\nContent-Disposition: form-data; name=\"".utf8)
        // Percent-encoding as in browsers (RFC 7578 §2), and backslashes as in curl.
        for byte in part.head.name.utf8 {
            switch byte {
            case UInt8(ascii: "\""): form += Array("%22".utf8)
            case UInt8(ascii: "\\"): form += Array("\\\\".utf8)
            case 13: form += Array("%0D".utf8)
            case 10: form += Array("%0A".utf8)
            default: form.append(byte)
            }
        }
        form += Array("\"\r\n\r\n".utf8) + part.bytes + [13, 10]
    }
    return form + Array("--\(boundary)--\r\n".utf8)
}
