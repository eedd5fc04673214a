import DavitHTTP
import DavitServer
import DavitTesting

/// Forms have the same parts however they arrive, and again when those parts are written plainly (RFC 7578).
func fuzzMultipart(_ input: [UInt8]) {
    let (choice, bytes) = divided(input)
    var limits = MultipartLimits()
    limits.parts = 8
    limits.partHeadBytes = 160
    let feed = MultipartFeed(boundary: "b", limits: limits)
    let whole = feed.parse([bytes])
    let cut = choice % (bytes.count + 1)
    invariant(feed.parse(bytes.map { [$0] }) == whole, "byte by byte")
    invariant(feed.parse([Array(bytes[..<cut]), Array(bytes[cut...])]) == whole, "split")
    let kept = feed.parse(bytes.map { [$0] }).mostKept
    invariant(kept <= limits.partHeadBytes + 80, "little is kept")
    let size = whole.parts.reduce(0) { $0 + $1.bytes.count }
    invariant(size <= bytes.count, "no more than there is")
    for part in whole.parts {
        guard let name = part.head.fileName else { continue }
        let holdsPath = name.utf8.contains {
            $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") || $0.isControl
        }
        invariant(!holdsPath && name != ".." && name != ".", "a file name leads nowhere")
    }
    guard whole.error == nil else { return }
    // A boundary that stands in no part, as clients choose it.
    let again = MultipartFeed(boundary: boundary).parse([written(whole.parts)])
    let expected = whole.parts.map { [Array($0.head.name.utf8), $0.bytes] }
    invariant(again.error == nil, "written again")
    invariant(again.parts.map { [Array($0.head.name.utf8), $0.bytes] } == expected, "the same written again")
}

private let boundary = "----Fuzz7MA4YWxkTrZu0gW----Fuzz7MA4YWxkTrZu0gW"

private func written(_ parts: [MultipartFeed.Part]) -> [UInt8] {
    var form: [UInt8] = []
    for part in parts {
        form += Array("--\(boundary)\r\nContent-Disposition: form-data; name=\"".utf8)
        // RFC 7578 §2 as browsers do it, and backslashes as curl writes them.
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
