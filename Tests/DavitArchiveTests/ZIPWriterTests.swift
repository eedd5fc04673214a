#if Archive
import DavitArchive
import DavitTesting
import Testing

struct ZIPWriterTests {
    static func file(
        _ path: String, _ length: Int, _ method: ZIPEntry.Method = .stored, modified: Int64 = 1_000_000_000
    ) -> ZIPEntry {
        ZIPEntry(
            path: Array(path.utf8), kind: .file(length: Int64(length)), method: method,
            modifiedSeconds: modified)
    }

    static func folder(_ path: String) -> ZIPEntry {
        ZIPEntry(path: Array(path.utf8), kind: .folder, modifiedSeconds: 1_000_000_000)
    }

    /// Returns the written bytes, and the length computed by ``ZIPLength``.
    static func write(_ entries: [(ZIPEntry, [UInt8])]) throws -> (bytes: [UInt8], counted: Int64?) {
        let writer = try ZIPWriter()
        var length = ZIPLength()
        var bytes: [UInt8] = []
        for (entry, content) in entries {
            length.add(entry)
            try writer.begin(entry)
            try unsafe content.span.withUnsafeBytes { bytes throws(ArchiveError) in
                try unsafe writer.write(bytes)
            }
            while try writer.endEntry() { take(&bytes, from: writer) }
            take(&bytes, from: writer)
        }
        try writer.finish()
        while writer.count > 0 { take(&bytes, from: writer) }
        return (bytes, length.bytes)
    }

    /// Takes part of the available output.
    private static func take(_ bytes: inout [UInt8], from writer: ZIPWriter) {
        unsafe writer.take {
            let count = max(1, $0.count * 2 / 3)
            unsafe bytes.append(contentsOf: $0.prefix(count))
            return count
        }
    }

    @Test func writtenArchiveReadsBackUnchanged() throws {
        let text = Array(String(repeating: "a line of text\n", count: 60).utf8)
        let (bytes, _) = try Self.write([
            (Self.folder("d/"), []), (Self.file("d/stored", 5), Array("hello".utf8)),
            (Self.file("d/deflated.txt", text.count, .deflated), text), (Self.file("d/empty", 0), []),
            (Self.folder("d/none/"), []),
        ])
        let contents = try ZIPContents(bytes)
        #expect(contents.names == ["d/", "d/stored", "d/deflated.txt", "d/empty", "d/none/"])
        #expect(contents["d/stored"]?.content == Array("hello".utf8))
        #expect(contents["d/deflated.txt"]?.content == text)
        #expect(contents["d/deflated.txt"]?.isDeflated == true)
        #expect(contents["d/empty"]?.content == [])
        #expect(bytes.count < 1200)
    }

    /// APPNOTE 4.4.4: bit 11 marks a name as UTF-8. A name without the bit is written byte for byte, except for
    /// characters that `ZIPEntry` percent-encodes.
    @Test(arguments: [
        (Array("plain".utf8), false), (Array("bücher/ä.txt".utf8), true), (Array("日本語 🎉".utf8), true),
        ([0x62, 0xFF, 0x62], false), (Array("a\u{301}".utf8), true), (Array("a\nbc\"'".utf8), false),
        ([0xED, 0xA0, 0x80], false),
    ])
    func entryNamesArePreserved(name: [UInt8], isUTF8: Bool) throws {
        let entry = ZIPEntry(path: name, kind: .file(length: 0), modifiedSeconds: 0)
        let read = try #require(try ZIPContents(Self.write([(entry, [])]).bytes).entries.first)
        #expect(read.name == name)
        #expect(read.isUTF8 == isUTF8)
    }

    /// The time field has 32 bits, which `ZIPContents` interprets as signed.
    @Test func timesOutOfRangeAreClamped() throws {
        for (modified, read) in [(Int64(UInt32.max) + 1, -1), (.max, -1), (.min, Int(Int32.min))] {
            let contents = try ZIPContents(Self.write([(Self.file("a", 0, modified: modified), [])]).bytes)
            #expect(contents["a"]?.modifiedSeconds == read)
        }
    }

    @Test(arguments: [-1, 0, 1, 999_999_999, Int64(Int32.max)])
    func timesHaveSecondPrecision(modified: Int64) throws {
        let contents = try ZIPContents(Self.write([(Self.file("a", 0, modified: modified), [])]).bytes)
        #expect(contents["a"]?.modifiedSeconds == Int(modified))
    }

    @Test func executableBitIsPreserved() throws {
        var program = Self.file("run", 0)
        program.isExecutable = true
        let contents = try ZIPContents(Self.write([(program, []), (Self.file("read", 0), [])]).bytes)
        #expect(contents["run"]?.mode == 0o755)
        #expect(contents["read"]?.mode == 0o644)
    }

    /// A file that shrinks or grows while it is read must not damage the rest of the archive.
    @Test(arguments: [ZIPEntry.Method.stored, .deflated])
    func contentHasTheDeclaredLength(method: ZIPEntry.Method) throws {
        let (bytes, _) = try Self.write([
            (Self.file("short", 200_000, method), Array("x".utf8)),
            (Self.file("long", 3, method), Array("abcdef".utf8)),
            (Self.file("after", 1), Array("z".utf8)),
        ])
        let contents = try ZIPContents(bytes)
        #expect(contents["short"]?.length == 200_000)
        #expect(contents["long"]?.content == Array("abc".utf8))
        #expect(contents["after"]?.content == Array("z".utf8))
    }

    @Test func writerCanBeAbandonedAtAnyPoint() throws {
        for isInContent in [false, true] {
            let writer = try ZIPWriter()
            try writer.begin(Self.file("a", 1 << 40, .deflated))
            if isInContent {
                let content = [UInt8](repeating: 1, count: 100)
                try unsafe content.span.withUnsafeBytes { bytes throws(ArchiveError) in
                    try unsafe writer.write(bytes)
                }
            }
        }
    }
}

struct ZIPLengthTests {
    /// Archives with a long name, and with 65,535 and 65,536 entries. Content of 4 GiB is
    /// tested separately.
    static let tables: [[(ZIPEntry, [UInt8])]] = [
        [], [(ZIPWriterTests.folder("a/"), [])],
        [(ZIPWriterTests.file("a", 0), []), (ZIPWriterTests.file("ä", 3), [1, 2, 3])],
        [(ZIPWriterTests.file(String(repeating: "x", count: 65_000), 70_000), [])],
        (0..<300).map { (ZIPWriterTests.file("\($0)", $0), []) },
        (0..<65_535).map { (ZIPWriterTests.folder("\($0)/"), []) },
        (0..<65_536).map { (ZIPWriterTests.folder("\($0)/"), []) },
    ]

    @Test func computedLengthEqualsWrittenLength() throws {
        #expect(ZIPLength.isExact)
        for table in Self.tables {
            let (bytes, counted) = try ZIPWriterTests.write(table)
            #expect(Int64(bytes.count) == counted, "\(table.count)")
        }
    }

    @Test func moreThan65535EntriesUseZIP64() throws {
        let entries = (0..<65_600).map { (ZIPWriterTests.folder("\($0)/"), [UInt8]()) }
        let contents = try ZIPContents(ZIPWriterTests.write(entries).bytes)
        #expect(contents.entries.count == 65_600)
        #expect(contents.entries.last?.text == "65599/")
    }

    /// APPNOTE 4.5.3: content of 4 GiB, and entries that begin after it. The writer pads the content with
    /// zeros; only the length of the archive is checked, and the bytes are not stored.
    @Test func moreThan4GiBUsesZIP64() throws {
        let entries = [
            ZIPEntry(path: [0x61], kind: .file(length: 1 << 32), modifiedSeconds: 0),
            ZIPEntry(path: [0x62], kind: .file(length: 1), modifiedSeconds: 0),
            ZIPEntry(path: [0x63, 0x2F], kind: .folder, modifiedSeconds: 0),
        ]
        let writer = try ZIPWriter()
        var (length, count) = (ZIPLength(), Int64(0))
        for entry in entries {
            length.add(entry)
            try writer.begin(entry)
            while try writer.endEntry() {
                unsafe writer.take {
                    count += Int64($0.count)
                    return $0.count
                }
            }
        }
        try writer.finish()
        #expect(count + Int64(writer.count) == length.bytes)
    }
}
#endif
