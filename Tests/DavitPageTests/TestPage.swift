import DavitEngine
import DavitFileStore
import DavitHTTP
import DavitPage
import DavitServer
import DavitStore
import DavitSystem
import DavitTesting

/// The browser page of a temporary folder.
struct TestPage {
    let folder: TemporaryFolder
    let client: TestClient<WebDAVHandler>

    init(
        _ settings: PageSettings = PageSettings(), in parent: String = "/tmp",
        _ configure: (inout ShareConfiguration) -> Void = { _ in }
    ) throws {
        folder = try TemporaryFolder(in: parent)
        var configuration = ShareConfiguration()
        configure(&configuration)
        let share = Share(
            resources: try FileResourceStore(root: folder.path),
            state: try IndexedShareState(store: MemoryStateStore()), work: Work(pool: BlockingPool()),
            configuration: configuration, now: { Timestamp(seconds: 1_800_000_000) }, report: { _ in })
        client = TestClient(WebDAVHandler(share: share, page: BrowserPage(settings: settings)))
    }

    /// Sends GET as a browser does.
    func get(_ target: String) async throws -> TestResponse {
        try await client.send("GET", target, [("Accept", "text/html")])
    }

    /// Returns the first piece of a streamed page.
    func firstPiece(_ target: String) async throws -> String {
        guard case .stream(let stream) = try await client.begin("GET", target).body else { return "" }
        let buffer = IOBuffer(capacity: 1 << 20)
        try await stream.next(into: buffer)
        return unsafe buffer.withBytes { unsafe String(decoding: $0, as: UTF8.self) }
    }

    /// Submits a form as a browser does.
    func post(_ target: String, _ form: String) async throws -> TestResponse {
        let fields = [
            ("Accept", "text/html,*/*;q=0.8"), ("Sec-Fetch-Site", "same-origin"),
            ("Content-Type", "application/x-www-form-urlencoded"),
        ]
        return try await client.send("POST", target, fields, text: form)
    }
}

struct Work: BlockingWorkRunner {
    let pool: BlockingPool

    func run<T: Sendable>(_ work: @escaping @Sendable () -> T) async -> T? { await pool.run { work() } }
}

/// A form in memory.
final class FormBody: RequestBody {
    private var rest: ArraySlice<UInt8>
    let declaredLength: Int64?

    init(_ bytes: [UInt8]) {
        rest = bytes[...]
        declaredLength = Int64(bytes.count)
    }

    var isPresent: Bool { true }

    func read(into buffer: IOBuffer) async throws(HTTPError) -> Int {
        let taken = buffer.append(Array(rest.prefix(buffer.freeCount)))
        rest = rest.dropFirst(taken)
        return taken
    }
}
