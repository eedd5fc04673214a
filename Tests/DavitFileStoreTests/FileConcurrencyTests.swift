import DavitFileStore
import DavitHTTP
import DavitStore
import DavitSystem
import Testing

/// Concurrent changes with a permanently running sweep, which must not remove anything in use.
struct FileConcurrencyTests {
    @Test(arguments: [[:], ["opentmpfile": Errno.notSupported]])
    func sweepRemovesNothingInUse(missing: [String: Int32]) async throws {
        let sandbox = try Sandbox(on: .memory)
        try sandbox.makeFolder("tree")
        try sandbox.write("tree/inner", "1")
        try sandbox.write("file", "old")
        let store = try sandbox.store()
        let rounds = 300
        await FileFaults.$plan.withValue(FaultPlan(failCalls: missing)) {
            await withTaskGroup { group in
                for task in 0..<2 {
                    group.addTask {
                        for _ in 0..<rounds { _ = #expect(throws: Never.self) { try Self.put(store) } }
                    }
                    group.addTask {
                        for round in 0..<rounds {
                            _ = #expect(throws: Never.self) { try Self.copy(store, "\(task)-\(round)") }
                        }
                    }
                }
                group.addTask {
                    for _ in 0..<rounds {
                        store.sweepLeftovers { false }
                        let members = (try? store.list(""))?.map(\.text) ?? []
                        #expect(members.contains("file") && members.contains("tree"))
                    }
                }
            }
        }
        #expect(sandbox.isSwept(by: store))
        #expect(sandbox.names() == ["file", "tree"])
        #expect(sandbox.read("file") == "new")
    }

    private static func put(_ store: FileResourceStore) throws {
        try store.put("new", at: resource("file"))
    }

    private static func copy(_ store: FileResourceStore, _ name: String) throws {
        let tree = try store.stageCopy(of: resource("tree"), for: resource(name), includesMembers: true)
        try #require(tree.failures.isEmpty)
        try tree.publish(isReplacing: false)
        try #require(content(store.open(resource(name + "/inner"), wait: .allowed)) == "1")
        let failures = try store.detach(resource(name)).destroy()
        try #require(failures.isEmpty)
    }
}
