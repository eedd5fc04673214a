import DavitHTTP
import DavitStore
import DavitTesting
import Testing

/// Which changes are made on the event loop, and which on a thread that may wait.
struct BriefChangeTests {
    typealias Request = (method: String, target: String, fields: [(String, String)], body: String?)

    /// One change of a name each; `#` stands for a number that is new each time.
    static let brief: [Request] = [
        ("PUT", "/new#", [], "1"), ("PUT", "/file", [], "2"), ("MKCOL", "/folder#", [], nil),
        ("MOVE", "/folder", [("Destination", "/moved#")], nil),
        ("MOVE", "/old", [("Destination", "/file")], nil), ("DELETE", "/old", [], nil),
    ]

    private func makeShare(in parent: String) async throws -> TestShare {
        let share = try TestShare(TemporaryFolder(in: parent))
        try await prepare(share)
        return share
    }

    /// Makes again what the last request may have taken away.
    private func prepare(_ share: TestShare) async throws {
        #expect(share.shell("mkdir -p folder tree/inner; echo 1 >file; echo 1 >old") == 0)
    }

    private func send(_ request: Request, number: Int, to share: TestShare) async throws -> UInt16 {
        func filled(_ text: String) -> String { text.replacing("#", with: "\(number)") }
        return try await share.client.send(
            request.method, filled(request.target), request.fields.map { ($0.0, filled($0.1)) },
            body: request.body.map { Array($0.utf8) }
        ).status
    }

    @Test func oneChangeOfANameInMemoryNeedsNoOtherThread() async throws {
        let share = try await makeShare(in: "/dev/shm")
        for request in Self.brief {
            var hops = Int.max
            // The kernel may ask to come again when names change elsewhere at the same time.
            for number in 0..<1_000 where hops != 0 {
                try await prepare(share)
                let before = share.hopCount
                let status = try await send(request, number: number, to: share)
                #expect(status == 201 || status == 204, "\(request)")
                hops = share.hopCount - before
            }
            #expect(hops == 0, "\(request)")
        }
    }

    @Test func onADiskEveryChangeGoesToAnotherThread() async throws {
        let share = try await makeShare(in: "/tmp")
        for request in Self.brief {
            try await prepare(share)
            let before = share.hopCount
            #expect(try await send(request, number: 0, to: share) < 300, "\(request)")
            #expect(share.hopCount == before + 1, "\(request)")
        }
    }

    /// Trees, much content, and whatever has rows.
    @Test func whatMayTakeLongGoesToAnotherThread() async throws {
        let share = try await makeShare(in: "/dev/shm")
        #expect(share.shell("head -c 2000000 /dev/zero >large; cp large larger; mkdir rows") == 0)
        let patch: Request = ("PROPPATCH", "/rows/a", [], setProperty("p", "1"))
        let requests: [Request] = [
            ("PUT", "/large", [], "1"), ("DELETE", "/larger", [], nil), ("DELETE", "/tree", [], nil),
            ("PUT", "/rows/a", [], "1"), ("MOVE", "/rows", [("Destination", "/rows2")], nil),
            ("COPY", "/file", [("Destination", "/copy")], nil), ("DELETE", "/rows2/a", [], nil),
        ]
        #expect(try await send(("PUT", "/rows/a", [], "0"), number: 0, to: share) == 201)
        #expect(try await send(patch, number: 0, to: share) == 207)
        for request in requests {
            let before = share.hopCount
            #expect(try await send(request, number: 0, to: share) < 300, "\(request)")
            #expect(share.hopCount > before, "\(request)")
        }
    }
}
