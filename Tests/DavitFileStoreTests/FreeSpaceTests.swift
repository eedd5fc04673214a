import DavitFileStore
import DavitHTTP
import DavitStore
import DavitSystem
import Testing

/// The free space of a volume, part of which is reserved.
struct FreeSpaceTests {
    private func store(_ sandbox: Sandbox, keepsFree: Int64?) throws -> FileResourceStore {
        try FileResourceStore(root: sandbox.share, keepsFree: keepsFree)
    }

    static let announced: [(length: Int64?, keepsFree: Int64?, error: StoreError?)] = [
        (100_000, nil, nil), (100_001, nil, .outOfSpace), (100_000, 0, nil), (nil, 100_000, nil),
        (0, 100_000, nil), (1, 100_000, .quotaExceeded), (1, 200_000, .quotaExceeded),
        (1, .max, .quotaExceeded),
        (60_000, 40_000, nil), (60_001, 40_000, .quotaExceeded), (70_000, 30_000, nil),
        (70_001, 30_000, .quotaExceeded), (100_001, 1, .outOfSpace),
    ]

    @Test(arguments: announced)
    func spaceIsCheckedBeforeContentArrives(length: Int64?, keepsFree: Int64?, error: StoreError?) throws {
        let sandbox = try Sandbox()
        let store = try store(sandbox, keepsFree: keepsFree)
        withFaults(FaultPlan(availableBytes: 100_000)) {
            do throws(StoreError) {
                _ = try store.stageContent(
                    for: ResourcePath.root.appending([97]) ?? .root, expectedLength: length)
                #expect(error == nil)
            } catch let refusal {
                #expect(refusal == error)
            }
        }
        #expect(sandbox.names() == [])
    }

    @Test func spaceIsCheckedForEachPieceOfUndeclaredLength() throws {
        let sandbox = try Sandbox()
        try sandbox.write("file", "old")
        let store = try store(sandbox, keepsFree: 40)
        try withFaults(FaultPlan(availableBytes: 100)) {
            let staged = try store.stageContent(for: resource("file"), expectedLength: nil)
            try staged.write(buffer(String(repeating: "x", count: 60)))
            #expect(throws: StoreError.quotaExceeded) {
                try staged.write(buffer(String(repeating: "x", count: 61)))
            }
        }
        #expect(sandbox.names() == ["file"] && sandbox.read("file") == "old")
    }

    @Test(arguments: [false, true])
    func spaceIsCheckedByCopies(ofTree: Bool) throws {
        let sandbox = try Sandbox()
        try sandbox.makeFolder("folder")
        try sandbox.write("folder/file", String(repeating: "x", count: 61))
        let store = try store(sandbox, keepsFree: 40)
        let source = try resource(ofTree ? "folder" : "folder/file")
        withFaults(FaultPlan(availableBytes: 100)) {
            #expect(throws: StoreError.quotaExceeded) {
                try store.stageCopy(of: source, for: resource("copy"), includesMembers: true)
            }
        }
        #expect(sandbox.names() == ["folder"])
        try withFaults(FaultPlan(availableBytes: 101)) {
            try store.stageCopy(of: source, for: resource("copy"), includesMembers: true)
                .publish(isReplacing: false)
        }
        #expect(sandbox.names() == ["copy", "folder"])
    }

    /// The existing content is copied first, and then the part is written into the copy. Both steps need
    /// space.
    @Test func spaceIsCheckedByPartialUpdates() throws {
        let sandbox = try Sandbox()
        let old = String(repeating: "o", count: 61)
        try sandbox.write("file", old)
        let store = try store(sandbox, keepsFree: 40)
        withFaults(FaultPlan(availableBytes: 100)) {
            #expect(throws: StoreError.quotaExceeded) {
                try store.stageUpdate(of: ResourceLocation(resource("file")))
            }
        }
        try withFaults(FaultPlan(availableBytes: 101)) {
            let (content, base) = try store.stageUpdate(of: ResourceLocation(resource("file")))
            let many = String(repeating: "n", count: 62)
            #expect(throws: StoreError.quotaExceeded) { try content.write(buffer(many), at: 0) }
            let part = try store.stageContent(for: resource("file"), expectedLength: nil)
            for text in ["n", String(repeating: "n", count: 61)] { try part.write(buffer(text)) }
            #expect(throws: StoreError.quotaExceeded) { try content.write(contentOf: part, at: 0) }
            #expect(sandbox.read("file") == old)
            try content.write(buffer("new"), at: 61)
            _ = try content.seal(replacing: base, modified: nil)
            try content.publish(isReplacing: true)
        }
        #expect(sandbox.names() == ["file"] && sandbox.read("file") == old + "new")
    }

    static let reportedQuotas: [(keepsFree: Int64?, available: Int64)] = [
        (nil, 100), (0, 100), (40, 60), (100, 0), (.max, 0),
    ]

    @Test(arguments: reportedQuotas)
    func reportedQuotaExcludesReservedSpace(keepsFree: Int64?, available: Int64) throws {
        let sandbox = try Sandbox()
        try sandbox.write("file")
        let store = try store(sandbox, keepsFree: keepsFree)
        try withFaults(FaultPlan(availableBytes: 100)) {
            for path in [ResourcePath.root, try resource("file")] {
                let room = try store.quota(at: path)
                #expect(room.available == available)
            }
        }
    }

    /// An exceeded quota is different from a full disk.
    @Test(arguments: [(Errno.noSpace, StoreError.outOfSpace), (Errno.overQuota, .quotaExceeded)])
    func exceededQuotaDiffersFromAFullDisk(number: Int32, error: StoreError) throws {
        let sandbox = try Sandbox()
        try sandbox.write("file", "old")
        let store = try store(sandbox, keepsFree: nil)
        withFaults(FaultPlan(failCalls: ["pwrite": number])) {
            #expect(throws: error) { try store.put("new", at: resource("file")) }
        }
        #expect(sandbox.names() == ["file"] && sandbox.read("file") == "old")
    }
}
