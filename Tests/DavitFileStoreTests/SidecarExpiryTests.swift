import DavitFileStore
import DavitHTTP
import DavitStore
import DavitSystem
import Testing

/// Expiry and size limits of sidecar files.
struct SidecarExpiryTests {
    private let sandbox: Sandbox
    private let store: SidecarStore
    private var aside: FileResourceStore {
        get throws { try FileResourceStore(root: sandbox.base + "/outside") }
    }

    init() throws {
        sandbox = try Sandbox()
        store = SidecarStore(
            try sandbox.store(), sidecarFolder: try FileResourceStore(root: sandbox.base + "/outside"))
        try store.createCollection(at: resource("d"))
        try store.createCollection(at: resource("d/e"))
    }

    /// Creates sidecars with the modification times 100, 200 and 300, and as many bytes.
    private func fill() throws {
        for (number, name) in ["._1", "d/._2", "d/e/._3"].enumerated() {
            let staged = try store.stageContent(for: resource(name), expectedLength: nil)
            let buffer = IOBuffer(capacity: 300)
            _ = buffer.append([UInt8](repeating: 1, count: 100 * (number + 1)))
            try staged.write(buffer)
            _ = try staged.seal(replacing: nil, modified: Timestamp(seconds: Int64(100 * (number + 1))))
            try staged.publish(isReplacing: false)
        }
    }

    private func left(in store: any ResourceStore) throws -> [String] {
        var left: [String] = []
        for name in ["._1", "d", "d/._2", "d/e", "d/e/._3"]
        where try store.identity(at: resource(name)) != nil {
            left.append(name)
        }
        return left
    }

    @Test(
        "expired sidecars, the oldest ones above the size limit, and empty folders are removed",
        arguments: [
            (0, 600, ["._1", "d", "d/._2", "d/e", "d/e/._3"]),
            (100, 600, ["._1", "d", "d/._2", "d/e", "d/e/._3"]),
            (101, 600, ["d", "d/._2", "d/e", "d/e/._3"]), (0, 599, ["d", "d/._2", "d/e", "d/e/._3"]),
            (0, 499, ["d", "d/e", "d/e/._3"]), (301, 600, []), (0, 0, []),
        ] as [(Int64, Int64, [String])])
    func expiry(time: Int64, limitBytes: Int64, expected: [String]) throws {
        try fill()
        store.expire(before: Timestamp(seconds: time), limitBytes: limitBytes) { _, removal in
            removal()
        }
        #expect(try left(in: aside) == expected)
        #expect(try left(in: sandbox.store()) == ["d", "d/e"])
    }

    @Test("sidecars that are in use or were rewritten are kept") func sidecarsInUseAreKept() throws {
        try fill()
        store.expire(before: Timestamp(seconds: 1_000)) { path, removal in
            if path.name.elementsEqual("._2".utf8) { return false }
            if path.name.elementsEqual("._3".utf8) {
                // Another client replaced the sidecar first.
                let staged = try? store.stageContent(for: path, expectedLength: 0)
                _ = try? staged?.seal(replacing: nil, modified: nil)
                try? staged?.publish(isReplacing: true)
            }
            return removal()
        }
        #expect(try left(in: store) == ["d", "d/._2", "d/e", "d/e/._3"])
    }

    @Test("content above the size limit is rejected") func oversizedContentIsRejected() throws {
        #expect(throws: StoreError.outOfSpace) {
            try store.stageContent(for: resource("._huge"), expectedLength: SidecarStore.limitBytes + 1)
        }
    }

    @Test("content of exactly the limit is accepted") func contentOfTheMaximumSizeIsAccepted() throws {
        // The limit does not depend on the free space of the volume.
        try withFaults(FaultPlan(availableBytes: 2 * SidecarStore.limitBytes)) {
            _ = try store.stageContent(for: resource("._large"), expectedLength: SidecarStore.limitBytes)
            #expect(throws: StoreError.outOfSpace) {
                try store.stageContent(for: resource("._huge"), expectedLength: SidecarStore.limitBytes + 1)
            }
        }
    }
}
