#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// One entry of a ``DirectoryBlock``; points into it, and is not valid once the block is read again or gone.
@safe package struct DirectoryEntry: ~Copyable {
    /// What the directory itself says, without a look at the file.
    package enum Kind: Sendable { case regular, directory, symbolicLink, special, unknown }

    /// Ends with a NUL.
    let name: UnsafePointer<CChar>
    package let kind: Kind
    private let count: Int

    /// - Parameter limit: bytes at `name` at most, with the NUL.
    init(name: UnsafePointer<CChar>, limit: Int, kind: Kind) {
        unsafe self.name = name
        self.kind = kind
        count = unsafe strnlen(name, limit)
    }

    package var bytes: [UInt8] {
        unsafe Array(UnsafeRawBufferPointer(start: name, count: count))
    }

    /// Makes `buffer` the name, in the memory it has.
    package func copy(to buffer: inout [UInt8]) {
        buffer.removeAll(keepingCapacity: true)
        unsafe buffer.append(contentsOf: UnsafeRawBufferPointer(start: name, count: count))
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
    /// Calls `body` for each entry of the block but `.` and `..` that ``advance()`` has not come to yet.
    package mutating func scan<Failure: Error>(
        _ body: (borrowing DirectoryEntry) throws(Failure) -> Void
    ) throws(Failure) {
        while advance() { try body(entry) }
    }
}
