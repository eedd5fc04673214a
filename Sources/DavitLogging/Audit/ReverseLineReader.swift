package import DavitSystem

/// Reads the lines of a file from the last one to the first, in blocks, with memory for one block and one line.
package struct ReverseLineReader: ~Copyable {
    /// The maximum length of a line in bytes; longer ones are left out.
    package static let lineLimit = 1 << 20
    private static let blockBytes = 64 << 10

    private let file: FileDescriptor
    /// The offset of the first byte in ``bytes``.
    private var offset: Int64
    /// The bytes before the line that was returned last.
    private var bytes: [UInt8] = []
    /// Whether the end of ``bytes`` belongs to a line that is too long.
    private var isSkipping = false

    /// Opens a file. Lines that are appended later are not read.
    package init(_ path: String) throws(SystemError) {
        let opened = try FileDescriptor.reading(path)
        let length = try opened.length()
        file = opened
        offset = length
    }

    /// Returns the line before the one that was returned last, and its offset; nil at the beginning of the file. An incomplete
    /// last line is returned like others; empty lines are left out.
    package mutating func next() throws(SystemError) -> (line: [UInt8], offset: Int64)? {
        while true {
            if let end = bytes.lastIndex(of: UInt8(ascii: "\n")) {
                let line = Array(bytes[(end + 1)...])
                let start = offset + Int64(end) + 1
                bytes.removeSubrange(end...)
                if take(line) { return (line, start) }
                continue
            }
            if offset == 0 {
                let line = bytes
                bytes = []
                return take(line) ? (line, 0) : nil
            }
            if bytes.count > Self.lineLimit { (bytes, isSkipping) = ([], true) }
            try readBlock()
        }
    }

    /// Returns whether a line is usable.
    private mutating func take(_ line: [UInt8]) -> Bool {
        defer { isSkipping = false }
        return !isSkipping && !line.isEmpty
    }

    private mutating func readBlock() throws(SystemError) {
        let count = Int(min(Int64(Self.blockBytes), offset))
        let block = try file.bytes(at: offset - Int64(count), count: count)
        // The file was truncated in the meantime.
        if block.count < count { throw SystemError(errno: 5, call: "pread") }
        offset -= Int64(count)
        bytes.insert(contentsOf: block, at: 0)
    }

    /// Returns a line that ``next()`` has returned.
    package borrowing func line(at offset: Int64, count: Int) throws(SystemError) -> [UInt8] {
        try file.bytes(at: offset, count: count)
    }
}

extension FileDescriptor {
    /// Reads up to `count` bytes; fewer only at the end of the file.
    fileprivate borrowing func bytes(at offset: Int64, count: Int) throws(SystemError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let result = unsafe bytes.withUnsafeMutableBytes { buffer in
                Result { () throws(SystemError) in
                    try unsafe self.read(
                        at: offset + Int64(filled),
                        into: UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]))
                }
            }
            let added = try result.get()
            if added == 0 { break }
            filled += added
        }
        bytes.removeLast(count - filled)
        return bytes
    }
}
