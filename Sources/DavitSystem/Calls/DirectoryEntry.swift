#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// An entry of a ``DirectoryBlock``. It points into the block, and is invalid once the block is read again or
/// destroyed.
@safe package struct DirectoryEntry: ~Copyable {
    /// The file type as stored in the directory, without a `stat` call.
    package enum Kind: Sendable { case regular, directory, symbolicLink, special, unknown }

    /// The NUL-terminated name.
    let name: UnsafePointer<CChar>
    package let kind: Kind
    private let count: Int

    /// - Parameter limit: the maximum number of bytes at `name`, including the NUL.
    init(name: UnsafePointer<CChar>, limit: Int, kind: Kind) {
        unsafe self.name = name
        self.kind = kind
        count = unsafe strnlen(name, limit)
    }

    package var bytes: [UInt8] {
        unsafe Array(UnsafeRawBufferPointer(start: name, count: count))
    }

    /// Copies the name to `buffer`, reusing its storage.
    package func copy(to buffer: inout [UInt8]) {
        let bytes = unsafe UnsafeRawBufferPointer(start: name, count: count)
        // Names in a directory often have the same length. Assigning them is much cheaper than replacing a range.
        if buffer.count == count {
            unsafe buffer.withUnsafeMutableBytes { unsafe $0.copyMemory(from: bytes) }
        } else {
            buffer.removeAll(keepingCapacity: true)
            unsafe buffer.append(contentsOf: bytes)
        }
    }

    package var isASCII: Bool {
        unsafe UnsafeRawBufferPointer(start: name, count: count).allSatisfy { $0 < 0x80 }
    }

    package var startsWithDot: Bool { unsafe name[0] == CChar(0x2E) }

    var isSelfOrParent: Bool {
        guard startsWithDot, count <= 2 else { return false }
        return unsafe count == 1 || name[1] == CChar(0x2E)
    }
}

extension DirectoryBlock {
    /// Calls `body` for each remaining entry of the block except `.` and `..`.
    package mutating func scan<Failure: Error>(
        _ body: (borrowing DirectoryEntry) throws(Failure) -> Void
    ) throws(Failure) {
        while advance() { try body(entry) }
    }
}
