import DavitFileStore
import DavitHTTP
import DavitStore
import DavitSystem
import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Digests that are kept with content, in an extended attribute.
struct DigestAttributeTests {
    private static let name = "user.davit.digest"
    private static let sha256 = ContentDigest(.sha256, [UInt8](1...32))

    /// Stores content with digests like a PUT of the engine.
    private func put(
        _ digests: [ContentDigest], at path: String, in store: FileResourceStore
    ) throws -> (info: ResourceInfo, isRecorded: Bool) {
        let old = try store.lookup(resource(path), last: .followed, wait: .allowed).info
        let staged = try store.stageContent(
            for: ResourceLocation(resource(path)), expectedLength: 5, replaces: old != nil)
        try staged.write(buffer("bytes"))
        let info = try staged.seal(replacing: old, modified: nil)
        let isRecorded = staged.record(digests, of: info)
        try staged.publish(isReplacing: old != nil)
        return (info, isRecorded)
    }

    private func digests(_ path: String, in store: FileResourceStore) throws -> [ContentDigest] {
        let found = try store.lookup(resource(path), last: .followed, wait: .allowed)
        return store.recordedDigests(of: try #require(found.info), at: ResourceLocation(found.path))
    }

    /// All algorithms; with an open collection and without; without the system call that reads the attribute of a member.
    @Test(arguments: Volume.allCases, [[:], ["getxattrat": ENOSYS], ["getxattrat": Errno.notPermitted]])
    func digestsStayWithTheContent(volume: Volume, missing: [String: Int32]) throws {
        let sandbox = try Sandbox(on: volume)
        let store = try sandbox.store()
        let all = DigestAlgorithm.allCases.map { algorithm in
            ContentDigest(algorithm, (0..<algorithm.byteCount).map { UInt8($0) })
        }
        try withFaults(FaultPlan(failCalls: missing)) {
            for sent in [[Self.sha256], all] {
                let (info, isRecorded) = try put(sent, at: "a", in: store)
                #expect(isRecorded)
                #expect(try digests("a", in: store) == sent)
                let location = try store.lookupForChange(
                    resource("a"), last: .followed, reusing: nil, wait: .allowed
                ).location
                #expect(store.recordedDigests(of: info, at: location) == sent)
            }
            try store.rename(resource("a"), toFree: resource("b"))
            #expect(try digests("b", in: store) == all)
            // A copy is other content, and so is what replaces the file.
            let copy = try store.stageCopy(
                of: resource("b"), for: resource("c"), includesMembers: true, filter: nil, heightLimit: 9)
            try copy.publish(isReplacing: false)
            #expect(try digests("c", in: store) == [])
            #expect(try attribute(of: "c", in: sandbox) == nil)
            try store.put("other", at: resource("b"))
            #expect(try digests("b", in: store) == [])
            #expect(try attribute(of: "b", in: sandbox) == nil)
        }
        let info = try #require(try store.lookup(resource("b"), last: .followed, wait: .allowed).info)
        #expect(store.recordedDigests(of: info, at: ResourceLocation(try resource("missing"))) == [])
        #expect(store.recordedDigests(of: info, at: ResourceLocation(try resource("missing/b"))) == [])
    }

    private func attribute(of file: String, in sandbox: Sandbox) throws -> [UInt8]? {
        try sandbox.open(file).attribute(Self.name)
    }

    @Test(arguments: [Errno.notSupported, Errno.noSpace, Errno.notPermitted])
    func contentIsPublishedWithoutDigestsThatCannotBeKept(error: Int32) throws {
        let sandbox = try Sandbox()
        let store = try sandbox.store()
        let isRecorded = try withFaults(FaultPlan(failCalls: ["fsetxattr": error])) {
            try put([Self.sha256], at: "a", in: store).isRecorded
        }
        #expect(!isRecorded)
        #expect(try digests("a", in: store) == [])
        #expect(sandbox.read("a") == "bytes")
    }

    /// Each byte of the value counts, and neither a part of it nor more is accepted.
    @Test func valuesOfOtherContentAndMalformedOnesAreIgnored() throws {
        let sandbox = try Sandbox()
        let store = try sandbox.store()
        let info = try put([Self.sha256], at: "a", in: store).info
        let right = try #require(try attribute(of: "a", in: sandbox))
        // So that it fits into an inode of ext4.
        #expect(right.count <= 60)
        let file = try sandbox.open("a")
        func found(_ value: [UInt8]) throws -> [ContentDigest] {
            try file.setAttribute(Self.name, to: value)
            return store.recordedDigests(of: info, at: ResourceLocation(try resource("a")))
        }
        let prefix = right.count - 32
        for index in 0..<prefix {
            var changed = right
            changed[index] ^= 0x10
            #expect(try found(changed) == [], "byte \(index)")
        }
        for count in 0..<right.count { #expect(try found(Array(right[..<count])) == [], "\(count) bytes") }
        #expect(try found(right + [1]) == [])
        #expect(try found(right + [UInt8](repeating: 0, count: 1_000)) == [])
        #expect(try found(right + right[(prefix - 1)...]) == [Self.sha256, Self.sha256])
        #expect(try found(right) == [Self.sha256])
    }
}
