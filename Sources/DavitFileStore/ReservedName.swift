internal import DavitHTTP
internal import Synchronization

/// The name of a resource that is not yet or no longer part of the share: `.davit-` and 16 characters.
/// It is independent of the client's name for the resource, so that a resource whose name has 255 bytes can
/// be replaced, too.
///
/// Only this type knows the format. Clients can neither see nor use such names.
struct ReservedName: Hashable, Sendable {
    let bytes: [UInt8]

    private static let prefix = ".davit-"
    private static let randomCount = 16
    private static let length = prefix.utf8.count + randomCount

    /// The name of the trash folder at the root of each volume. Sweeps never remove this folder.
    static let trash = ReservedName(bytes: Array(".davit-trashofthisshare".utf8))

    private init(bytes: [UInt8]) { self.bytes = bytes }

    /// The number of names made by this process.
    private static let made = Atomic<UInt64>(0)

    /// Returns a name with 64 random bits and 16 bits that count the names of this process, which is unique for
    /// all practical purposes.
    static func random() -> ReservedName {
        var generator = SystemRandomNumberGenerator()
        // Call the generator only once, because each call is a system call.
        var bits = UInt128(generator.next()) << 16
        bits |= UInt128(made.wrappingAdd(1, ordering: .relaxed).newValue & 0xFFFF)
        return ReservedName(
            bytes: unsafe [UInt8](unsafeUninitializedCapacity: length) { room, count in
                var index = unsafe room.initialize(fromContentsOf: prefix.utf8)
                while index < length {
                    unsafe room.initializeElement(
                        at: index, to: character(UInt8(truncatingIfNeeded: bits & 31)))
                    bits >>= 5
                    index += 1
                }
                count = length
            })
    }

    /// - Parameter value: below 32.
    private static func character(_ value: UInt8) -> UInt8 {
        value < 26 ? UInt8(ascii: "a") + value : UInt8(ascii: "2") + (value - 26)
    }

    /// Returns nil if `segment` is an ordinary name.
    init?(_ segment: some Collection<UInt8>) {
        guard segment.count == Self.length, segment.starts(with: Self.prefix.utf8),
            segment.dropFirst(Self.prefix.utf8.count).allSatisfy({ byte in
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                    || (UInt8(ascii: "2")...UInt8(ascii: "7")).contains(byte)
            })
        else { return nil }
        bytes = Array(segment)
    }

    /// Whether a canonical path is a direct member of a trash.
    static func isTrash(above path: ResourcePath) -> Bool {
        path.parent.map { $0.name.elementsEqual(trash.bytes) } ?? false
    }

    static func occurs(in path: ResourcePath) -> Bool {
        let bytes = path.bytes
        var start = 0
        while start < bytes.count {
            var end = start
            while end < bytes.count, bytes[end] != UInt8(ascii: "/") { end += 1 }
            if bytes[start] == UInt8(ascii: "."), ReservedName(bytes[start..<end]) != nil { return true }
            start = end + 1
        }
        return false
    }
}
