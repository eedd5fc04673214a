/// Removes comments and insignificant white space from the files of the page. Names and statements are
/// unchanged.
package enum MinifiedText {
    package static func of(_ bytes: [UInt8], named name: String) -> [UInt8] {
        if name.hasSuffix(".js") { return ScriptMinifier.of(bytes) }
        if name.hasSuffix(".css") { return StyleMinifier.of(bytes) }
        if name.hasSuffix(".svg") { return lines(of: bytes) { _ in true } }
        if name.hasPrefix("strings/") { return lines(of: bytes, where: isForScripts) }
        return bytes
    }

    /// Removes indentation, empty lines and lines that are not kept.
    private static func lines(of bytes: [UInt8], where isKept: (ArraySlice<UInt8>) -> Bool) -> [UInt8] {
        var result: [UInt8] = []
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            let text = line.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
            guard !text.isEmpty, isKept(text) else { continue }
            result += text
            result.append(UInt8(ascii: "\n"))
        }
        return result
    }

    /// Whether the scripts need this line; the server renders the texts of the page without scripts.
    private static func isForScripts(_ line: ArraySlice<UInt8>) -> Bool {
        line.first != UInt8(ascii: "#") && !line.starts(with: "server.".utf8)
    }
}
