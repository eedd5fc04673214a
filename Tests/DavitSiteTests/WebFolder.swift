import DavitFileStore
import DavitHTTP
import DavitServer
import DavitSite
import DavitSystem
import DavitTesting
import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A folder with files of known age, removed on deinitialization.
final class WebFolder: Sendable {
    private let folder: TemporaryFolder
    var path: String { folder.path }

    /// Sun, 13 Sep 2020 12:26:40 GMT.
    static let modified: Int64 = 1_600_000_000
    static let now = Timestamp(seconds: 1_800_000_000)
    private let time = WebFolder.now

    init(_ files: [String] = [], in parent: String = "/tmp") throws {
        folder = try TemporaryFolder(in: parent)
        for file in files { write(file, Array(file.utf8)) }
    }

    /// Writes a file and creates its parent folders.
    func write(_ name: String, _ content: [UInt8], modified: Int64 = WebFolder.modified) {
        let whole = path + "/" + name
        for index in whole.indices where whole[index] == "/" && index > whole.startIndex {
            unsafe mkdir(String(whole[..<index]), 0o755)
        }
        let file = unsafe open(whole, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        _ = unsafe Glibc.write(file, content, content.count)
        let time = timespec(tv_sec: Int(modified), tv_nsec: 123_456_789)
        _ = unsafe futimens(file, [time, time])
        close(file)
    }

    func link(_ name: String, to text: String) { unsafe symlink(text, path + "/" + name) }
    func makeSpecial(_ name: String) { unsafe mkfifo(path + "/" + name, 0o644) }
    func makeFolder(_ name: String) { unsafe mkdir(path + "/" + name, 0o755) }

    /// Creates a handler for the folder.
    func site(_ configure: (inout SiteOptions) -> Void = { _ in }) throws -> SiteHandler {
        var options = SiteOptions()
        configure(&options)
        return SiteHandler(
            resources: try FileResourceStore(root: path, rules: options.contentRules),
            work: PooledWorkRunner(pool: BlockingPool()), options: options, now: { [self] in time },
            report: { Issue.record("unexpected fault: \($0)") })
    }

    func client(_ configure: (inout SiteOptions) -> Void = { _ in }) throws -> TestClient<SiteHandler> {
        TestClient(try site(configure))
    }
}
