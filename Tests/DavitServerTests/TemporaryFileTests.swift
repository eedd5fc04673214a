import DavitHTTP
import DavitServer
import DavitTesting
import Synchronization
import Testing

/// Content stored in a file (W054 in docs/coming-from-gcdwebserver.md).
struct TemporaryFileTests {
    let storage = MemoryStorage()

    private func client(
        limitBytes: Int64 = 1_000_000,
        _ action: @escaping @Sendable (TemporaryFile) async throws -> HTTPResponse
    ) -> TestClient<Router> {
        RouterTests.client(files: storage.temporaryFiles) { routes in
            routes.put("/file", body: .file(limitBytes: limitBytes)) { _, file in try await action(file) }
        }
    }

    static let sizes = [0, 1, 700, 256 << 10, (256 << 10) + 1, 1_000_000]

    @Test(arguments: sizes)
    func fileHoldsTheContent(size: Int) async throws {
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 / 3) }
        let storage = storage
        let client = client { file in
            let whole = try await file.bytes(limitBytes: 1_000_000)
            var pieces: [UInt8] = []
            for try await chunk in file.chunks { pieces += chunk }
            let tail = IOBuffer(capacity: 10)
            let tailCount = try await file.read(at: file.length - 3, into: tail)
            return .text(
                "\(whole == bytes) \(pieces == bytes) \(file.length) \(tailCount) \(storage.fileCount)")
        }
        let expected = "true true \(size) \(size < 3 ? 0 : 3) \(size > 256 << 10 ? 1 : 0)"
        #expect(try await client.send("PUT", "/file", body: bytes).text == expected)
        for isChunked in [true, false] {
            let pieces = PiecewiseBody(bytes, size: 999, isChunked: isChunked)
            #expect(try await client.send("PUT", "/file", body: pieces).text == expected)
        }
        #expect(storage.fileCount == 0)
    }

    @Test func excessiveLengthIs413WithTheLimit() async throws {
        let client = client { _ in .text("no") }
        let long = [UInt8](repeating: 7, count: 1_000_001)
        for body in [PiecewiseBody(long, size: 5000), PiecewiseBody(long, size: 5000, isChunked: false)] {
            let response = try await client.send("PUT", "/file", body: body)
            #expect(response.status == 413)
            #expect(response.text.contains("1000000 bytes"))
        }
        #expect(storage.fileCount == 0)
    }

    /// The action is not called if the content is truncated (X01 in docs/coming-from-gcdwebserver.md).
    @Test func truncatedFileIsRejected() async throws {
        let called = Mutex(false)
        let client = client { _ in
            called.withLock { $0 = true }
            return .text("no")
        }
        let body = PiecewiseBody([UInt8](repeating: 7, count: 600_000), size: 5000, isCut: true)
        await #expect(throws: HTTPError.disconnected) { try await client.send("PUT", "/file", body: body) }
        #expect(!called.withLock { $0 })
        #expect(storage.fileCount == 0)
    }

    /// If files are in memory, only the creation of a file switches threads.
    @Test(arguments: [(true, 1), (false, 3)])
    func writesInMemoryNeedNoThreadSwitch(isInMemory: Bool, hops: Int) async throws {
        let storage = MemoryStorage(isInMemory: isInMemory)
        let client = RouterTests.client(files: storage.temporaryFiles) { routes in
            routes.put("/file", body: .file()) { _, file in .text("\(file.length)") }
        }
        let body = PiecewiseBody([UInt8](repeating: 7, count: 3 << 20), size: 1 << 20)
        #expect(try await client.send("PUT", "/file", body: body).text == "\(3 << 20)")
        #expect(storage.hops.count == hops)
    }

    @Test(arguments: [true, false])
    func fullDiskReturns507(isInMemory: Bool) async throws {
        let storage = MemoryStorage(room: 500_000, isInMemory: isInMemory)
        let client = RouterTests.client(files: storage.temporaryFiles) { routes in
            routes.put("/file", body: .file()) { _, file in .text("\(file.length)") }
        }
        let long = [UInt8](repeating: 7, count: 600_000)
        // If the length is known, the request is refused before anything is read.
        let told = PiecewiseBody(long, size: 600_000, isChunked: false)
        #expect(try await client.send("PUT", "/file", body: told).status == 507)
        #expect(try await client.send("PUT", "/file", body: PiecewiseBody(long, size: 9999)).status == 507)
        #expect(storage.fileCount == 0)
        #expect(try await client.send("PUT", "/file", body: Array(long.dropLast(100_001))).text == "499999")
    }

    @Test func contentIsLimitedToMemoryWithoutStorage() async throws {
        let client = RouterTests.client { routes in
            routes.put("/file", body: .file()) { _, file in .text("\(file.length)") }
        }
        let most = [UInt8](repeating: 7, count: 256 << 10)
        #expect(try await client.send("PUT", "/file", body: most).text == "262144")
        #expect(try await client.send("PUT", "/file", body: most + [7]).status == 507)
    }

    @Test func busyThreadPoolReturns503() async throws {
        let files = TemporaryFiles(storage: storage, work: Refusing())
        let client = RouterTests.client(files: files) { routes in
            routes.put("/file", body: .file()) { _, file in .text("\(file.length)") }
        }
        let response = try await client.send("PUT", "/file", body: [UInt8](repeating: 7, count: 300_000))
        #expect(response.status == 503)
        #expect(response["Retry-After"] != nil)
    }

    static let moves: [(path: String, replacing: Bool, status: UInt16)] = [
        ("/a/free", false, 200), ("/a/taken", true, 200), ("/a/taken", false, 409), ("/a/", false, 400),
        ("/a/broken", false, 500),
    ]

    @Test(arguments: moves, [100, 300_000])
    func fileCanBeMovedToAPath(move: (path: String, replacing: Bool, status: UInt16), size: Int) async throws
    {
        let client = client { file in
            try await file.move(to: move.path, replacing: move.replacing)
            return .text("\(try await file.bytes().count)")
        }
        let response = try await client.send("PUT", "/file", body: [UInt8](repeating: 7, count: size))
        #expect(response.status == move.status)
        #expect(storage.logs.flatMap(\.keptPaths) == (move.status == 200 ? [move.path] : []))
        #expect(!response.text.contains("fire"))
        if move.status == 200 { #expect(response.text == "\(size)") }
        #expect(storage.fileCount == 0)
    }

    @Test func fileCanBeMovedOnlyOnce() async throws {
        let client = client { file in
            await #expect(throws: (any Error).self) { try await file.move(to: "/a/taken") }
            try await file.move(to: "/a/one")
            await #expect(throws: (any Error).self) { try await file.move(to: "/a/two") }
            return .text("moved")
        }
        #expect(
            try await client.send("PUT", "/file", body: [UInt8](repeating: 7, count: 300_000)).text == "moved"
        )
        #expect(storage.logs.flatMap(\.keptPaths) == ["/a/one"])
    }
}

private struct Refusing: BlockingWorkRunner {
    func run<T: Sendable>(_ work: @escaping @Sendable () -> T) async -> T? { nil }
}
