/// Computes the length of a ZIP file of stored entries before it is written (APPNOTE 4.3, as implemented by
/// libarchive).
package struct ZIPLength: Sendable {
    private static let limit32 = Int64(UInt32.max)
    /// The extra fields that libarchive writes after each name: modification time and owner.
    private static let extraBytes: Int64 = 9 + 15

    private var contentEnd: Int64 = 0
    private var directoryBytes: Int64 = 0
    private var count = 0
    /// Whether the length exceeds the maximum of a number.
    private var isTooLong = false

    package init() {}

    /// Adds the length of one entry, whose method must be `stored`.
    package mutating func add(_ entry: ZIPEntry) { add(entry, written: entry.length) }

    /// - Parameter written: the number of bytes of content that are actually written.
    mutating func add(_ entry: ZIPEntry, written: Int64) {
        let offset = contentEnd
        let name = Int64(entry.path.count)
        let isLong = entry.length > Self.limit32
        let end = contentEnd.addingReportingOverflow(written)
        if end.overflow || end.partialValue > .max - (1 << 40) { isTooLong = true }
        if isTooLong { return }
        contentEnd = end.partialValue + 30 + name + Self.extraBytes + (isLong ? 20 : 0)
        // The data descriptor after the content: checksum and lengths.
        if entry.kind != .folder { contentEnd += isLong ? 24 : 16 }
        directoryBytes += 46 + name + Self.extraBytes
        if written > Self.limit32 || offset > Self.limit32 {
            let numbers = (written >= Self.limit32 ? 2 : 0) + (offset >= Self.limit32 ? 1 : 0)
            directoryBytes += 4 + 8 * Int64(numbers)
        }
        count += 1
    }

    /// The length of the entire file in bytes; nil if it is too large, as it can be with sparse files.
    package var bytes: Int64? {
        if isTooLong { return nil }
        let needsZIP64 =
            directoryBytes > Self.limit32 || contentEnd > Self.limit32 || count > Int(UInt16.max)
        return contentEnd + directoryBytes + (needsZIP64 ? 56 + 20 : 0) + 22
    }
}

#if Archive
extension ZIPLength {
    /// Whether the libarchive in use writes files of the length computed here; tested once. Otherwise no
    /// Content-Length may be sent.
    package static let isExact: Bool = {
        let entries = [
            ZIPEntry(path: Array("a/".utf8), kind: .folder, modifiedSeconds: 0),
            ZIPEntry(path: Array("a/ä".utf8), kind: .file(length: 0), modifiedSeconds: 1 << 31),
            ZIPEntry(path: [0x62, 0xFF], kind: .file(length: 3), modifiedSeconds: -1, isExecutable: true),
            ZIPEntry(path: Array("z".utf8), kind: .file(length: 1 << 33), modifiedSeconds: 1),
        ]
        var length = ZIPLength()
        guard let writer = try? ZIPWriter() else { return false }
        do throws(ArchiveError) {
            for entry in entries {
                let isWritten = entry.length < 1 << 32
                length.add(entry, written: isWritten ? entry.length : 0)
                try writer.begin(entry)
                // The content of the long entry is omitted; the next call ends the entry.
                while isWritten, try writer.endEntry() {}
            }
            try writer.finish()
        } catch {
            return false
        }
        return Int64(writer.count) == length.bytes
    }()
}
#endif
