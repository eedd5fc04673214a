import Davit
import DavitRecording
import DavitSystem
import DavitTesting
import DavitTransport

/// A share in a new folder, served on a free local port; stopped on deinitialization. The folder always has
/// the same name, because the name is the title of pages.
final class RecordedShare {
    private let folder: TemporaryFolder
    private let state: TemporaryFolder
    private let server: WebServer
    let address: ServerAddress

    /// - Parameter files: names and contents of the initial files.
    init(
        files: [String: String] = [:], isReadOnly: Bool = false,
        _ configure: (inout Configuration) -> Void = { _ in }
    ) throws {
        folder = try TemporaryFolder()
        state = try TemporaryFolder()
        let root = folder.path + "/share"
        try Self.fill(root, files)
        var configuration = Configuration()
        configuration.hosts = ["127.0.0.1"]
        configuration.port = 0
        configuration.logLevel = .error
        configuration.grace = .zero
        configuration.deadlines = .ofTests
        configure(&configuration)
        let share = WebDAVShare(root, stateFolder: state.path + "/state", isReadOnly: isReadOnly)
        server = try WebServer(share, configuration: configuration)
        let bound = try server.start()
        address = ServerAddress(parsing: "http://\(bound[0].authority)/")!
    }

    /// Creates the files directly in the folder, so their entity tags and dates differ from run to run.
    private static func fill(_ path: String, _ files: [String: String]) throws {
        let folder = try PrivateFolder(making: path)
        for (name, content) in files { try folder.make(name, content: Array(content.utf8)) }
    }

    /// Blocks until the server has stopped and the recording is complete.
    func stop() {
        server.shutdown()
        server.waitUntilStopped()
    }

    deinit { server.shutdown() }
}

/// Runs blocking work on a separate thread, not on the shared threads of the tests.
func blocking<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
    let pool = BlockingPool(threads: 1)
    let result: Result<T, any Error>? = await pool.run { Result { try work() } }
    pool.start {}
    guard let result else { throw CancellationError() }
    return try result.get()
}

/// Paths of repository files that the tests read.
enum Repository {
    static let recordings: String = {
        let file = #filePath
        let tests = file.split(separator: "/", omittingEmptySubsequences: false).dropLast(2)
        return tests.joined(separator: "/") + "/Recordings"
    }()
}

extension ReplayReport {
    /// The differences in a short form.
    var lines: [String] { differences.map { "\($0.request): \($0.subject): \($0.detail)" } }
}
