import DavitEngine
import DavitHTTP
import DavitStore
import DavitSystem
import DavitTesting
import Synchronization
import Testing

/// Concurrent requests: each change holds path locks, but not while a body is received.
struct ConcurrencyTests {
    @Test func onlyOneOfManyConditionalPutsSucceeds() async throws {
        let share = try TestShare()
        let tag = try await share.client.send("PUT", "/a", text: "start")["ETag"] ?? ""
        let statuses = await withTaskGroup(of: UInt16?.self) { group in
            for number in 0..<100 {
                group.addTask {
                    let body = Array("version \(number)".utf8)
                    return try? await share.client.send("PUT", "/a", [("If-Match", tag)], body: body).status
                }
            }
            return await group.reduce(into: [UInt16: Int]()) { counts, status in
                counts[status ?? 0, default: 0] += 1
            }
        }
        #expect(statuses == [204: 1, 412: 99])
    }

    @Test func onlyOneOfManyExclusiveLocksSucceeds() async throws {
        let share = try TestShare()
        let body = Array(lockBody(scope: "exclusive").utf8)
        let statuses = await withTaskGroup(of: UInt16?.self) { group in
            for _ in 0..<100 {
                group.addTask { try? await share.client.send("LOCK", "/new", body: body).status }
            }
            return await group.reduce(into: [UInt16: Int]()) { counts, status in
                counts[status ?? 0, default: 0] += 1
            }
        }
        #expect(statuses == [201: 1, 423: 99])
    }

    /// Copies a resource to `/copy`, and runs `change` before the finished copy is published.
    private static func copy(
        _ source: String, in share: TestShare, meanwhile change: () async throws -> Void
    ) async throws -> TestResponse {
        let (isCopied, mayPublish) = (Opening(), Latch(count: 1))
        share.resources.watch { call in
            if call == .stageCopy {
                isCopied.open()
                mayPublish.wait()
            }
            return nil
        }
        let copy = Task { try await share.client.send("COPY", source, [("Destination", "/copy")]) }
        await isCopied.wait()
        do { try await change() } catch {
            mayPublish.countDown()
            throw error
        }
        mayPublish.countDown()
        return try await copy.value
    }

    /// A copy gets only properties of the resource that was copied, although another one takes its place before the copy is
    /// published.
    @Test func copyHasNoPropertiesOfAnotherResource() async throws {
        let share = try TestShare()
        #expect(share.shell("mkdir d; touch a b d/a d/b d/c") == 0)
        for path in ["/a", "/b", "/d/a", "/d/b", "/d/c"] {
            _ = try await share.client.send("PROPPATCH", path, text: setProperty("p", "of \(path)"))
        }
        let copied = try await Self.copy("/d", in: share) { () async throws in
            let over = [("Destination", "/d/a")]
            #expect(try await share.client.send("MOVE", "/d/b", over).status == 204)
        }
        #expect(copied.status == 201)
        for (path, value) in [("/copy/a", nil), ("/copy/b", nil), ("/copy/c", "of /d/c")] {
            let found = try await share.client.send(
                "PROPFIND", path, [("Depth", "0")], text: askProperty("p"))
            #expect(found.text.contains("200 OK") == (value != nil), "\(path): \(found.text)")
            if let value { #expect(found.text.contains(value)) }
        }
    }

    /// Nor those of a resource that had no properties before it was replaced.
    @Test func copyHasNoPropertiesOfANewResource() async throws {
        let share = try TestShare()
        #expect(share.shell("mkdir d; touch d/a") == 0)
        let copied = try await Self.copy("/d", in: share) { () async throws in
            #expect(try await share.client.send("DELETE", "/d/a").status == 204)
            #expect(try await share.client.send("PUT", "/d/a", text: "new").status == 201)
            _ = try await share.client.send("PROPPATCH", "/d/a", text: setProperty("p", "of the new one"))
            // A change of other records in the collection does not affect the copy.
            _ = try await share.client.send("PROPPATCH", "/d", text: setProperty("p", "late"))
        }
        #expect(copied.status == 201)
        for path in ["/copy", "/copy/a"] {
            let found = try await share.client.send(
                "PROPFIND", path, [("Depth", "0")], text: askProperty("p"))
            #expect(!found.text.contains("200 OK"), "\(path)")
        }
    }

    @Test func copyIsRepeatedIfAnotherResourceTakesThePlaceOfItsSource() async throws {
        let share = try TestShare()
        #expect(share.shell("echo a > a; echo b > b") == 0)
        _ = try await share.client.send("PROPPATCH", "/b", text: setProperty("p", "of b"))
        let copied = try await Self.copy("/a", in: share) { () async throws in
            #expect(try await share.client.send("MOVE", "/b", [("Destination", "/a")]).status == 204)
        }
        #expect(copied.status == 503 && copied["Retry-After"] == "1")
        #expect(share.names() == ["a"])
    }

    /// The content of a resource may change while it is copied; its properties remain those of the same resource.
    @Test func copyKeepsPropertiesIfTheContentOfItsSourceIsReplaced() async throws {
        let share = try TestShare()
        _ = try await share.client.send("PUT", "/a", text: "old")
        _ = try await share.client.send("PROPPATCH", "/a", text: setProperty("p", "of a"))
        let copied = try await Self.copy("/a", in: share) { () async throws in
            #expect(try await share.client.send("PUT", "/a", text: "new").status == 204)
        }
        #expect(copied.status == 201)
        #expect(try await share.text("/copy") == "old")
        let found = try await share.client.send(
            "PROPFIND", "/copy", [("Depth", "0")], text: askProperty("p"))
        #expect(found.text.contains("of a"))
    }

    @Test func stalledPutBlocksNoOtherRequest() async throws {
        let share = try TestShare()
        let stalled = StalledBody(first: [UInt8](repeating: 1, count: 100_000))
        async let slow = share.client.send("PUT", "/a", body: stalled)
        await stalled.isWaiting.wait()

        #expect(try await share.client.send("PUT", "/a", text: "quick").status == 201)
        #expect(try await share.client.send("GET", "/a").text == "quick")
        #expect(try await share.client.send("MOVE", "/a", [("Destination", "/b")]).status == 201)
        let lock = try await share.client.send(
            "LOCK", "/a", [("Depth", "0")], text: lockBody(scope: "exclusive"))
        #expect(lock.status == 201)

        stalled.mayEnd.open()
        // The lock was created while the body was being received; locks are checked again after the body.
        #expect(try await slow.status == 423)
        #expect(try await share.client.send("GET", "/a").text == "")
    }

    @Test func abortedBodyLeavesTheOldContent() async throws {
        let share = try TestShare()
        _ = try await share.client.send("PUT", "/a", text: "old")
        for first in [0, 10, 200_000] {
            let broken = StalledBody(first: [UInt8](repeating: 1, count: first), breaksOff: true)
            broken.mayEnd.open()
            await #expect(throws: HTTPError.disconnected) {
                try await share.client.send("PUT", "/a", body: broken)
            }
            #expect(try await share.client.send("GET", "/a").text == "old")
        }
        let listing = try await share.client.send("PROPFIND", "/", [("Depth", "1")])
        #expect(listing.text.components(of: "<D:response>") == 2)
    }
}

extension String {
    /// Returns the number of occurrences of `part`.
    func components(of part: String) -> Int { ranges(of: part).count }
}

/// A body whose end is delayed until the test releases it.
final class StalledBody: RequestBody, @unchecked Sendable {
    private var first: [UInt8]
    private var hasEnded = false
    private let breaksOff: Bool
    let isWaiting = AsyncLatch()
    let mayEnd = AsyncLatch()
    let declaredLength: Int64?

    init(first: [UInt8], breaksOff: Bool = false) {
        self.first = first
        self.breaksOff = breaksOff
        declaredLength = Int64(first.count) + 1
    }

    var isPresent: Bool { true }

    func read(into buffer: IOBuffer) async throws(HTTPError) -> Int {
        if !first.isEmpty {
            let taken = buffer.append(first)
            first.removeFirst(taken)
            return taken
        }
        if hasEnded { return 0 }
        isWaiting.open()
        await mayEnd.wait()
        hasEnded = true
        if breaksOff { throw .disconnected }
        return buffer.append([UInt8(ascii: "!")])
    }
}

/// A gate that opens once and resumes all waiters.
final class AsyncLatch: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    func wait() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }
}
