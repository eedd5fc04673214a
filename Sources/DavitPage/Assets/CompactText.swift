/// Compacts the files of the page: removes indentation, empty lines, lines that are comments, and the texts
/// that only the server uses. Apart from their indentation, all other lines are sent as written.
///
/// Each line is processed independently. This is correct because no literal or comment in these files spans
/// lines, which `scripts/check-page.py` verifies.
package enum CompactText {
    package static func of(_ bytes: [UInt8], named name: String) -> [UInt8] {
        if name.hasSuffix(".js") { return lines(of: bytes) { $0.starts(with: "//".utf8) } }
        if name.hasSuffix(".css") { return lines(of: bytes) { $0.starts(with: "/*".utf8) } }
        if name.hasSuffix(".svg") { return lines(of: bytes) { _ in false } }
        // Texts whose key begins with `server.` are only used by the server, in the page without scripts.
        if name.hasPrefix("strings/") || name.contains("/strings/") {
            return lines(of: bytes) { $0.starts(with: "#".utf8) || $0.starts(with: "server.".utf8) }
        }
        return bytes
    }

    private static func lines(of bytes: [UInt8], without isOmitted: (ArraySlice<UInt8>) -> Bool) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            let text = line.drop { $0 == UInt8(ascii: " ") }
            guard !text.isEmpty, !isOmitted(text) else { continue }
            result += text
            result.append(UInt8(ascii: "\n"))
        }
        return result
    }
}
