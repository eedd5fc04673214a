/// One entry of a ``DirectoryBlock``; not valid after the call that lends it.
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
        var count = 0
        while count < limit, unsafe name[count] != 0 { count += 1 }
        self.count = count
    }

    package var bytes: [UInt8] {
        unsafe Array(UnsafeRawBufferPointer(start: name, count: count))
    }

    package var startsWithDot: Bool { unsafe name[0] == CChar(0x2E) }

    var isSelfOrParent: Bool {
        guard startsWithDot, count <= 2 else { return false }
        return unsafe count == 1 || name[1] == CChar(0x2E)
    }
}
