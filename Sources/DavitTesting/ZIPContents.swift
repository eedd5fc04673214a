#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The contents of a ZIP file as read by Python, which verifies each checksum, and tested by `unzip` if it is
/// installed.
public struct ZIPContents: Sendable {
    /// An entry of the central directory.
    public struct Entry: Hashable, Sendable {
        /// The name as raw bytes.
        public var name: [UInt8]
        /// Whether the name is UTF-8 (bit 11 of the flags).
        public var isUTF8: Bool
        public var isDeflated: Bool
        public var length: Int
        /// The permission bits.
        public var mode: Int
        /// The modification time from the UT extra field, in seconds since the epoch.
        public var modifiedSeconds: Int
        /// The content; nil if it is longer than 10,000 bytes.
        public var content: [UInt8]?

        public var text: String { String(decoding: name, as: UTF8.self) }
    }

    public let entries: [Entry]

    /// The reason why the file is not a valid ZIP file.
    public struct Malformed: Error {
        public let reason: String
    }

    public init(_ bytes: [UInt8]) throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/a.zip"
        guard let file = unsafe fopen(path, "w") else { throw Malformed(reason: "cannot create the file") }
        let written = unsafe fwrite(bytes, 1, bytes.count, file)
        unsafe fclose(file)
        guard written == bytes.count else { throw Malformed(reason: "cannot write the file") }
        let unzip = "if command -v unzip >/dev/null; then unzip -tqq '\(path)' 2>&1; fi"
        guard let tested = ShellCommand.run(unzip), tested.status == 0, tested.output.isEmpty else {
            throw Malformed(reason: "unzip reports an error")
        }
        guard let read = ShellCommand.run("python3 -c '\(Self.program)' '\(path)' 2>&1"), read.status == 0
        else {
            throw Malformed(reason: "Python cannot read the file")
        }
        entries = try read.output.split(separator: UInt8(ascii: "\n")).map { try Self.entry(of: $0) }
    }

    /// Returns the entry with this name.
    public subscript(name: String) -> Entry? { entries.first { $0.name == Array(name.utf8) } }

    public var names: [String] { entries.map(\.text) }

    private static let program = """
        import struct, sys, zipfile
        archive = zipfile.ZipFile(sys.argv[1])
        assert archive.testzip() is None
        for entry in archive.infolist():
            name = entry.orig_filename.encode("utf-8" if entry.flag_bits & 0x800 else "cp437")
            start = entry.extra.index(b"UT") + 5
            time = struct.unpack("<i", entry.extra[start:start + 4])[0]
            content = archive.read(entry).hex() if entry.file_size <= 10000 else "-"
            print(name.hex(), entry.flag_bits >> 11 & 1, entry.compress_type, entry.file_size,
                  entry.external_attr >> 16 & 0o777, time, "=" + content)
        """

    private static func entry(of line: ArraySlice<UInt8>) throws -> Entry {
        let words = line.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
        guard words.count == 7, let method = Int(words[2]), let length = Int(words[3]),
            let mode = Int(words[4]),
            let time = Int(words[5])
        else { throw Malformed(reason: String(decoding: line, as: UTF8.self)) }
        let content = words[6].dropFirst()
        return Entry(
            name: bytes(ofHex: words[0][...]), isUTF8: words[1] == "1", isDeflated: method == 8,
            length: length,
            mode: mode, modifiedSeconds: time, content: content == "-" ? nil : bytes(ofHex: content))
    }

    private static func bytes(ofHex text: Substring) -> [UInt8] {
        let digits = Array(text)
        return stride(from: 0, to: digits.count - 1, by: 2).compactMap {
            UInt8(String(digits[$0...($0 + 1)]), radix: 16)
        }
    }
}
