import DavitFileStore
import DavitHTTP
import DavitStore
import DavitSystem
import Testing

/// `setAttributes` sets the requested second, generates an entity tag that was never used before, and is
/// atomic.
struct AttributeTests {
    private func sandbox() throws -> Sandbox {
        let sandbox = try Sandbox()
        try sandbox.makeFolder("folder")
        try sandbox.write("file", "old")
        return sandbox
    }

    private func info(_ path: String, in store: FileResourceStore) throws -> ResourceInfo {
        try #require(try store.lookup(resource(path), last: .followed, wait: .allowed).info)
    }

    /// Tests volumes with nanosecond timestamps and with whole seconds.
    @Test(arguments: [0, 1_650_000_000, -5, 4_000_000_000] as [Int64], [false, true])
    func settingTheTimeChangesTheEntityTag(second: Int64, cutsTimes: Bool) throws {
        let sandbox = try sandbox()
        let store = try sandbox.store()
        try withFaults(FaultPlan(cutsTimes: cutsTimes)) {
            var tags = [try info("file", in: store).entityTag]
            for _ in 0..<3 {
                try store.setAttributes(
                    ResourceAttributes(modified: Timestamp(seconds: second)), at: resource("file"))
                let info = try info("file", in: store)
                #expect(info.modified.seconds == second)
                #expect(!tags.contains(info.entityTag))
                tags.append(info.entityTag)
            }
        }
        #expect(sandbox.read("file") == "old")
    }

    /// On ext4, all times before 1902 become one instant and all times after 2446 another; other volumes have
    /// other limits. Setting such a time again must succeed. The fault plan ends endless loops.
    @Test(arguments: [-3_000_000_000, 9_000_000_000] as [Int64], [false, true])
    func timeOutsideTheRangeOfTheVolumeCanBeSetAgain(second: Int64, hasAttributes: Bool) throws {
        let sandbox = try sandbox()
        let store = try sandbox.store()
        let missing = hasAttributes ? [:] : ["fsetxattr": Errno.notSupported]
        // Excludes the call that writes a stamp, because its failure is ignored.
        let last = hasAttributes ? 1_001 : 1_000
        let plan = FaultPlan(failAt: (last, Errno.noSpace), failCalls: missing, cutsTimes: !hasAttributes)
        try withFaults(plan) {
            var held: Set<Int64> = []
            for later: Int64 in 0..<3 {
                let time = Timestamp(seconds: second + later)
                try store.setAttributes(ResourceAttributes(modified: time), at: resource("file"))
                held.insert(try info("file", in: store).modified.seconds)
            }
            #expect(held.count == 1 || held.count == 3)
        }
        #expect(sandbox.read("file") == "old")
    }

    @Test(arguments: ["folder", ""])
    func timeOfACollectionCanBeSet(path: String) throws {
        let sandbox = try sandbox()
        let store = try sandbox.store()
        try store.setAttributes(
            ResourceAttributes(modified: Timestamp(seconds: 1_000_000_000)), at: resource(path))
        #expect(try info(path, in: store).modified.seconds == 1_000_000_000)
        #expect(throws: StoreError.wrongKind) {
            try store.setAttributes(
                ResourceAttributes(isExecutable: true, modified: Timestamp(seconds: 5)), at: resource(path))
        }
        #expect(try info(path, in: store).modified.seconds == 1_000_000_000)
        #expect(sandbox.read("file") == "old")
    }

    static let faults: [(call: String, number: Int32, error: StoreError)] = [
        ("futimens", Errno.notPermitted, .forbidden), ("fchmodat", Errno.notPermitted, .forbidden),
        ("futimens", Errno.noSpace, .outOfSpace), ("fsync", Errno.noSpace, .outOfSpace),
    ]

    @Test(arguments: faults)
    func attributesAreSetAtomically(_ fault: (call: String, number: Int32, error: StoreError)) throws {
        let sandbox = try sandbox()
        let store = try FileResourceStore(root: sandbox.share, sync: .full)
        let before = try info("file", in: store)
        _ = withFaults(FaultPlan(failCalls: [fault.call: fault.number])) {
            #expect(throws: fault.error) {
                try store.setAttributes(
                    ResourceAttributes(isExecutable: true, modified: Timestamp(seconds: 5)),
                    at: resource("file"))
            }
        }
        let after = try info("file", in: store)
        #expect(after.entityTag == before.entityTag)
        #expect(after.modified == before.modified)
        #expect(!after.isExecutable)
    }

    @Test func missingResourcesAreNotFound() throws {
        let sandbox = try sandbox()
        let store = try sandbox.store()
        let time = ResourceAttributes(modified: Timestamp(seconds: 5))
        #expect(throws: StoreError.notFound) { try store.setAttributes(time, at: resource("none")) }
        #expect(throws: StoreError.missingAncestor) { try store.setAttributes(time, at: resource("none/a")) }
        #expect(sandbox.names() == ["file", "folder"])
    }
}
