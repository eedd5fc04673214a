#if Archive
import DavitEngine
import DavitFileStore
import DavitHTTP
import DavitPage
import DavitServer
import DavitStore
import DavitSystem
import DavitTesting
import Synchronization
import Testing

/// Downloads of folders as ZIP files.
struct ArchiveDownloadTests {
    let folder: TemporaryFolder
    let client: TestClient<WebDAVHandler>
    let share: Share
    private let told = RecordedReports()

    private final class RecordedReports: Sendable {
        let lines = Mutex<[String]>([])
    }

    init() throws { try self.init { _ in } }

    private init(
        _ settings: PageSettings = PageSettings(), _ configure: (inout ShareConfiguration) -> Void
    ) throws {
        folder = try TemporaryFolder()
        var configuration = ShareConfiguration()
        configuration.hooks.completed = { [told] action in
            let line =
                "\(action.kind) \(action.path)\(action.isCollection ? "/" : "") \(action.principal ?? "-")"
            told.lines.withLock { $0.append(line) }
        }
        configure(&configuration)
        share = Share(
            resources: try FileResourceStore(root: folder.path),
            state: try IndexedShareState(store: MemoryStateStore()), work: Work(pool: BlockingPool()),
            configuration: configuration, now: { Timestamp(seconds: 1_800_000_000) }, report: { _ in })
        client = TestClient(WebDAVHandler(share: share, page: BrowserPage(settings: settings)))
    }

    func shell(_ commands: String) throws {
        #expect(ShellCommand.run("cd '\(folder.path)' && { \(commands); }")?.status == 0)
    }

    @Test func sizesOfSparseFilesDoNotOverflow() async throws {
        let page = try TestPage(in: "/dev/shm")
        let run = ShellCommand.run("cd '\(page.folder.path)' && truncate -s \(1 << 62) a b c")
        #expect(run?.status == 0)
        let response = try await page.client.send("HEAD", "/?archive")
        #expect(response["Davit-Archive"] == "files=3, folders=1, bytes=\(Int64.max)")
    }

    @Test func archiveContainsAFolderOfTheSameName() async throws {
        try shell(
            "mkdir -p 'my files/sub/none'; echo a > 'my files/a.txt'; echo b > 'my files/sub/ü'; echo c > c")
        let response = try await client.send("GET", "/my%20files/?archive")
        #expect(response.status == 200)
        #expect(response["Content-Type"] == "application/zip")
        #expect(response["Content-Disposition"] == "attachment; filename=\"my files.zip\"")
        let contents = try ZIPContents(response.body)
        #expect(
            Set(contents.names) == [
                "my files/", "my files/a.txt", "my files/sub/", "my files/sub/none/", "my files/sub/ü",
            ])
        #expect(contents["my files/sub/ü"]?.content == Array("b\n".utf8))
        #expect(response["Davit-Archive"] == "files=2, folders=3, bytes=4")
    }

    @Test func archiveOfTheRootHasAName() async throws {
        try shell("echo a > a")
        #expect(try ZIPContents(await client.send("GET", "/?archive").body).names == ["files/", "files/a"])
        let mounted = TestClient(
            Router { [application = client.application] in $0.mount("/x/my dav", application) })
        let response = try await mounted.send("GET", "/x/my%20dav/?archive")
        #expect(try ZIPContents(response.body).names == ["my dav/", "my dav/a"])
    }

    /// Members can be specified as the page encodes them or as a user types them; duplicates are removed.
    @Test func selectedMembersAreAtTheTop() async throws {
        try shell("mkdir -p d/sub 'a&b'; echo 1 > 'a&b/1'; echo 2 > 2; echo 3 > d/3; echo x > 'p%20q'")
        let target = "/?archive&name=d&member=a%2526b&name=2&name=d&member=p%252520q"
        let contents = try ZIPContents(await client.send("GET", target).body)
        #expect(Set(contents.names) == ["d/", "d/sub/", "d/3", "a&b/", "a&b/1", "2", "p%20q"])
        let one = try await client.send("GET", "/?archive&name=d")
        #expect(one["Content-Disposition"] == "attachment; filename=\"d.zip\"")
    }

    /// Programs on Windows treat a backslash as a separator, and a letter with a colon as a drive.
    @Test func namesCannotLeaveTheDestination() async throws {
        try shell(
            #"mkdir 'D:'; echo 1 > 'D:/..\..\evil'; echo 2 > 'C:x'; echo 3 > 'ab:c'; echo 4 > '\\host\x'"#)
        let drive = try ZIPContents(await client.send("GET", "/D%3A/?archive").body)
        #expect(Set(drive.names) == ["D%3A/", "D%3A/..%5C..%5Cevil"])
        let target = "/?archive&member=C%3Ax&member=ab%3Ac&member=%255C%255Chost%255Cx"
        for method in ["stored", "deflated"] {
            let response = try await client.send("GET", "\(target)&method=\(method)")
            let contents = try ZIPContents(response.body)
            #expect(Set(contents.names) == ["C%3Ax", "ab:c", "%5C%5Chost%5Cx"])
            #expect(contents["C%3Ax"]?.content == Array("2\n".utf8))
            if method == "stored" {
                #expect(
                    try await body(of: "GET", "\(target)&method=stored").length == Int64(response.body.count))
            }
        }
    }

    @Test func missingMembersAreListed() async throws {
        try shell("echo 1 > 1")
        let contents = try ZIPContents(await client.send("GET", "/?archive&name=1&name=2%0A").body)
        #expect(contents.names == ["1", "_errors.txt"])
        #expect(
            contents["_errors.txt"]?.content.map { String(decoding: $0, as: UTF8.self).contains("\n2%0A: ") }
                == true)
        #expect(try await client.send("GET", "/?archive&name=2").status == 404)
    }

    @Test func errorReportDoesNotReplaceAMember() async throws {
        try shell("echo 1 > _errors.txt")
        let contents = try ZIPContents(await client.send("GET", "/?archive&name=_errors.txt&name=2").body)
        #expect(contents.names == ["_errors.txt", "_errors 2.txt"])
    }

    @Test(arguments: [
        "/?archive&name=", "/?archive&name=a%2Fb", "/?archive&name=..", "/?archive&member=%25zz",
        "/?archive&method=rar",
    ])
    func invalidRequestsAreRefused(target: String) async throws {
        try shell("mkdir a; echo b > a/b")
        #expect(try await client.send("GET", target).status == 400)
    }

    /// Text is deflated and images are not, unless the client requests otherwise.
    @Test(arguments: [("", true, false), ("&method=stored", false, false), ("&method=deflated", true, true)])
    func contentIsDeflatedIfItCompresses(query: String, text: Bool, picture: Bool) async throws {
        try shell("mkdir d; yes | head -c 5000 > d/a.TXT; yes | head -c 5000 > d/b.jpg; : > d/c.txt")
        let response = try await client.send("GET", "/d/?archive\(query)")
        let contents = try ZIPContents(response.body)
        #expect(contents["d/a.TXT"]?.isDeflated == text)
        #expect(contents["d/b.jpg"]?.isDeflated == picture)
        #expect(contents["d/c.txt"]?.isDeflated == false)
    }

    /// The field `Davit-Archive` of a HEAD response contains the number and total size of the files. The
    /// response has Content-Length if nothing is deflated.
    @Test func headReturnsTheEstimate() async throws {
        try shell("mkdir -p d/e; head -c 5000 /dev/zero > d/a.jpg; head -c 300 /dev/zero > d/e/b.txt")
        let stored = try await client.send("GET", "/d/?archive&method=stored")
        let (bare, head) = (
            try await body(of: "HEAD", "/d/?archive&method=stored"), try await body(of: "HEAD", "/d/?archive")
        )
        #expect(bare.length == Int64(stored.body.count))
        #expect(head.length == nil)
        #expect(head.fields.first(named: "Davit-Archive") == "files=2, folders=2, bytes=5300")
        #expect(try await body(of: "GET", "/d/?archive&method=stored").length == Int64(stored.body.count))
    }

    /// Returns the response as the transport receives it.
    private func body(of method: String, _ target: String) async throws -> (
        fields: HTTPFields, length: Int64?
    ) {
        let wrapped = Lengths(client.application)
        let response = try await TestClient(wrapped).send(method, target)
        return (response.fields, wrapped.last)
    }

    private final class Lengths: Handler {
        private let next: WebDAVHandler
        private let length = Mutex<Int64?>(nil)
        var last: Int64? { length.withLock { $0 } }

        init(_ next: WebDAVHandler) { self.next = next }

        func respond(to request: HTTPRequest) throws(HTTPError) -> Reply {
            try next.respond(to: request).map { response in
                self.length.withLock { $0 = response.body.length }
                return response
            }
        }
    }

    /// Links are followed; links to the outside are omitted, and cycles are reported.
    @Test func linksAreFollowedWithinTheShare() async throws {
        try shell(
            "mkdir -p d/e f; echo 1 > f/1; ln -s ../f d/in; ln -s /etc d/out; ln -s ../.. d/e/up; ln -s ../../d d/e/same"
        )
        let contents = try ZIPContents(await client.send("GET", "/d/?archive").body)
        #expect(contents["d/in/1"]?.content == Array("1\n".utf8))
        #expect(!contents.names.contains { $0.contains("out") })
        // Each folder is in the archive once.
        #expect(contents.names.contains("d/e/up/") && !contents.names.contains("d/e/up/f/1"))
        #expect(!contents.names.contains { $0.hasPrefix("d/e/same/") })
        let report = String(decoding: contents["_errors.txt"]?.content ?? [], as: UTF8.self)
        #expect(report.contains("e/same: ") && report.contains("e/up/d: "), "\(report)")
        #expect(report.contains("e/up/f: links to a folder that is already in this archive"), "\(report)")
    }

    typealias ArchiveRequest = (mode: String, kind: String, site: String, origin: String?, status: UInt16)

    /// Fetch Metadata §2.
    static let archiveRequests: [ArchiveRequest] = [
        ("no-cors", "image", "same-origin", nil, 200), ("navigate", "document", "none", nil, 200),
        // The user has followed a link on another site.
        ("navigate", "document", "cross-site", nil, 200),
        // An archive embedded in a page of another site is expensive for this server.
        ("navigate", "iframe", "cross-site", nil, 403), ("no-cors", "image", "cross-site", nil, 403),
        ("cors", "empty", "same-site", "http://localhost:3000", 403),
        ("cors", "empty", "cross-site", "https://app.example", 200),
    ]

    @Test(arguments: archiveRequests)
    func otherOriginsCannotCreateArchives(request: ArchiveRequest) async throws {
        let share = try ArchiveDownloadTests { $0.pageOrigins = ["https://app.example"] }
        var fields = [
            ("Sec-Fetch-Mode", request.mode), ("Sec-Fetch-Dest", request.kind),
            ("Sec-Fetch-Site", request.site),
        ]
        if let origin = request.origin { fields.append(("Origin", origin)) }
        for method in ["GET", "HEAD"] {
            let response = try await share.client.send(method, "/?archive", fields)
            #expect(response.status == request.status, "\(method)")
        }
    }

    @Test func archivesOmitHiddenAndDisallowedNames() async throws {
        let share = try ArchiveDownloadTests {
            $0.rules.allowsHiddenItems = false
            $0.rules.allowedExtensions = ["jpg"]
            $0.hiddenPaths = [ResourcePath(segments: ["d".utf8, "mount".utf8]) ?? .root]
        }
        try share.shell(
            "mkdir -p d/mount d/.h; echo 1 | tee d/a.jpg d/a.txt d/.b.jpg d/mount/c.jpg d/.h/d.jpg")
        let contents = try ZIPContents(await share.client.send("GET", "/d/?archive").body)
        #expect(contents.names == ["d/", "d/a.jpg"])
        #expect(try await share.client.send("GET", "/d/?archive&name=mount&name=.h&name=a.txt").status == 404)
    }

    @Test func namesThatAreNotUTF8ArePreserved() async throws {
        try shell("mkdir d; touch d/$(printf 'a\\377b')")
        let contents = try ZIPContents(await client.send("GET", "/?archive&member=d").body)
        #expect(contents.entries.last?.name == [0x64, 0x2F, 0x61, 0xFF, 0x62])
        let one = try ZIPContents(await client.send("GET", "/d/?archive&member=a%25FFb").body)
        #expect(one.entries.map(\.name) == [[0x61, 0xFF, 0x62]])
    }

    /// The collection has more members than are counted in advance: the archive begins before all members have
    /// been counted, and has no length.
    @Test func manyMembersAreArchivedWithoutALength() async throws {
        try shell("mkdir d; cd d; seq 1 10500 | xargs touch")
        let response = try await client.send("GET", "/d/?archive")
        #expect(response["Davit-Archive"] == "files=9999, folders=1, bytes=0, partial")
        #expect(try ZIPContents(response.body).entries.count == 10_501)
        #expect(
            try await client.send("HEAD", "/d/?archive")["Davit-Archive"] == "files=10500, folders=1, bytes=0"
        )
    }

    /// The number of members counted before an archive is sent, and for HEAD, is limited. The folder itself and
    /// the end of the traversal count, too.
    @Test func countedMembersAreLimited() async throws {
        #expect(PageSettings().archiveListedEstimateLimit == 10_000)
        #expect(PageSettings().archiveEstimateLimit == 200_000)
        var settings = PageSettings()
        settings.archiveListedEstimateLimit = 12
        settings.archiveEstimateLimit = 22
        let share = try ArchiveDownloadTests(settings) { _ in }
        for (files, suffix, headSuffix) in [
            (10, "", ""), (11, ", partial", ""), (20, nil, ""), (21, nil, ", partial"),
        ]
            as [(Int, String?, String)]
        {
            try share.shell("mkdir -p d; cd d; seq \(files) | xargs touch")
            let head = try await share.client.send("HEAD", "/d/?archive")["Davit-Archive"]
            #expect(head == "files=\(files), folders=1, bytes=0\(headSuffix)")
            let response = try await share.client.send("GET", "/d/?archive")
            if let suffix {
                #expect(response["Davit-Archive"] == "files=\(files), folders=1, bytes=0\(suffix)")
            }
            #expect(try ZIPContents(response.body).entries.count == files + 1)
        }
    }

    /// The names of very many selected members are in memory until the archive contains them; they need a slot.
    @Test func archivesOfManySelectedMembersAreLimited() async throws {
        let tests = try ArchiveDownloadTests { $0.largeBodyLimit = 1 }
        try tests.shell("mkdir d; touch d/a")
        let post = { @Sendable (count: Int, principal: String) async throws -> HTTPResponse in
            let form = "member=a&" + (1..<count).map { "member=\($0)" }.joined(separator: "&")
            let fields = [
                ("Content-Type", "application/x-www-form-urlencoded"), ("Sec-Fetch-Site", "same-origin"),
            ]
            return try await tests.client.begin(
                "POST", "/d/?action=archive", fields, body: FormBody(Array(form.utf8)), principal: principal)
        }
        let held = try await post(25_000, "anna")
        #expect(held.status == .ok)
        let executor = TestExecutor()
        let waiting = executor.start { try await post(25_000, "bert").status }
        executor.waitUntilIdle()
        #expect(tests.share.largeForms.waitingCount == 1)
        // Fewer names need no slot.
        #expect(try await post(100, "carl").status == .ok)
        #expect(tests.share.largeForms.waitingCount == 1)
        waiting.cancel()
        #expect(try await waiting.value == .serviceUnavailable)
        guard case .stream(let stream) = held.body else {
            Issue.record("not a stream")
            return
        }
        let buffer = IOBuffer(capacity: 1 << 20)
        var bytes: [UInt8] = []
        repeat {
            buffer.removeAll()
            try await stream.next(into: buffer)
            unsafe buffer.withBytes { unsafe bytes.append(contentsOf: $0) }
        } while buffer.count > 0
        #expect(try ZIPContents(bytes).names == ["a", "_errors.txt"])
    }

    /// Members whose paths are longer than 1 MiB in total are not counted before an archive is sent.
    @Test func countedPathsAreLimited() async throws {
        // The last member that is counted reaches the limit.
        let nameBytes = 250
        let count = ((1 << 20) + nameBytes - 1) / nameBytes
        let stem = String(repeating: "n", count: nameBytes - 7)
        try shell("mkdir d; cd d; seq -f '\(stem)%07.0f' 1 \(count - 1) | xargs touch")
        let whole = "files=\(count - 1), folders=1, bytes=0"
        #expect(try await client.send("GET", "/d/?archive&method=stored")["Davit-Archive"] == whole)
        #expect(try await body(of: "HEAD", "/d/?archive&method=stored").length != nil)
        try shell("cd d; seq -f '\(stem)%07.0f' \(count) \(count + 100) | xargs touch")
        let response = try await client.send("GET", "/d/?archive&method=stored")
        #expect(response["Davit-Archive"] == "files=\(count), folders=1, bytes=0, partial")
        let contents = try ZIPContents(response.body)
        #expect(contents.entries.count == count + 101)
        #expect(Set(contents.names).count == count + 101)
        let head = try await body(of: "HEAD", "/d/?archive&method=stored")
        #expect(head.length == nil)
        #expect(head.fields.first(named: "Davit-Archive") == "files=\(count + 100), folders=1, bytes=0")
    }

    /// Entries below links are found again when they are written.
    @Test func archiveWithALengthContainsLinkedFolders() async throws {
        try shell("mkdir -p d f/g; echo 12 > f/g/1; ln -s ../f d/in; ln -s ../f/g/1 d/one; echo 3 > d/3")
        for (target, names) in [
            ("/d/?archive&method=stored", ["d/", "d/3", "d/in/", "d/in/g/", "d/in/g/1", "d/one"]),
            ("/?archive&name=d&method=stored", ["d/", "d/3", "d/in/", "d/in/g/", "d/in/g/1", "d/one"]),
        ] {
            let response = try await client.send("GET", target)
            let contents = try ZIPContents(response.body)
            #expect(contents.names.sorted() == names)
            #expect(contents["d/in/g/1"]?.content == Array("12\n".utf8))
            #expect(contents["d/one"]?.content == Array("12\n".utf8))
            #expect(try await body(of: "GET", target).length == Int64(response.body.count))
        }
    }

    @Test func formCanListMoreMembersThanAURL() async throws {
        try shell("mkdir d; cd d; seq 1 3000 | xargs touch")
        let form = (1...2999).map { "member=\($0)" }.joined(separator: "&")
        let type = ("Content-Type", "application/x-www-form-urlencoded")
        let own = ("Sec-Fetch-Site", "same-origin")
        let response = try await client.send("POST", "/d/?action=archive", [type, own], text: form)
        #expect(response.status == 200)
        #expect(try ZIPContents(response.body).entries.count == 2999)
        let foreign = try await client.send("POST", "/d/?action=archive", [type], text: form)
        #expect(foreign.status == 403)
        // POST is for collections only.
        #expect(try await client.send("POST", "/d/1?action=archive", [type, own], text: form).status == 405)
    }

    /// Archives change nothing, so they can also be requested from read-only shares.
    @Test func readOnlyShareProvidesArchives() async throws {
        let share = try ArchiveDownloadTests { $0.isReadOnly = true }
        try share.shell("echo 1 > 1")
        let fields = [
            ("Content-Type", "application/x-www-form-urlencoded"), ("Sec-Fetch-Site", "same-origin"),
        ]
        #expect(
            try await share.client.send("POST", "/?action=archive", fields, text: "member=1").status == 200)
        #expect(try await share.client.send("POST", "/?action=mkcol", fields, text: "name=2").status == 403)
    }

    @Test func hooksAreCalledOnce() async throws {
        try shell("mkdir d; echo 1 | tee d/1 d/2")
        _ = try await client.send("HEAD", "/d/?archive", principal: "anna")
        _ = try await client.send("GET", "/d/?archive", principal: "anna")
        #expect(told.lines.withLock { $0 } == ["download /d/ anna"])
    }

    @Test func rangeIsIgnored() async throws {
        try shell("mkdir d; echo 1 > d/1")
        let response = try await client.send("GET", "/d/?archive", [("Range", "bytes=0-1")])
        #expect(response.status == 200)
        #expect(response["Accept-Ranges"] == "none")
        #expect(try ZIPContents(response.body).names == ["d/", "d/1"])
    }

    /// An archive that cannot have the announced length is aborted; the next one has no length and lists what
    /// is missing.
    @Test func shrinkingContentAbortsTheArchive() async throws {
        try shell("mkdir d; head -c 300000 /dev/zero > d/a.jpg; echo 2 > d/b.jpg")
        let shrinking = Shrinking(client.application) { [folder] in
            _ = ShellCommand.run("cd '\(folder.path)' && truncate -s 100000 d/a.jpg && rm d/b.jpg")
        }
        await #expect(throws: HTTPError.disconnected) {
            try await TestClient(shrinking).send("GET", "/d/?archive")
        }
        try shell("head -c 300000 /dev/zero > d/a.jpg; echo 2 > d/b.jpg")
        let response = try await TestClient(shrinking).send("GET", "/d/?archive")
        let contents = try ZIPContents(response.body)
        #expect(contents["d/a.jpg"]?.length == 100_000)
        #expect(contents.names.last == "_errors.txt")
        #expect(contents["d/b.jpg"] == nil)
    }

    /// Runs a closure between the head of a response and its content.
    private struct Shrinking: Handler {
        let next: WebDAVHandler
        let change: @Sendable () -> Void

        init(_ next: WebDAVHandler, _ change: @escaping @Sendable () -> Void) {
            self.next = next
            self.change = change
        }

        func respond(to request: HTTPRequest) throws(HTTPError) -> Reply {
            try next.respond(to: request).map { response in
                change()
                return response
            }
        }
    }
}
#endif
