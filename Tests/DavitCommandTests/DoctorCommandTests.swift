import Davit
import DavitCommand
import DavitCrypto
import DavitHTTP
import DavitRecording
import DavitServer
import DavitSystem
import DavitTesting
import Testing

@Suite(.timeLimit(.minutes(5)))
struct DoctorCommandTests {
    private let folder: TemporaryFolder
    private let share: String
    private let state: String

    init() throws { (folder, share, state) = try TemporaryFolder.withSharedFolder() }

    private func serveOptions(_ configure: (inout ServeOptions) -> Void = { _ in }) -> ServeOptions {
        var options = ServeOptions(folder: share)
        options.stateFolder = state
        options.hosts = ["127.0.0.1"]
        options.port = 0
        configure(&options)
        return options
    }

    private func report(
        url: String? = nil, user: ServeOptions.User? = nil,
        _ configure: (inout ServeOptions) -> Void = { _ in }
    ) -> DoctorReport {
        var options = DoctorOptions(source: .options(serveOptions(configure)))
        options.server = url.flatMap { ServerAddress(parsing: $0) }
        options.user = user
        return DoctorCommand(options: options).report()
    }

    private func findings(_ report: DoctorReport, _ check: String) -> [DoctorFinding] {
        report.sections.filter { $0.check == check }.flatMap(\.findings)
    }

    private func problems(_ report: DoctorReport) -> [String] {
        report.sections.flatMap { section in
            section.findings.filter { $0.level == .problem }.map { "\(section.check): \($0.message)" }
        }
    }

    private func start(_ server: WebServer) throws -> UInt16 {
        try #require(try server.start().first { $0.path == nil }).port
    }

    private func sharedNames() throws -> [String] {
        try #require(try PrivateFolder.names(in: share)).filter { $0 != "." && $0 != ".." }
    }

    private func configuration() -> Configuration {
        var configuration = Configuration()
        configuration.hosts = ["127.0.0.1"]
        configuration.port = 0
        configuration.logLevel = .error
        configuration.grace = .zero
        configuration.deadlines = .ofTests
        return configuration
    }

    // MARK: Command line

    @Test func acceptsTheOptionsOfServe() throws {
        let parsed = try Arguments.parse([
            "doctor", "/srv", "--port=81", "--url", "https://h:1/dav", "--ca", "a.pem", "--json",
            "--sign-in=anna:b",
        ])
        guard case .doctor(let options) = parsed, case .options(let serve) = options.source else {
            Issue.record("\(parsed)")
            return
        }
        #expect(serve.folder == "/srv" && serve.port == 81 && options.printsJSON)
        #expect(options.server?.origin == "https://h:1" && options.server?.path == "/dav/")
        #expect(options.server?.authorities == "a.pem")
        #expect(options.user == .init(name: "anna", password: "b"))
    }

    static let refused: [(line: [String], error: UsageError)] = [
        (["doctor"], .missingFolder),
        (["doctor", "/srv", "--url", "ftp://h/"], .badServer("ftp://h/")),
        (["doctor", "/srv", "--ca", "a"], .useless(option: "--ca", without: "--url")),
        (["doctor", "/srv", "--sign-in", "a:b"], .useless(option: "--sign-in", without: "--url")),
    ]

    @Test(arguments: refused)
    func invalidCommandLineIsRefused(line: [String], error: UsageError) {
        #expect(throws: error) { try Arguments.parse(line) }
    }

    // MARK: Checks

    @Test func soundSettingsHaveNoProblemAndNothingIsChanged() throws {
        let report = report()
        #expect(problems(report) == [])
        #expect(report.sections.map(\.check).starts(with: ["configuration", "addresses", "clock", "limits"]))
        #expect(try sharedNames() == [])
        #expect(try !ExclusiveFolder.hasEntry(at: state))
    }

    @Test func missingFolderIsReportedOnce() {
        let report = report { $0.folder += "/missing" }
        #expect(problems(report) == ["folders: folder \(share)/missing does not exist"])
        #expect(findings(report, "folders").first?.advice?.hasPrefix("Create it (mkdir -p") == true)
    }

    @Test(arguments: ["0.0.0.0/0", "::/0"]) func trustInEveryClientIsAWarning(network: String) {
        let report = report { $0.proxies.trusted = ["127.0.0.1", network] }
        let warnings = findings(report, "configuration").filter { $0.level == .warning }
        #expect(warnings.count == 1)
        #expect(warnings.first?.message.hasPrefix("--trusted-proxy \(network) trusts every client") == true)
    }

    @Test func openServerWithoutAccountsIsAProblem() {
        let report = report { $0.hosts = ["0.0.0.0"] }
        #expect(
            problems(report) == [
                "configuration: without accounts, anyone who can reach 0.0.0.0 could access the folder"
            ])
    }

    #if YAML
    @Test func invalidFileIsReportedWithItsMistakes() throws {
        let path = folder.path + "/davit.yaml"
        try SmallFile.write(Array("folder: /srv\nprot: 8080\n".utf8), to: path, mode: 0o600)
        let options = DoctorOptions(source: .file(ServeSources(file: path)))
        let report = DoctorCommand(options: options).report()
        #expect(report.sections.map(\.check) == ["configuration", "clock", "limits"])
        #expect(findings(report, "configuration").first?.message.contains("prot") == true)
    }
    #endif

    @Test func portOfTheRunningServerIsNoProblem() throws {
        let server = try WebServer(WebDAVShare(share, stateFolder: state), configuration: configuration())
        let port = try start(server)
        defer {
            server.shutdown()
            server.waitUntilStopped()
        }
        let report = report { $0.port = port }
        #expect(problems(report) == [])
        #expect(findings(report, "addresses").first?.message.hasSuffix("the server of this share") == true)
        #expect(
            findings(report, "server").first?.message.hasPrefix("the server of \(share) is ready (pid")
                == true)
    }

    @Test func portOfAnotherProgramIsAProblemThatNamesIt() throws {
        let other = try WebServer(configuration: configuration()) { _ in }
        let port = try start(other)
        defer {
            other.shutdown()
            other.waitUntilStopped()
        }
        let found = problems(report { $0.port = port })
        #expect(found.count == 1)
        #expect(found.first?.hasPrefix("addresses: 127.0.0.1 port \(port) is used by ") == true)
        #expect(found.first?.hasSuffix("(pid \(ProcessPrivileges.processID))") == true)
    }

    /// Creates the state; the server releases its lock when it is deallocated.
    private func createState() throws {
        let server = try WebServer(WebDAVShare(share, stateFolder: state), configuration: configuration())
        _ = try start(server)
        server.shutdown()
        server.waitUntilStopped()
    }

    @Test func damagedStateIsAProblem() throws {
        try createState()
        #expect(findings(report(), "state") == [.ok("the databases in \(state) are sound")])

        let path = state + "/state.sqlite"
        var bytes = try SmallFile(reading: path).bytes
        for offset in 0..<32 { bytes[4096 + offset] = 0xA5 }
        try SmallFile.write(bytes, to: path, mode: 0o600)
        let found = findings(report(), "state")
        #expect(found.first?.level == .problem)
        #expect(found.first?.message.hasPrefix("state in \(state) is damaged: state.sqlite: ") == true)
        #expect(try SmallFile(reading: path).bytes == bytes)
        #expect(try !ExclusiveFolder.hasEntry(at: path + "-wal"))
    }

    @Test func proxyThatIsEveryoneIsAProblem() {
        let report = report { options in
            options.proxies.trusted = ["0.0.0.0/0"]
        }
        #expect(
            problems(report).first?.hasPrefix("proxies: --trusted-proxy 0.0.0.0/0 lets every client") == true)
    }

    static let times: [(seconds: Int64, isSynchronized: Bool?, level: DoctorFinding.Level)] = [
        (0, true, .problem), (1_735_689_599, true, .problem), (4_200_000_000, nil, .problem),
        (1_800_000_000, true, .ok), (1_800_000_000, false, .warning), (1_800_000_000, nil, .ok),
    ]

    @Test(arguments: times)
    func implausibleTimeIsAProblem(seconds: Int64, isSynchronized: Bool?, level: DoctorFinding.Level) {
        #expect(ClockCheck.finding(seconds: seconds, isSynchronized: isSynchronized).level == level)
    }

    @Test func lowLimitOfOpenFilesIsAWarning() {
        #expect(LimitCheck.descriptors(1024, connections: 1024).level == .warning)
        #expect(LimitCheck.descriptors(1536, connections: 1024).level == .ok)
    }

    static let spaces: [(bytes: Int64, files: Int64?, keeps: Int64, levels: [DoctorFinding.Level])] = [
        (0, nil, 0, [.problem]), (5 << 30, nil, 5 << 30, [.problem]), (5 << 30, nil, 0, [.ok]),
        (1 << 20, 1 << 20, 0, [.warning]), (5 << 30, 0, 0, [.ok, .problem]),
        (5 << 30, 100, 0, [.ok, .warning]),
    ]

    @Test(arguments: spaces)
    func scarceSpaceIsReported(bytes: Int64, files: Int64?, keeps: Int64, levels: [DoctorFinding.Level]) {
        #expect(VolumeCheck.space("/srv", bytes: bytes, files: files, keeps: keeps).map(\.level) == levels)
    }

    // MARK: Certificates

    #if TLS
    @Test func certificateOfAnotherNameIsAProblem() throws {
        let identity = try TestPKI.leaf("files.example")
        let (certificate, key) = (folder.path + "/c.pem", folder.path + "/k.pem")
        try SmallFile.write(try identity.certificate.pem(), to: certificate, mode: 0o644)
        try SmallFile.write(try identity.key.pem(), to: key, mode: 0o644)
        func report(_ url: String, key: String) -> [DoctorFinding] {
            findings(
                self.report {
                    $0.tls.certificates = [certificate]
                    $0.tls.keys = [key]
                    $0.publicURLs = [PublicURL(parsing: url)].compactMap { $0 }
                }, "certificates")
        }
        let found = report("https://files.example", key: key)
        #expect(found.map(\.level) == [.ok, .warning, .warning])
        #expect(found[1].message.contains("this machine does not trust it"))
        #expect(found[2].message == "\(key) is accessible to other users")
        #expect(
            report("https://other.example", key: key).last?.message
                == "no certificate is valid for other.example")
        #expect(report("https://files.example", key: certificate).map(\.level).contains(.problem))
    }
    #endif

    // MARK: Through the address of clients

    @Test func serverItselfPassesTheChecksOfItsAddress() throws {
        var configuration = configuration()
        configuration.accounts = [.init(name: "anna", password: "secret")]
        let server = try WebServer(WebDAVShare(share, stateFolder: state), configuration: configuration)
        let port = try start(server)
        defer {
            server.shutdown()
            server.waitUntilStopped()
        }
        func levels(_ user: ServeOptions.User?) -> [DoctorFinding.Level] {
            findings(
                report(url: "http://127.0.0.1:\(port)/", user: user) { $0.port = port }, "url"
            ).map(\.level)
        }
        #expect(levels(.init(name: "anna", password: "secret")) == [.ok, .ok, .ok, .ok])
        #expect(levels(nil) == [.ok, .ok, .warning, .ok])
        #expect(try sharedNames() == [])
    }

    @Test func proxyThatAnswersOptionsItselfIsAProblem() throws {
        let proxy = try WebServer(configuration: configuration()) { routes in
            routes.options("/") { _ in HTTPResponse(status: .noContent) }
        }
        let port = try start(proxy)
        defer {
            proxy.shutdown()
            proxy.waitUntilStopped()
        }
        let found = findings(report(url: "http://127.0.0.1:\(port)/"), "url")
        #expect(found.count == 1)
        #expect(found.first?.message == "OPTIONS / was answered with 204 and no DAV field")
    }

    @Test func proxyThatRefusesMethodsAndLargeUploadsIsAProblem() throws {
        let proxy = try WebServer(configuration: configuration()) { routes in
            let name = "/.davit-doctordoctordoct"
            for path in ["/", name, name + "/member"] {
                routes.any(path) { request in
                    var fields = HTTPFields()
                    switch request.method {
                    case .options:
                        fields.append(.dav, "1, 2")
                        return HTTPResponse(status: .ok, fields: fields)
                    case .put: return HTTPResponse(status: .contentTooLarge)
                    case .copy: return HTTPResponse(status: .badGateway)
                    case .propfind: return HTTPResponse(status: .multistatus)
                    default: return HTTPResponse(status: .methodNotAllowed)
                    }
                }
            }
        }
        let port = try start(proxy)
        defer {
            proxy.shutdown()
            proxy.waitUntilStopped()
        }
        let found = findings(report(url: "http://127.0.0.1:\(port)/"), "url")
        #expect(found.map(\.level) == [.ok, .problem, .problem, .problem])
        #expect(found[1].message == "refused on the way: LOCK, REPORT, MKCOL, MOVE")
        #expect(found[3].message.hasSuffix("was refused (413)"))
    }

    @Test func unreachableAddressIsAProblem() throws {
        let server = try WebServer(configuration: configuration()) { _ in }
        let port = try start(server)
        server.shutdown()
        server.waitUntilStopped()
        #expect(
            problems(report(url: "http://127.0.0.1:\(port)/")).first?.hasPrefix("url: http://127.0.0.1:")
                == true)
    }

    // MARK: Output

    private static let sample = DoctorReport(sections: [
        .init(
            check: "clock",
            findings: [.ok("fine"), .warning("slow", "Wait."), .problem("a \"b\"\nc", nil)])
    ])

    @Test func textHasALineForEachFinding() {
        #expect(
            Self.sample.text == """
                ok       clock: fine
                warning  clock: slow
                         Wait.
                problem  clock: a "b"
                         c

                """)
    }

    @Test func jsonHasAnObjectForEachFinding() {
        let start =
            #"{"problems":1,"warnings":1,"findings":[{"check":"clock","level":"ok","message":"fine","advice":null},"#
        #expect(Self.sample.json.hasPrefix(start))
        #expect(Self.sample.json.hasSuffix(#""message":"a \u0022b\u0022\u000ac","advice":null}]}"# + "\n"))
    }
}
