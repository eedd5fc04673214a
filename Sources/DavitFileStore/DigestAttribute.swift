internal import DavitHTTP
internal import DavitStore
internal import DavitSystem

/// The digests of content that a client sent when it uploaded it, as an extended attribute of the file.
///
/// The attribute also contains the inode, the length, the modification time and the stamp that the content had then: all that
/// its entity tag consists of. So digests apply neither to a copy of the file, nor to content that was changed in place. One of up
/// to 32 bytes fits into an inode of 256 bytes on ext4 that has no other attributes, so that it needs no block of its own.
enum DigestAttribute {
    static let name = "user.davit.digest"
    /// More than all algorithms need.
    private static let longest = 256

    /// Returns false if the volume cannot store the digests.
    static func write(
        _ digests: [ContentDigest], of info: ResourceInfo, to file: borrowing FileDescriptor
    ) -> Bool {
        let value = encode(digests, of: info)
        return value.count <= longest && (try? file.setAttribute(name, to: value)) != nil
    }

    /// Returns the digests of the content of a member; none if the content has changed since, or if they cannot be read.
    static func read(
        of member: [UInt8], in directory: borrowing FileDescriptor, of info: ResourceInfo
    ) -> [ContentDigest] {
        guard let value = (try? directory.attribute(name, of: member, limit: longest)) ?? nil else {
            return []
        }
        return decode(value, of: info)
    }

    /// The digests follow the version of the content, each as the number of its algorithm and the bytes.
    static func encode(_ digests: [ContentDigest], of info: ResourceInfo) -> [UInt8] {
        var value = version(of: info)
        for digest in digests where digest.bytes.count == digest.algorithm.byteCount {
            value.append(number(of: digest.algorithm))
            value += digest.bytes
        }
        return value
    }

    /// Returns the digests of a value; none if it is malformed, or describes other content.
    static func decode(_ value: [UInt8], of info: ResourceInfo) -> [ContentDigest] {
        let version = version(of: info)
        guard value.starts(with: version) else { return [] }
        var digests: [ContentDigest] = []
        var rest = value[version.count...]
        while let first = rest.popFirst() {
            guard let algorithm = DigestAlgorithm.allCases.first(where: { number(of: $0) == first }),
                rest.count >= algorithm.byteCount
            else { return [] }
            digests.append(ContentDigest(algorithm, Array(rest.prefix(algorithm.byteCount))))
            rest = rest.dropFirst(algorithm.byteCount)
        }
        return digests
    }

    /// The number of the following integers of 8 bytes, and what an entity tag consists of. The stamp is usually 0, and omitted.
    private static func version(of info: ResourceInfo) -> [UInt8] {
        var parts = [
            info.identity.inode, UInt64(bitPattern: info.length),
            UInt64(bitPattern: info.modified.nanoseconds),
        ]
        if info.stamp != 0 { parts.append(info.stamp) }
        var bytes = [UInt8(parts.count)]
        bytes.reserveCapacity(longest)
        for part in parts {
            for shift in stride(from: 56, through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: part >> UInt64(shift)))
            }
        }
        return bytes
    }

    /// Stored in attributes, so it must never change.
    private static func number(of algorithm: DigestAlgorithm) -> UInt8 {
        switch algorithm {
        case .sha256: 1
        case .sha512: 2
        case .sha1: 3
        case .md5: 4
        case .adler32: 5
        }
    }
}
