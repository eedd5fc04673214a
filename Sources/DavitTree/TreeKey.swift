#if Postgres
internal import DavitHTTP
@_spi(_Unicode) internal import Swift

/// Names as the database compares them.
enum TreeKey {
    /// Returns a name in normalization form C. A name that is not UTF-8 is returned unchanged.
    static func key(of name: some Collection<UInt8>) -> [UInt8] {
        if name.allSatisfy({ $0 < 0x80 }) { return Array(name) }
        guard let text = String(validating: name, as: UTF8.self) else { return Array(name) }
        var normal = String.UnicodeScalarView()
        for scalar in text._nfc { normal.append(scalar) }
        return Array(String(normal).utf8)
    }

    static func keys(of path: ResourcePath) -> [[UInt8]] { path.segments.map { key(of: $0) } }
}
#endif
