/// One entry of a ZIP file.
package struct ZIPEntry: Sendable {
    package enum Kind: Hashable, Sendable {
        case folder
        /// Content of so many bytes, neither more nor less.
        case file(length: Int64)
    }

    package enum Method: Hashable, Sendable {
        case stored, deflated
    }

    /// Segments joined by slashes, none in front; that of a folder ends in one. See ``portable(_:)``.
    package let path: [UInt8]
    package var kind: Kind
    package var method: Method
    /// The modification time, in seconds since the epoch.
    package var modifiedSeconds: Int64
    package var isExecutable: Bool

    package init(
        path: [UInt8], kind: Kind, method: Method = .stored, modifiedSeconds: Int64,
        isExecutable: Bool = false
    ) {
        self.path = Self.portable(path)
        self.kind = kind
        self.method = method
        self.modifiedSeconds = modifiedSeconds
        self.isExecutable = isExecutable
    }

    /// A path that stays in the folder where it is unpacked, whoever does that.
    ///
    /// A backslash is a part of a name, and to programs on Windows a slash: `..\..\name` would lead them elsewhere. So
    /// would a drive in front. The signs that do it are percent-encoded; the format knows no others (APPNOTE 4.4.17.1).
    ///
    /// Two names never become one: a percent sign that begins one of these codes in the name itself is encoded too.
    private static func portable(_ path: [UInt8]) -> [UInt8] {
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        let hasDrive = path.count > 1 && path[1] == UInt8(ascii: ":") && letters ~= path[0] | 0x20
        let (backslash, percent) = (UInt8(ascii: "\\"), UInt8(ascii: "%"))
        guard hasDrive || path.contains(where: { $0 == backslash || $0 == percent }) else { return path }
        var portable: [UInt8] = []
        for (index, byte) in path.enumerated() {
            if byte == percent, codes.contains(where: { path[(index + 1)...].starts(with: $0) }) {
                portable.append(contentsOf: "%25".utf8)
            } else if byte == backslash {
                portable.append(contentsOf: "%5C".utf8)
            } else if hasDrive, index == 1 {
                portable.append(contentsOf: "%3A".utf8)
            } else {
                portable.append(byte)
            }
        }
        return portable
    }

    /// What follows the percent sign of each code that ``portable(_:)`` makes.
    private static let codes = ["25", "3A", "5C"].map { Array($0.utf8) }

    /// The most bytes that a path can have: the format counts them in 16 bits.
    package static let pathLimit = Int(UInt16.max)

    /// Bytes of the content; 0 for a folder.
    package var length: Int64 {
        switch kind {
        case .folder: 0
        case .file(let length): length
        }
    }
}

/// Why a ZIP file cannot be written.
package enum ArchiveError: Error, Hashable, Sendable {
    case outOfMemory
    /// In the words of the library.
    case failed(reason: String)
}
