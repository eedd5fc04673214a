public import DavitHTTP

/// Which file a resource is, apart from its name: it changes when the resource is replaced, also behind
/// the server's back.
public struct ResourceIdentity: Hashable, Sendable {
    public var inode: UInt64
    /// Birth time in nanoseconds since the epoch; 0 where the volume has none.
    public var birth: Int64

    public init(inode: UInt64, birth: Int64) {
        self.inode = inode
        self.birth = birth
    }
}

/// What PROPPATCH can change about a resource itself.
public struct ResourceAttributes: Hashable, Sendable {
    /// Sets the execute bits of content the way the read bits are, or clears them; nil if they stay.
    public var isExecutable: Bool?
    /// The modification time, to whole seconds: what is below a second is chosen so that content gets a new entity tag.
    /// Nil if it stays. A volume that cannot hold the second keeps the nearest one it can.
    public var modified: Timestamp?

    /// - Parameters:
    ///   - isExecutable: see ``isExecutable``.
    ///   - modified: see ``modified``.
    public init(isExecutable: Bool? = nil, modified: Timestamp? = nil) {
        self.isExecutable = isExecutable
        self.modified = modified
    }

    /// How many are given.
    public var count: Int { (isExecutable == nil ? 0 : 1) + (modified == nil ? 0 : 1) }
}

/// What one look at a resource tells.
public struct ResourceInfo: Sendable {
    public enum Kind: Sendable { case collection, content }

    public var kind: Kind
    /// Bytes of content; 0 for a collection.
    public var length: Int64
    public var modified: Timestamp
    /// Birth time; nil where the volume has none.
    public var created: Timestamp?
    public var identity: ResourceIdentity
    /// The volume; a rename does not cross from one to another.
    public var volume: UInt64
    /// The owner's execute bit of content.
    public var isExecutable: Bool
    /// Tells versions apart on a volume that keeps no nanoseconds; 0 elsewhere.
    public var stamp: UInt64
    /// Content that has other names as well: it can change under one of those.
    public var hasOtherNames: Bool

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
}

extension ResourceInfo {
    /// The strong entity tag of content: inode, length, modification time in nanoseconds and stamp, in hex.
    /// Every commit gives its content a modification time of its own, so that it changes with each one.
    public var entityTag: EntityTag {
        var text: [UInt8] = []
        text.reserveCapacity(48)
        appendTag(to: &text)
        return EntityTag(opaque: text)
    }

    /// Appends ``entityTag`` as it stands in a field, without making it.
    public func appendEncodedEntityTag(to text: inout [UInt8]) {
        text.append(UInt8(ascii: "\""))
        appendTag(to: &text)
        text.append(UInt8(ascii: "\""))
    }

    private func appendTag(to text: inout [UInt8]) {
        text.appendHex(identity.inode)
        text.append(UInt8(ascii: "-"))
        text.appendHex(UInt64(bitPattern: length))
        text.append(UInt8(ascii: "-"))
        text.appendHex(UInt64(bitPattern: modified.nanoseconds))
        if stamp != 0 {
            text.append(UInt8(ascii: "-"))
            text.appendHex(stamp)
        }
    }
}

extension [UInt8] {
    fileprivate mutating func appendHex(_ value: UInt64) {
        var shift = (63 - (value | 1).leadingZeroBitCount) & ~3
        while shift >= 0 {
            let digit = UInt8(truncatingIfNeeded: value >> UInt64(shift)) & 15
            append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
            shift -= 4
        }
    }
}
