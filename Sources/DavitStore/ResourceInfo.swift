public import DavitHTTP

/// Identifies a file independently of its name. The identity changes when the file is replaced, even by
/// another program.
public struct ResourceIdentity: Hashable, Sendable {
    public var inode: UInt64
    /// Birth time in nanoseconds since the epoch; 0 if the volume does not record it.
    public var birth: Int64

    public init(inode: UInt64, birth: Int64) {
        self.inode = inode
        self.birth = birth
    }
}

/// The attributes of a resource that PROPPATCH can change.
public struct ResourceAttributes: Hashable, Sendable {
    /// If true, sets each execute bit of content whose read bit is set; if false, clears all execute bits.
    /// Nil leaves them unchanged.
    public var isExecutable: Bool?
    /// The modification time, in whole seconds; the fraction is chosen so that content gets a new entity tag.
    /// Nil leaves it unchanged. A volume that cannot represent the second stores the nearest one it can.
    public var modified: Timestamp?

    /// - Parameters:
    ///   - isExecutable: see ``isExecutable``.
    ///   - modified: see ``modified``.
    public init(isExecutable: Bool? = nil, modified: Timestamp? = nil) {
        self.isExecutable = isExecutable
        self.modified = modified
    }

    /// The number of attributes to change.
    public var count: Int { (isExecutable == nil ? 0 : 1) + (modified == nil ? 0 : 1) }
}

/// The metadata of a resource, as of one lookup.
public struct ResourceInfo: Sendable {
    public enum Kind: Sendable { case collection, content }

    public var kind: Kind
    /// Length of the content in bytes; 0 for a collection.
    public var length: Int64
    public var modified: Timestamp
    /// Birth time; nil if the volume does not record it.
    public var created: Timestamp?
    public var identity: ResourceIdentity
    /// Identifies the volume; a rename cannot cross volumes.
    public var volume: UInt64
    /// Whether the owner's execute bit is set; false for a collection.
    public var isExecutable: Bool
    /// Distinguishes versions of content whose timestamps are too coarse to do so; otherwise 0.
    public var stamp: UInt64
    /// Whether the content has other hard links, under which it can also be modified.
    public var hasOtherNames: Bool
    /// Whether the client may know of this collection only because it is on the way to something that the client may use.
    /// Its times are then those of 1970.
    public var isPassage = false

    public init(
        kind: Kind, length: Int64, modified: Timestamp, created: Timestamp?, identity: ResourceIdentity,
        volume: UInt64, isExecutable: Bool, stamp: UInt64 = 0, hasOtherNames: Bool = false
    ) {
        self.kind = kind
        self.length = length
        self.modified = modified
        self.created = created
        self.identity = identity
        self.volume = volume
        self.isExecutable = isExecutable
        self.stamp = stamp
        self.hasOtherNames = hasOtherNames
    }

    public var isCollection: Bool { kind == .collection }

    /// Removes the metadata that a client must not see if it has no right to list this collection, but has rights to a
    /// resource below it. Only the existence of the collection remains.
    mutating func becomePassage() {
        guard isCollection else { return }
        isPassage = true
        modified = Timestamp(seconds: 0)
        created = nil
    }
}

extension ResourceInfo {
    /// The strong entity tag of content: inode, length, modification time in nanoseconds and, unless it is 0,
    /// the stamp, in hexadecimal. Every commit sets a distinct modification time or stamp and thus changes
    /// the tag.
    public var entityTag: EntityTag {
        EntityTag(opaque: unsafe withTag { unsafe Array($0) })
    }

    /// Whether ``entityTag`` is the same for both.
    public func hasSameTag(as other: ResourceInfo) -> Bool {
        identity.inode == other.identity.inode && length == other.length && modified == other.modified
            && stamp == other.stamp
    }

    /// Appends ``entityTag`` in its header field form without creating an ``EntityTag``.
    public func appendEncodedEntityTag(to text: inout [UInt8]) {
        unsafe withUnsafeTemporaryAllocation(byteCount: Self.longestEncodedEntityTag, alignment: 1) { room in
            let count = unsafe writeEncodedEntityTag(to: room)
            unsafe text.append(contentsOf: UnsafeRawBufferPointer(rebasing: room[..<count]))
        }
    }

    /// The maximum number of bytes of ``entityTag`` in its header field form.
    package static let longestEncodedEntityTag = 2 + 4 * 16 + 3

    /// Writes ``entityTag`` in its header field form.
    /// - Parameter memory: room for ``longestEncodedEntityTag`` bytes.
    /// - Returns: the number of bytes written.
    package func writeEncodedEntityTag(to memory: UnsafeMutableRawBufferPointer) -> Int {
        unsafe withTag { tag in
            unsafe memory.storeBytes(of: UInt8(ascii: "\""), as: UInt8.self)
            unsafe UnsafeMutableRawBufferPointer(rebasing: memory[1...]).copyMemory(from: tag)
            unsafe memory.storeBytes(of: UInt8(ascii: "\""), toByteOffset: tag.count + 1, as: UInt8.self)
            return tag.count + 2
        }
    }

    @inline(__always)
    private func withTag<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        // The text is written from its end, so that the text before a number overwrites its leading zeros.
        unsafe withUnsafeTemporaryAllocation(byteCount: 4 * 17 + 16, alignment: 1) { room in
            var start = room.count
            func prepend(_ value: UInt64) {
                unsafe room.storeBytes(
                    of: Self.hexDigits(value), toByteOffset: start - 16, as: SIMD16<UInt8>.self)
                start -= 16 - min(value.leadingZeroBitCount / 4, 15)
            }
            func prependHyphen() {
                start -= 1
                unsafe room.storeBytes(of: UInt8(ascii: "-"), toByteOffset: start, as: UInt8.self)
            }
            if stamp != 0 {
                prepend(stamp)
                prependHyphen()
            }
            prepend(UInt64(bitPattern: modified.nanoseconds))
            prependHyphen()
            prepend(UInt64(bitPattern: length))
            prependHyphen()
            prepend(identity.inode)
            return unsafe body(UnsafeRawBufferPointer(rebasing: room[start...]))
        }
    }

    /// Returns the 16 digits of a number in lower-case hexadecimal, the most significant one first.
    private static func hexDigits(_ value: UInt64) -> SIMD16<UInt8> {
        let bytes = unsafe unsafeBitCast(value.bigEndian, to: SIMD8<UInt8>.self)
        var digits = SIMD16<UInt8>()
        digits.evenHalf = bytes &>> 4
        digits.oddHalf = bytes & 15
        // 1 for values from 10 on, which are letters. A comparison of the vectors would be compiled to a loop.
        let letters = (digits &+ 6) &>> 4
        return digits &+ UInt8(ascii: "0") &+ letters &* (UInt8(ascii: "a") - UInt8(ascii: "0") - 10)
    }
}
