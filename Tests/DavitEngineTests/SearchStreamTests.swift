import DavitEngine
import DavitHTTP
import DavitServer
import DavitTesting
import Synchronization
import Testing

/// Memory use of a search of 20,000 members, and how long it occupies a thread.
struct SearchStreamTests {
    /// Creates 200 collections of 100 files each. All files are empty except `7/7`, `150/0` and `33/99`, which
    /// have 7, 8 and 9 bytes.
    static func makeShare(_ configure: (inout ShareConfiguration) -> Void = { _ in }) throws -> TestShare {
        let share = try TestShare(TemporaryFolder(in: "/dev/shm"), configure)
        let made = share.shell(
            "for d in $(seq 0 199); do mkdir $d; for f in $(seq 0 99); do echo \"$d/$f\"; done; done | xargs touch;"
                + "truncate -s 7 7/7; truncate -s 8 150/0; truncate -s 9 33/99")
        #expect(made == 0)
        return share
    }

    /// Returns the sizes of all pieces of a response.
    private func pieces(
        of share: TestShare, _ body: String, afterFirst: @escaping @Sendable () -> Void = {}
    ) async throws -> [Int] {
        let sizes = Sizes()
        let handler = Measuring(
            handler: WebDAVHandler(share: share.share, page: nil), sizes: sizes, afterFirst: afterFirst)
        #expect(try await TestClient(handler).send("SEARCH", "/", text: body).status == 207)
        return sizes.all.withLock { $0 }
    }

    // Memory use does not grow with the results: they are sent while the tree is traversed.
    @Test func resultsAreSentDuringTheTraversal() async throws {
        let share = try Self.makeShare()
        let listed = Atomic<Int>(0)
        let early = Atomic<Int>(0)
        share.resources.watch { call in
            if case .members = call { listed.add(1, ordering: .relaxed) }
            return nil
        }
        let sizes = try await pieces(
            of: share, query("<D:not><D:is-collection/></D:not>", select: "<D:allprop/>")
        ) {
            early.store(listed.load(ordering: .relaxed), ordering: .relaxed)
        }
        #expect(early.load(ordering: .relaxed) < 10)
        #expect(listed.load(ordering: .relaxed) == 201)
        #expect(sizes.count > 20)
        #expect(sizes.allSatisfy { $0 <= 256 << 10 })
    }

    // A search without results releases the thread from time to time.
    @Test func longSearchIsSplitIntoSeveralJobs() async throws {
        let share = try Self.makeShare()
        let before = share.hopCount
        #expect(try await share.found(query(compare("eq", "D:displayname", "none"))) == [])
        #expect(share.hopCount - before >= 3)
    }

    // A search ends when its client has disconnected.
    @Test func searchEndsWhenItsClientDisconnects() async throws {
        let share = try Self.makeShare()
        let before = share.hopCount
        let isCancelled = AsyncLatch()
        let task = Task {
            await isCancelled.wait()
            let body = query(compare("eq", "D:displayname", "none"))
            return try await share.client.send("SEARCH", "/", text: body).status
        }
        task.cancel()
        isCancelled.open()
        // The search was refused before it began, or was interrupted.
        #expect((try? await task.value) ?? 503 == 503)
        #expect(share.hopCount - before < 3)
    }

    // If there are more results than can be sorted, the first ones are returned with a 507.
    @Test func sortedResultsAreLimited() async throws {
        let share = try Self.makeShare { $0.orderedSearchLimit = 3 }
        let order = ordered("D:getcontentlength", "<D:descending/>") + ordered("D:displayname")
        let answer = try await share.client.send("SEARCH", "/", text: query(order: order))
        #expect(hrefs(in: answer.text) == ["/33/99", "/150/0", "/7/7"])
        #expect(answer.text.contains("507 Insufficient Storage"))
        let few = try await share.client.send(
            "SEARCH", "/", text: query(compare("gt", "D:getcontentlength", "0"), order: order))
        #expect(hrefs(in: few.text) == ["/33/99", "/150/0", "/7/7"])
        #expect(!few.text.contains("507 Insufficient Storage"))
    }

    // A search ends when the requested number of results is reached.
    @Test func searchEndsAtItsLimit() async throws {
        let share = try Self.makeShare()
        let listed = Atomic<Int>(0)
        share.resources.watch { call in
            if case .members = call { listed.add(1, ordering: .relaxed) }
            return nil
        }
        #expect(try await share.found(query("<D:not><D:is-collection/></D:not>", limit: 150)).count == 150)
        #expect(listed.load(ordering: .relaxed) < 5)
    }
}

private final class Sizes: Sendable {
    let all = Mutex<[Int]>([])
}

/// Reads a response piece by piece.
private struct Measuring<Next: Handler>: Handler {
    let handler: Next
    let sizes: Sizes
    let afterFirst: @Sendable () -> Void

    func respond(to request: HTTPRequest) throws(HTTPError) -> Reply {
        .pending { () async throws(HTTPError) in
            try await read(try await handler.respond(to: request).response())
        }
    }

    private func read(_ response: HTTPResponse) async throws(HTTPError) -> HTTPResponse {
        guard case .stream(let stream) = response.body else { return .text("no stream") }
        let buffer = IOBuffer(capacity: 1 << 20)
        while true {
            buffer.removeAll()
            try await stream.next(into: buffer)
            if buffer.count == 0 { break }
            let count = buffer.count
            let isFirst = sizes.all.withLock { sizes in
                sizes.append(count)
                return sizes.count == 1
            }
            if isFirst { afterFirst() }
        }
        return HTTPResponse(status: response.status)
    }
}
