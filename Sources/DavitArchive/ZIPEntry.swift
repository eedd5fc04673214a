/// One entry of a ZIP file.
package struct ZIPEntry: Sendable {
    package enum Kind: Hashable, Sendable {
        case folder
        /// Content of exactly this length in bytes.
        case file(length: Int64)
    }

    package enum Method: Hashable, Sendable {
        case stored, deflated
    }

    /// The segments joined by slashes, without a leading slash; the path of a folder ends in a slash. See
    /// ``portable(_:)``.
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

    /// Encodes the characters with which a path could leave the folder in which it is unpacked on Windows. No
    /// segment may be `.` or `..`.
    ///
    /// A backslash is an ordinary character in a name, but a separator for programs on Windows: `..\..\name`
    /// would refer to another folder, as would a drive letter. Backslashes and the colon of a drive letter
    /// are percent-encoded, because the format does not allow them (APPNOTE 4.4.17.1).
    ///
    /// The encoding is unambiguous: a percent sign that already begins one of these codes is encoded, too.
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

    /// The hexadecimal digits of the codes that ``portable(_:)`` generates.
    private static let codes = ["25", "3A", "5C"].map { Array($0.utf8) }

    /// The maximum length of a path in bytes: the format has a 16-bit length field.
    package static let pathLimit = Int(UInt16.max)

    /// The length of the content in bytes; 0 for a folder.
    package var length: Int64 {
        switch kind {
        case .folder: 0
        case .file(let length): length
        }
    }
}

/// The reason why a ZIP file cannot be written.
package enum ArchiveError: Error, Hashable, Sendable {
    case outOfMemory
    /// The error message of libarchive.
    case failed(reason: String)
}
