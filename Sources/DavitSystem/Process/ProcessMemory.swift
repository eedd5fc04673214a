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

/// Returns unused memory of this process to the system.
package enum ProcessMemory {
    /// Returns free pages of the heap to the system; the C library does so by itself only at the end of the
    /// heap. Can be called on any thread. Takes about a millisecond per ten MiB, during which allocations on
    /// other threads wait.
    package static func returnFreeHeap() {
        #if os(Linux)
        davit_return_free_heap()
        #else
        _ = unsafe malloc_zone_pressure_relief(nil, 0)
        #endif
    }

    /// Makes the heap return each block of 256 KiB or more to the system when it is freed, and keep at most
    /// 1 MiB of free memory at the end of each arena. Affects the entire process: call it only from a
    /// program, not from a library, and at the start of the program, before blocks are freed.
    ///
    /// Such blocks, for example property values, decoded texts and the buffers of large uploads, then cost
    /// system calls and page faults instead of being reused.
    package static func returnLargeBlocks() {
        #if os(Linux)
        davit_fix_heap_thresholds(256 << 10, 1 << 20)
        #endif
    }

    #if os(Linux)
    /// Unmaps the code pages used so far; pages that are used again are mapped from the page cache, without
    /// disk access. Call it when the program is ready: relocating and initializing the program and its
    /// libraries touches most of their pages, and serving needs few of them.
    package static func returnCode() {
        guard let file = try? SmallFile(reading: "/proc/self/smaps") else { return }
        for range in CodeMappings.untouched(in: file.bytes) {
            // Only a hint: if the call fails, the pages remain mapped.
            _ = unsafe madvise(
                UnsafeMutableRawPointer(bitPattern: range.lowerBound), range.count, MADV_DONTNEED)
        }
    }
    #else
    /// Does nothing, because the system has no such call.
    package static func returnCode() {}
    #endif
}

/// Finds code mappings in `/proc/PID/smaps` (proc(5)).
package enum CodeMappings {
    /// Returns the file mappings that are executable and not writable, and of which no page was modified.
    /// Unmapping modified pages would lose a debugger's breakpoints or relocations in the code.
    package static func untouched(in smaps: [UInt8]) -> [Range<UInt>] {
        var result: [Range<UInt>] = []
        var candidate: Range<UInt>?
        var rest = smaps[...]
        while let first = rest.first {
            let line = rest.prefix { $0 != UInt8(ascii: "\n") }
            rest = rest[line.endIndex...].dropFirst()
            // The names of fields begin with a capital letter, those of mappings with their address in lower case.
            if first == UInt8(ascii: "A"), line.starts(with: "Anonymous:".utf8) {
                if isZero(line), let range = candidate { result.append(range) }
                candidate = nil
            } else if first > UInt8(ascii: "Z") || first < UInt8(ascii: "A") {
                candidate = codeOfFile(line)
            }
        }
        return result
    }

    /// Whether the number of a line such as `Anonymous:       0 kB` is 0.
    private static func isZero(_ line: ArraySlice<UInt8>) -> Bool {
        line.split(separator: UInt8(ascii: " ")).dropFirst().first?.elementsEqual("0".utf8) == true
    }

    /// Returns the range of a mapping if it is executable and has an inode.
    private static func codeOfFile(_ line: ArraySlice<UInt8>) -> Range<UInt>? {
        let address = line.prefix { $0 != UInt8(ascii: " ") }
        // Most mappings are not code.
        guard line[address.endIndex...].starts(with: " r-xp ".utf8) else { return nil }
        let words = line.split(separator: UInt8(ascii: " "), maxSplits: 5)
        return words.count >= 5 && !words[4].elementsEqual("0".utf8) ? range(address) : nil
    }

    /// Parses `START-END` in hexadecimal.
    private static func range(_ word: ArraySlice<UInt8>) -> Range<UInt>? {
        let bounds = word.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard bounds.count == 2, let start = UInt(String(decoding: bounds[0], as: UTF8.self), radix: 16),
            let end = UInt(String(decoding: bounds[1], as: UTF8.self), radix: 16), start < end
        else { return nil }
        return start..<end
    }
}
