import DavitHTTP
import DavitStore
import Testing

struct EntityTagTests {
    private static let numbers: [UInt64] = [0, 1, 9, 10, 15, 16, 0xabcdef, 1 << 32, UInt64.max >> 1, .max]

    /// The parts of an entity tag are compared with the digits that the standard library writes.
    @Test(arguments: numbers, [0, 1, UInt64.max])
    func partsAreHexadecimalNumbers(number: UInt64, stamp: UInt64) {
        for other in Self.numbers {
            let info = ResourceInfo(
                kind: .content, length: Int64(bitPattern: other),
                modified: Timestamp(nanoseconds: Int64(bitPattern: number)), created: nil,
                identity: ResourceIdentity(inode: number, birth: 0), volume: 0, isExecutable: false,
                stamp: stamp)
            let parts = [number, other, number] + (stamp == 0 ? [] : [stamp])
            let text = parts.map { String($0, radix: 16) }.joined(separator: "-")
            #expect(String(decoding: info.entityTag.encoded, as: UTF8.self) == "\"\(text)\"")
            #expect(info.hasSameTag(as: info))
            var encoded = Array("before ".utf8)
            info.appendEncodedEntityTag(to: &encoded)
            #expect(String(decoding: encoded, as: UTF8.self) == "before \"\(text)\"")
        }
    }

    @Test func everyPartDistinguishesVersions() {
        let info = ResourceInfo(
            kind: .content, length: 1, modified: Timestamp(nanoseconds: 2), created: nil,
            identity: ResourceIdentity(inode: 3, birth: 4), volume: 5, isExecutable: false, stamp: 6)
        var others = [info, info, info, info]
        others[0].length = 7
        others[1].modified = Timestamp(nanoseconds: 7)
        others[2].identity.inode = 7
        others[3].stamp = 7
        for other in others {
            #expect(!info.hasSameTag(as: other))
            #expect(info.entityTag != other.entityTag)
        }
        var same = info
        same.identity.birth = 7
        same.created = Timestamp(nanoseconds: 7)
        #expect(info.hasSameTag(as: same))
        #expect(info.entityTag == same.entityTag)
    }
}
