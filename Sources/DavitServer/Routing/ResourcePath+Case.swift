internal import DavitHTTP

extension ResourcePath {
    /// The path in lower case, for comparisons that ignore case.
    func lowercased() -> ResourcePath { ResourcePath(unchecked: bytes.lowercasedText()) }
}

extension [UInt8] {
    /// UTF-8 text in lower case, as defined by Unicode. In other bytes, only the letters of ASCII are changed.
    func lowercasedText() -> [UInt8] {
        let isASCII = allSatisfy { $0 < 0x80 }
        guard !isASCII, let text = String(validating: self, as: UTF8.self) else {
            return map(\.lowercasedASCII)
        }
        return Array(text.lowercased().utf8)
    }
}
