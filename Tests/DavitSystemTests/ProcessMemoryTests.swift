import DavitSystem
import Testing

@Suite struct ProcessMemoryTests {
    /// The format of proc(5): a line for the mapping, then a line for each value, some of which are omitted
    /// here.
    private static func smaps(_ mapping: String, anonymousKilobytes: Int) -> String {
        """
        \(mapping)
        Size:                 64 kB
        Rss:                  64 kB
        Anonymous:        \(anonymousKilobytes) kB
        AnonHugePages:         0 kB
        VmFlags: rd ex mr mw me sd

        """
    }

    @Test(arguments: [
        "1000-2000 r-xp 00000000 fe:00 17   /usr/bin/davit",
        "1000-2000 r-xp 00026000 fe:00 17                   /usr/lib/a name with spaces.so",
    ])
    func unmodifiedCodeOfFilesIsUnmapped(mapping: String) {
        let text = Self.smaps(mapping, anonymousKilobytes: 0)
        #expect(CodeMappings.untouched(in: Array(text.utf8)) == [0x1000..<0x2000])
    }

    @Test(arguments: [
        "1000-2000 r--p 00000000 fe:00 17   /usr/bin/davit",
        "1000-2000 rw-p 00000000 fe:00 17   /usr/bin/davit",
        "1000-2000 rwxp 00000000 fe:00 17   /usr/bin/davit",
        "1000-2000 r-xs 00000000 fe:00 17   /usr/bin/davit",
        "1000-2000 r-xp 00000000 00:00 0    [vdso]",
        "1000-2000 r-xp 00000000 00:00 0",
        "2000-1000 r-xp 00000000 fe:00 17   /usr/bin/davit",
        "r-xp-1000 r-xp 00000000 fe:00 17   /usr/bin/davit",
    ])
    func nothingElseIsUnmapped(mapping: String) {
        let text = Self.smaps(mapping, anonymousKilobytes: 0)
        #expect(CodeMappings.untouched(in: Array(text.utf8)) == [])
    }

    /// Unmapping would discard modifications of the code.
    @Test func modifiedCodeIsKept() {
        let text =
            Self.smaps("1000-2000 r-xp 00000000 fe:00 17 /usr/bin/davit", anonymousKilobytes: 4)
            + Self.smaps("2000-3000 r--p 00001000 fe:00 17 /usr/bin/davit", anonymousKilobytes: 0)
            + Self.smaps("3000-4000 r-xp 00002000 fe:00 17 /usr/lib/libc.so", anonymousKilobytes: 0)
        #expect(CodeMappings.untouched(in: Array(text.utf8)) == [0x3000..<0x4000])
    }

    @Test func processContinuesAfterReturningMemory() throws {
        let before = (0..<1000).map { [UInt8](repeating: UInt8(truncatingIfNeeded: $0), count: 4096) }
        ProcessMemory.returnCode()
        ProcessMemory.returnFreeHeap()
        #expect(
            before.enumerated().allSatisfy {
                $1.allSatisfy { [index = $0] in $0 == UInt8(truncatingIfNeeded: index) }
            })
        #if os(Linux)
        let own = try SmallFile(reading: "/proc/self/smaps", limitBytes: 64 << 20).bytes
        #expect(!CodeMappings.untouched(in: own).isEmpty)
        #endif
    }
}
