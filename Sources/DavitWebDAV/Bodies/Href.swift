/// The text of `href` elements.
public enum Href {
    /// Prepares a request path for an href: the bytes with a special meaning in XML, `& < > " '`, white
    /// space, control characters and bytes outside ASCII are percent-encoded, because Finder and other
    /// clients do not decode XML references in hrefs. All other bytes remain unchanged, since clients compare
    /// hrefs as text.
    public static func sanitize(_ rawPath: [UInt8]) -> [UInt8] {
        if rawPath.allSatisfy(isSafe) { return rawPath }
        var path: [UInt8] = []
        path.reserveCapacity(rawPath.count + 16)
        for byte in rawPath {
            if isSafe(byte) {
                path.append(byte)
            } else {
                path.append(UInt8(ascii: "%"))
                path.append(hexDigit(byte >> 4))
                path.append(hexDigit(byte & 15))
            }
        }
        return path
    }

    /// Like ``sanitize(_:)``, but also reduces several leading slashes to one and adds a missing one.
    ///
    /// A client would interpret `//a/b` as `/b` on the host `a` (RFC 3986 §4.2). The server ignores empty
    /// segments, so the resource is the same.
    public static func path(_ rawPath: [UInt8]) -> [UInt8] {
        let slash = UInt8(ascii: "/")
        if rawPath.first == slash, rawPath.count == 1 || rawPath[1] != slash { return sanitize(rawPath) }
        return sanitize([slash] + rawPath.drop { $0 == slash })
    }

    private static func isSafe(_ byte: UInt8) -> Bool {
        switch byte {
        case 0...0x20, 0x7F...0xFF, UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: ">"),
            UInt8(ascii: "\""), UInt8(ascii: "'"):
            false
        default: true
        }
    }

    private static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }
}
