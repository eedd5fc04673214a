#if os(Linux)
internal import CLinux
#endif
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Memory that this process holds and does not need.
package enum ProcessMemory {
    /// Gives whole free pages of the heap back to the system, which the C library does by itself only at the end of
    /// the heap. From any thread; takes a millisecond for some ten MiB, in which others wait if they allocate.
    package static func returnFreeHeap() {
        #if os(Linux)
        davit_return_free_heap()
        #else
        _ = unsafe malloc_zone_pressure_relief(nil, 0)
        #endif
    }

    #if os(Linux)
    /// Unmaps the pages of code that have been used up to now; what is used again is mapped again, from the page
    /// cache, without a disk. For the moment when a program is ready: relocating and initialising it and its
    /// libraries has touched most of their pages, and serving touches few of them.
    package static func returnCode() {
        guard let file = try? SmallFile(reading: "/proc/self/smaps") else { return }
        for range in CodeMappings.untouched(in: file.bytes) {
            // A hint: if it is refused, the pages stay.
            _ = unsafe madvise(
                UnsafeMutableRawPointer(bitPattern: range.lowerBound), range.count, MADV_DONTNEED)
        }
    }
    #else
    /// Does nothing: the system has no call for it.
    package static func returnCode() {}
    #endif
}

/// Code in `/proc/PID/smaps`, proc(5).
package enum CodeMappings {
    /// The mappings of files that can be executed and not written, and of which no page was changed: a debugger's
    /// breakpoint, or a relocation in the code, would be lost.
    package static func untouched(in smaps: [UInt8]) -> [Range<UInt>] {
        var result: [Range<UInt>] = []
        var candidate: Range<UInt>?
        for line in smaps.split(separator: UInt8(ascii: "\n")) {
            let words = line.split(separator: UInt8(ascii: " "), maxSplits: 5)
            if words.count >= 5, let range = range(words[0]) {
                let isCode = words[1].elementsEqual("r-xp".utf8)
                candidate = isCode && !words[4].elementsEqual("0".utf8) ? range : nil
            } else if words.count >= 2, words[0].elementsEqual("Anonymous:".utf8) {
                if words[1].elementsEqual("0".utf8), let range = candidate { result.append(range) }
                candidate = nil
            }
        }
        return result
    }

    /// `START-END`, hexadecimal.
    private static func range(_ word: ArraySlice<UInt8>) -> Range<UInt>? {
        let bounds = word.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard bounds.count == 2, let start = UInt(String(decoding: bounds[0], as: UTF8.self), radix: 16),
            let end = UInt(String(decoding: bounds[1], as: UTF8.self), radix: 16), start < end
        else { return nil }
        return start..<end
    }
}
