import Davit
import DavitCommand
import DavitFileStore
import DavitHTTP
import DavitRecording
import DavitServer
import Testing

struct ArgumentsTests {
    private static func days(_ days: Int, bytes: Int64? = nil) -> TrashLimits {
        var limits = TrashLimits()
        limits.days = days
        limits.bytes = bytes
        return limits
    }

    /// Returns the default options of `davit serve /srv` with changes.
    static func options(_ change: (inout ServeOptions) -> Void = { _ in }) -> ServeOptions {
        var options = ServeOptions(folder: "/srv")
        change(&options)
        return options
    }

    static func stub(_ file: String, _ change: (inout StubOptions) -> Void = { _ in }) -> StubOptions {
        var options = StubOptions(file: file)
        change(&options)
        return options
    }

    static func stub(
        _ action: StubControlOptions.Action, to server: String = "http://127.0.0.1:8080/"
    ) -> Invocation {
        guard let address = ServerAddress(parsing: server) else { return .version }
        return .stubControl(StubControlOptions(action: action, server: address))
    }

    static func replay(
        _ recordings: [String], _ change: (inout ReplayOptions) -> Void = { _ in }
    ) -> ReplayOptions {
        var options = ReplayOptions(server: ServerAddress(parsing: "http://h:1/")!)
        options.recordings = recordings
        change(&options)
        return options
    }

    static let understood: [(line: [String], invocation: Invocation)] = [
        ([], .help(.davit)), (["--help"], .help(.davit)), (["-h"], .help(.davit)), (["help"], .help(.davit)),
        (["help", "serve"], .help(.serve)), (["serve", "--help"], .help(.serve)),
        (["serve", "/srv", "--port", "1", "--help"], .help(.serve)), (["--version"], .version),
        (["serve", "/srv"], .serve(options())),
        (["serve", "--", "-odd-"], .serve(ServeOptions(folder: "-odd-"))),
        (
            ["serve", "--port", "0", "/srv"],
            .serve(
                options {
                    $0.port = 0
                    $0.listensByDefault = false
                })
        ),
        (
            ["serve", "/srv", "--port=65535"],
            .serve(
                options {
                    $0.port = 65535
                    $0.listensByDefault = false
                })
        ),
        (
            ["serve", "/srv", "--host", "127.0.0.1"],
            .serve(
                options {
                    $0.hosts = ["127.0.0.1"]
                    $0.listensByDefault = false
                })
        ),
        (
            ["serve", "/srv", "--host=127.1.2.3", "--host", "[::1]", "--host", "LOCALHOST"],
            .serve(
                options {
                    $0.hosts = ["127.1.2.3", "::1", "LOCALHOST"]
                    $0.listensByDefault = false
                })
        ),
        (["serve", "/srv", "--state-dir", "/var/s"], .serve(options { $0.stateFolder = "/var/s" })),
        (["serve", "/srv", "--state-dir=a=b"], .serve(options { $0.stateFolder = "a=b" })),
        (
            ["serve", "/srv", "--home", "/h/{user}"],
            .serve(options { $0.homes = .init("/home", folder: "/h") })
        ),
        (
            ["serve", "/srv", "--mount", "/a=/b", "--mount=/c/d=e=f"],
            .serve(options { $0.mounts = [.init("/a", folder: "/b"), .init("/c/d", folder: "e=f")] })
        ),
        (["serve", "/srv", "--record", "/rec"], .serve(options { $0.recordingFolder = "/rec" })),
        (["replay", "--help"], .help(.replay)), (["help", "replay"], .help(.replay)),
        (["stub", "--help"], .help(.stub)), (["stub", "verify", "--help"], .help(.stub)),
        (["stub", "a.sqlite"], .stub(stub("a.sqlite"))), (["stub", "--", "rules"], .stub(stub("rules"))),
        (
            [
                "stub", "--port=0", "a", "--proxy", "http://h:1/x", "--seed", "7", "--host", "[::1]",
                "--host=b", "--grace", "1",
            ],
            .stub(
                stub("a") {
                    $0.port = 0
                    $0.seed = 7
                    $0.proxy = "http://h:1/x"
                    $0.hosts = ["::1", "b"]
                    $0.graceSeconds = 1
                })
        ),
        (["stub", "rules"], stub(.listRules)), (["stub", "rules", "list"], stub(.listRules)),
        (["stub", "rules", "add", "a", "b"], stub(.addRules(["a", "b"]))),
        (["stub", "rules", "remove", "a"], stub(.removeRules(["a"]))),
        (["stub", "requests", "--to", "http://h:1/"], stub(.listRequests, to: "http://h:1/")),
        (["stub", "requests", "3"], stub(.showRequest(3))), (["stub", "reset"], stub(.reset)),
        (
            ["stub", "verify", "*", "/a", "--count=2", "--when", "{}", "--when", "[]"],
            stub(.verify(.init(method: "*", path: "/a", count: 2, conditions: ["{}", "[]"])))
        ),
        (
            ["stub", "verify", "GET", "/a", "--at-least", "1", "--at-most", "0"],
            stub(.verify(.init(method: "GET", path: "/a", atLeast: 1, atMost: 0)))
        ),
        (["stub", "import", "a", "b.har", "--into", "c"], stub(.importRules(["a", "b.har"], file: "c"))),
        (["replay", "/rec", "--to", "http://h:1/"], .replay(replay(["/rec"]))),
        (["replay", "--to=http://h:1/", "a", "--", "-b"], .replay(replay(["a", "-b"]))),
        (
            ["replay", "a", "--user", "anna:a:b", "--to", "http://h:1/", "--expect", "known", "--ca=x.pem"],
            .replay(
                replay(["a"]) {
                    $0.user = .init(name: "anna", password: "a:b")
                    $0.expectedDifferences = "known"
                    $0.server.authorities = "x.pem"
                })
        ),
        (["serve", "/srv", "--read-only"], .serve(options { $0.isReadOnly = true })),
        (["serve", "/srv", "--no-hidden"], .serve(options { $0.rules.allowsHiddenItems = false })),
        (["serve", "/srv", "--no-page"], .serve(options { $0.page.isEnabled = false })),
        (
            [
                "serve", "/srv", "--title", "T", "--header=H", "--prologue", "P\nQ", "--epilogue", "E",
                "--footer", "F",
            ],
            .serve(
                options {
                    $0.page.title = "T"
                    $0.page.header = "H"
                    $0.page.prologue = "P\nQ"
                    $0.page.epilogue = "E"
                    $0.page.footer = "F"
                })
        ),
        (
            ["serve", "/srv", "--allow-extensions", "JPG,.png,ä"],
            .serve(options { $0.rules.allowedExtensions = ["jpg", "png", "Ä"] })
        ),
        (["serve", "/srv", "--mac-metadata", "keep"], .serve(options())),
        (["serve", "/srv", "--mac-metadata=hide"], .serve(options { $0.rules.macMetadata = .hide })),
        (["serve", "/srv", "--mac-metadata", "refuse"], .serve(options { $0.rules.macMetadata = .refuse })),
        (["serve", "/srv", "--mac-metadata", "aside"], .serve(options { $0.rules.macMetadata = .aside })),
        // The former name of the option.
        (["serve", "/srv", "--litter", "refuse"], .serve(options { $0.rules.macMetadata = .refuse })),
        (["serve", "/srv", "--litter=hide"], .serve(options { $0.rules.macMetadata = .hide })),
        (["serve", "--no-compression", "/srv"], .serve(options { $0.compresses = false })),
        (["serve", "--qr", "/srv"], .serve(options { $0.printsQRCode = true })),
        (
            ["serve", "--no-sync-collection", "/srv"],
            .serve(options { $0.answersSyncCollection = false })
        ),
        (
            ["serve", "/srv", "--user", "anna:a:b=c", "--user=bert: ", "--host", "0.0.0.0"],
            .serve(
                options {
                    $0.users = [.init(name: "anna", password: "a:b=c"), .init(name: "bert", password: " ")]
                    $0.hosts = ["0.0.0.0"]
                    $0.listensByDefault = false
                })
        ),
        (
            ["serve", "/srv", "--user-file", "/etc/users", "--host", "files.example.org"],
            .serve(
                options {
                    $0.userFile = "/etc/users"
                    $0.hosts = ["files.example.org"]
                    $0.listensByDefault = false
                })
        ),
        (
            ["serve", "/srv", "--public-url", "https://Files.Example.org/", "--public-url=http://[::1]:81"],
            .serve(
                options {
                    $0.publicURLs = [
                        PublicURL(isSecure: true, host: "files.example.org"),
                        PublicURL(isSecure: false, host: "[::1]", port: 81),
                    ]
                })
        ),
        (
            ["serve", "/srv", "--prefix", "/dav/", "--public-url", "https://a/x/dav/"],
            .serve(
                options {
                    guard let prefix = PathPrefix("/dav"), let url = PublicURL(parsing: "https://a/x/dav")
                    else {
                        return
                    }
                    $0.prefix = prefix
                    $0.publicURLs = [url]
                })
        ),
        (
            ["serve", "/srv", "--auth", "digest,basic"],
            .serve(options { $0.authentication.schemes = [.digestSHA256, .digestMD5, .basic] })
        ),
        (
            ["serve", "/srv", "--auth=basic,digest-md5", "--realm", "my files"],
            .serve(
                options {
                    $0.authentication.schemes = [.basic, .digestMD5]
                    $0.authentication.realm = "my files"
                })
        ),
        (
            [
                "serve", "/srv", "--allow-origin", "HTTPS://App.Example:443/",
                "--allow-origin=app://Obsidian.md",
            ],
            .serve(
                options {
                    $0.allowedOrigins = ["https://app.example", "app://Obsidian.md"].compactMap {
                        WebOrigin(parsing: $0)
                    }
                })
        ),
        (["serve", "/srv", "--log-level", "access"], .serve(options { $0.logLevel = .access })),
        (["serve", "/srv", "--sync", "data"], .serve(options { $0.sync = .data })),
        (["serve", "/srv", "--sync=full"], .serve(options { $0.sync = .full })),
        (["serve", "/srv", "--max-depth", "1"], .serve(options { $0.maximumDepth = 1 })),
        (["serve", "/srv", "--max-file-size=5G"], .serve(options { $0.maximumFileBytes = 5 << 30 })),
        (["serve", "/srv", "--upload-expiry", "1"], .serve(options { $0.uploadSeconds = 86_400 })),
        (["serve", "/srv", "--upload-expiry=3d"], .serve(options { $0.uploadSeconds = 3 * 86_400 })),
        (["serve", "/srv", "--upload-expiry=12h"], .serve(options { $0.uploadSeconds = 12 * 3600 })),
        (["serve", "/srv", "--keep-free", "12345"], .serve(options { $0.keptFreeBytes = 12345 })),
        (["serve", "/srv", "--keep-free=3k"], .serve(options { $0.keptFreeBytes = 3 << 10 })),
        (["serve", "/srv", "--keep-free=1M"], .serve(options { $0.keptFreeBytes = 1 << 20 })),
        (["serve", "/srv", "--keep-free=2T"], .serve(options { $0.keptFreeBytes = 2 << 40 })),
        (["serve", "/srv", "--trash"], .serve(options { $0.trash = TrashLimits() })),
        (["serve", "/srv", "--trash-days=7", "--trash"], .serve(options { $0.trash = days(7) })),
        (["serve", "/srv", "--trash-size", "2G"], .serve(options { $0.trash = days(30, bytes: 2 << 30) })),
        (["help", "trash"], .help(.trash)),
        (["trash", "list", "-h"], .help(.trash)),
        (["trash", "list", "/srv"], .trash(TrashOptions(action: .list, folder: "/srv"))),
        (
            ["trash", "--state-dir", "/s", "list", "/srv"],
            .trash(TrashOptions(action: .list, folder: "/srv", stateFolder: "/s"))
        ),
        (
            ["trash", "restore", "/srv", "abc", "a/b c"],
            .trash(TrashOptions(action: .restore(["abc", "a/b c"]), folder: "/srv"))
        ),
        (["trash", "empty", "/srv"], .trash(TrashOptions(action: .empty(olderThanDays: 0), folder: "/srv"))),
        (
            ["trash", "empty", "/srv", "--older-than=7"],
            .trash(TrashOptions(action: .empty(olderThanDays: 7), folder: "/srv"))
        ),
        (["serve", "/srv", "--grace", "0"], .serve(options { $0.graceSeconds = 0 })),
        (["help", "check"], .help(.check)), (["check", "--help"], .help(.check)),
        (["check", "/srv"], .check(CheckOptions(folder: "/srv"))),
        (["status", "--help"], .help(.status)),
        (["status", "/srv"], .status(StatusOptions(folder: "/srv"))),
        (["status", "--state-dir", "/s"], .status(StatusOptions(folder: nil, stateFolder: "/s"))),
        (["status", "/srv", "--state-dir=/s"], .status(StatusOptions(folder: "/srv", stateFolder: "/s"))),
        (["check", "--", "--help"], .check(CheckOptions(folder: "--help"))),
        (["check", "--state-dir", "/s", "/srv"], .check(CheckOptions(folder: "/srv", stateFolder: "/s"))),
        (["help", "password"], .help(.password)), (["password", "--help"], .help(.password)),
        (["password"], .password(PasswordOptions())),
        (["password", "anna"], .password(PasswordOptions(name: "anna"))),
        (["password", "--", "-a"], .password(PasswordOptions(name: "-a"))),
        (
            ["password", "--digest", "anna b", "--realm=x"],
            .password(PasswordOptions(name: "anna b", isDigest: true, realm: "x"))
        ),
        (["check", "/srv", "--state-dir=/s"], .check(CheckOptions(folder: "/srv", stateFolder: "/s"))),
    ]

    @Test(arguments: understood)
    func commandLinesAreParsed(line: [String], invocation: Invocation) throws {
        #expect(try Arguments.parse(line) == invocation)
    }

    static let refused: [(line: [String], error: UsageError)] = [
        (["server"], .unknownCommand("server", nearest: "serve")),
        (["/srv"], .unknownCommand("/srv", nearest: nil)), (["foo"], .unknownCommand("foo", nearest: nil)),
        (["help", "sreve"], .unknownCommand("sreve", nearest: "serve")),
        (["--verison"], .unknownOption("--verison", nearest: "--version")),
        (["-v"], .unknownOption("-v", nearest: "--help")),
        (["stub"], .missingStubFile), (["stub", "a", "b"], .unexpectedArgument("b")),
        (["stub", "a", "--proxy", "h"], .badServer("h")),
        (["stub", "rules", "ad"], .unknownCommand("ad", nearest: "add")),
        (["stub", "rules", "add"], .missingStubArgument("JSON")),
        (["stub", "requests", "x"], .badNumber("x", option: "NUMBER", range: 1...Int.max)),
        (["stub", "verify", "GET"], .missingStubArgument("PATH")),
        (["stub", "import", "a"], .missingStubArgument("--into FILE")),
        (["stub", "reset", "--into", "x"], .unknownOption("--into", nearest: "--to")),
        (["stub", "reset", "x"], .unexpectedArgument("x")),
        (["stub", "reset", "--to", "h"], .badServer("h")),
        (["replay"], .missingRecording), (["replay", "--to", "http://h/"], .missingRecording),
        (["replay", "a"], .missingServer), (["replay", "a", "--to"], .missingValue(option: "--to")),
        (["replay", "a", "--to", "h:1"], .badServer("h:1")),
        (["replay", "a", "--to", "http://h/", "--usr", "a:b"], .unknownOption("--usr", nearest: "--user")),
        (["replay", "a", "--to", "http://h/", "--user", "anna"], .badUser),
        (["serve"], .missingFolder), (["serve", ""], .missingFolder),
        (["serve", "--read-only"], .missingFolder),
        (["serve", "/a", "/b"], .unexpectedArgument("/b")),
        (["serve", "/srv", "--prot", "1"], .unknownOption("--prot", nearest: "--port")),
        (["serve", "/srv", "--readonly"], .unknownOption("--readonly", nearest: "--read-only")),
        (["serve", "/srv", "--state-folder=/x"], .unknownOption("--state-folder", nearest: "--state-dir")),
        (["serve", "/srv", "--usr", "a:b"], .unknownOption("--usr", nearest: "--user")),
        (["serve", "/srv", "--certificate", "x"], .unknownOption("--certificate", nearest: nil)),
        (["serve", "/srv", "-x"], .unknownOption("-x", nearest: nil)),
        (["serve", "/srv", "--read-only=yes"], .unwantedValue(option: "--read-only")),
        (["serve", "/srv", "--port", "65536"], .badNumber("65536", option: "--port", range: 0...65535)),
        (["serve", "/srv", "--port", "-1"], .badNumber("-1", option: "--port", range: 0...65535)),
        (["serve", "/srv", "--port", "+80"], .badNumber("+80", option: "--port", range: 0...65535)),
        (["serve", "/srv", "--port", "http"], .badNumber("http", option: "--port", range: 0...65535)),
        (["serve", "/srv", "--grace", "3601"], .badNumber("3601", option: "--grace", range: 0...3600)),
        (["chekc", "/srv"], .unknownCommand("chekc", nearest: "check")),
        (["status"], .missingFolder), (["status", ""], .missingFolder),
        (["status", "/a", "/b"], .unexpectedArgument("/b")),
        (["check"], .missingFolder), (["check", "/a", "/b"], .unexpectedArgument("/b")),
        (["check", "/srv", "--state-dir"], .missingValue(option: "--state-dir")),
        (["serve", "/srv", "--home", "/h"], .badHome("/h")),
        (["serve", "/srv", "--home", "/{user}"], .badHome("/{user}")),
        (["serve", "/srv", "--home", "/h/{user}/files"], .badHome("/h/{user}/files")),
        (["serve", "/srv", "--mount", "/a"], .badMount("/a")),
        (["serve", "/srv", "--mount", "a=/b"], .badMount("a=/b")),
        (["serve", "/srv", "--mount", "/a="], .badMount("/a=")),
        (["check", "/srv", "--sate-dir=/s"], .unknownOption("--sate-dir", nearest: "--state-dir")),
        // `check` does not accept the options of `serve`.
        (["check", "/srv", "--port", "80"], .unknownOption("--port", nearest: nil)),
        (["serve", "/srv", "--user", "anna"], .badUser), (["serve", "/srv", "--user", ":x"], .badUser),
        (["serve", "/srv", "--user", "anna:"], .badUser),
        (["serve", "/srv", "--auth", "none"], .badScheme("none")),
        (["serve", "/srv", "--auth", "basic,"], .badScheme("basic,")),
        (["serve", "/srv", "--auth", "basic,basic"], .badScheme("basic,basic")),
        (["serve", "/srv", "--auth", "digest,digest-md5"], .badScheme("digest,digest-md5")),
        (["serve", "/srv", "--auth", "Basic"], .badScheme("Basic")),
        (["serve", "/srv", "--allow-origin", "*"], .anyOrigin),
        (["password", "a", "b"], .unexpectedArgument("b")), (["password", "--digest"], .missingName),
        (["password", "a", "--digest=yes"], .unwantedValue(option: "--digest")),
        (["password", "a", "--realm"], .missingValue(option: "--realm")),
        (["password", "a", "--realm", "x"], .useless(option: "--realm", without: "--digest")),
        (["serve", "/srv", "--max-file-size", "0"], .limitOfZero(option: "--max-file-size")),
        (["serve", "/srv", "--trash-size=0K"], .limitOfZero(option: "--trash-size")),
        (["serve", "/srv", "--ban-minutes", "5"], .useless(option: "--ban-minutes", without: "--ban-after")),
        (["password", "a", "--user", "x"], .unknownOption("--user", nearest: nil)),
        (["trash", "lst", "/srv"], .unknownCommand("trash lst", nearest: "trash list")),
        (["trash", "add", "/srv"], .unknownCommand("trash add", nearest: nil)),
        (["trash", "list"], .missingFolder), (["trash", "list", "/a", "/b"], .unexpectedArgument("/b")),
        (["trash", "restore", "/srv"], .missingTrash), (["trash", "restore", "/srv", ""], .missingTrash),
        (
            ["trash", "list", "/srv", "--older-than", "3"],
            .useless(option: "--older-than", without: "'davit trash empty'")
        ),
        (
            ["trash", "empty", "/srv", "--older-than=x"],
            .badNumber("x", option: "--older-than", range: 0...36_500)
        ),
        (["serve", "/srv", "--trash-days=0"], .badNumber("0", option: "--trash-days", range: 1...36_500)),
        (["serve", "/srv", "--trash=7"], .unwantedValue(option: "--trash")),
        (["serve", "/srv", "--trash-size=x"], .badSize("x", option: "--trash-size")),
        (["passwd"], .unknownCommand("passwd", nearest: "password")),
        (["account", "ad", "/srv", "a"], .unknownCommand("account ad", nearest: "account add")),
        (["account", "list"], .missingFolder), (["account", "list", "/a", "/b"], .unexpectedArgument("/b")),
        (["account", "add", "/srv"], .missingArgument("NAME")),
        (["account", "link", "/srv"], .missingArgument("NAME")),
        (
            ["account", "link", "/srv", "a", "--link"],
            .useless(option: "--link", without: "'davit account add'")
        ),
        (["account", "add", "/srv", "a", "--hours", "5"], .useless(option: "--hours", without: "--link")),
        (
            ["account", "link", "/srv", "a", "--hours", "0"],
            .badNumber("0", option: "--hours", range: 1...720)
        ),
        (["account", "second-factor", "/srv", "a"], .missingArgument("off")),
        (
            ["account", "second-factor", "/srv", "a", "on"],
            .unknownCommand("account second-factor on", nearest: "account second-factor off")
        ),
        (["account", "second-factor", "/srv", "a", "off", "b"], .unexpectedArgument("b")),
        (["account", "sessions", "/srv", "a", "b"], .unexpectedArgument("b")),
        (["account", "end-session", "/srv"], .missingArgument("ID")),
        (["account", "end-session", "/srv", "anna"], .badSession("anna")),
        (
            ["account", "end-sessions", "/srv", "1"],
            .unknownCommand("account end-sessions", nearest: "account end-session")
        ),
        (["account", "add", "/srv", "a", "--rights", "read,read"], .badRights("read,read")),
        (["account", "add", "/srv", "a", "--rights"], .missingValue(option: "--rights")),
        (
            ["account", "remove", "/srv", "a", "--rights", "edit"],
            .useless(option: "--rights", without: "'davit account add'")
        ),
        (["group", "join", "/srv", "g"], .missingArgument("NAME")),
        (["group", "add", "/srv", "g", "--rights", "x"], .unknownOption("--rights", nearest: nil)),
        (["access", "set", "/srv", "anna", "/", "edit"], .badSubject("anna")),
        (["access", "set", "/srv", "user:", "/", "edit"], .badSubject("user:")),
        (["access", "set", "/srv", "everyone", "/a/../b", "edit"], .badPath("/a/../b")),
        (["access", "set", "/srv", "everyone", "/", "write"], .badRights("write")),
        (["access", "set", "/srv", "everyone", "/"], .missingArgument("RIGHTS")),
        (["access", "check", "/srv", "x"], .unexpectedArgument("x")),
        (
            ["access", "list", "/srv", "--app-password", "p"],
            .useless(option: "--app-password", without: "'davit access explain'")
        ),
        (
            ["access", "check", "/srv", "--group=g"],
            .useless(option: "--group", without: "'davit access explain'")
        ),
        (["app-password", "add", "/srv", "anna"], .missingArgument("DEVICE")),
        (["app-password", "revoke", "/srv", "anna"], .missingArgument("ID")),
        (["app-password", "add", "/srv", "a", "b", "--path", "a/../b"], .badPath("a/../b")),
        (["app-password", "add", "/srv", "a", "b", "--rights=x"], .badRights("x")),
        (
            ["app-password", "add", "/srv", "a", "b", "--expires", "0"],
            .badNumber("0", option: "--expires", range: 1...36_500)
        ),
        (
            ["app-password", "add", "/srv", "a", "b", "--expires", "36501"],
            .badNumber("36501", option: "--expires", range: 1...36_500)
        ),
        (
            ["app-password", "list", "/srv", "--expires", "1"],
            .useless(option: "--expires", without: "'davit app-password add'")
        ),
        (["access", "explain", "/srv", "anna"], .missingArgument("PATH")),
        (["serve", "/srv", "--log-level", "all"], .badLogLevel("all")),
        (["serve", "/srv", "--max-file-size", "-1"], .badSize("-1", option: "--max-file-size")),
        (["serve", "/srv", "--max-file-size=G"], .badSize("G", option: "--max-file-size")),
        (["serve", "/srv", "--upload-expiry=0"], .badAge("0", option: "--upload-expiry")),
        (["serve", "/srv", "--upload-expiry=h"], .badAge("h", option: "--upload-expiry")),
        (["serve", "/srv", "--upload-expiry=-1"], .badAge("-1", option: "--upload-expiry")),
        (["serve", "/srv", "--keep-free=1.5G"], .badSize("1.5G", option: "--keep-free")),
        (["serve", "/srv", "--keep-free=1GB"], .badSize("1GB", option: "--keep-free")),
        (["serve", "/srv", "--keep-free=8388608T"], .badSize("8388608T", option: "--keep-free")),
        (["serve", "/srv", "--sync", "all"], .badSyncLevel("all")),
        (["serve", "/srv", "--mac-metadata", "none"], .badMacMetadataPolicy("none")),
        (["serve", "/srv", "--no-hidden=yes"], .unwantedValue(option: "--no-hidden")),
        (["serve", "/srv", "--allow-extensions", "jpg,"], .badExtensions("jpg,")),
        (["serve", "/srv", "--allow-extensions", "tar.gz"], .badExtensions("tar.gz")),
        (["serve", "/srv", "--allow-extensions", "."], .badExtensions(".")),
        (["serve", "/srv", "--allow-extensions", "a/b"], .badExtensions("a/b")),
    ]

    @Test(arguments: refused)
    func invalidCommandLinesAreRefused(line: [String], error: UsageError) {
        #expect(throws: error) { try Arguments.parse(line) }
    }

    @Test(arguments: Subcommand.allCases)
    func errorsNameTheCommand(command: Subcommand) {
        #expect(ErrorText.of(.missingFolder, in: command).contains("davit \(command.rawValue) "))
        #expect(Help.davit.text.contains("\n  \(command.rawValue) "))
        #expect(command.help.text.hasPrefix("usage: davit \(command.rawValue) "))
    }

    static let needValues = [
        "--host", "--port", "--mount", "--home", "--state-dir", "--user", "--user-file", "--auth", "--realm",
        "--allow-origin",
        "--public-url",
        "--prefix",
        "--unix-socket", "--unix-socket-mode", "--trusted-proxy", "--proxy-fields", "--remote-user",
        "--remote-groups", "--ldap", "--ldap-base", "--ldap-bind", "--ldap-password-file", "--ldap-filter",
        "--ldap-user-dn", "--pam", "--pam-helper", "--ldap-ca", "--access-log",
        "--access-log-format", "--audit-log", "--audit-failure", "--audit-log-size", "--audit-log-keep",
        "--check-uploads", "--check-uploads-failure", "--check-uploads-seconds", "--event-command",
        "--event-url", "--event-secret-file", "--event-ca", "--event-types", "--log-level", "--grace",
        "--tls-cert",
        "--tls-key", "--tls-client-ca",
        "--tls-clients",
    ]

    @Test(arguments: needValues)
    func missingValuesAreReported(option: String) {
        for line in [
            ["serve", "/srv", option], ["serve", "/srv", "\(option)="], ["serve", "/srv", option, ""],
        ] {
            #expect(throws: UsageError.missingValue(option: option)) { try Arguments.parse(line) }
        }
        // The help lists every option.
        #expect(Help.serve.text.contains("\n  \(option) "))
    }

    static let badURLs = [
        "files.example.org", "ftp://a", "https://", "https:///", "https://a/../b", "https://a/b//c",
        "https://u@a", "https://a:x",
        "https://a?b", "https://a//", "http://a:99999",
    ]

    @Test(arguments: ["dav", "//dav", "/a//b", "/..", "/a?b", "/a#b", "/%zz", "/%2f", "/a b", "/%ff"])
    func invalidPrefixesAreRefused(text: String) {
        #expect(throws: UsageError.badPrefix(text)) {
            try Arguments.parse(["serve", "/srv", "--prefix", text])
        }
    }

    /// Origins are normalized to the form that browsers send, because they are compared byte for byte.
    @Test(arguments: [
        ("https://app.example", "https://app.example"), ("http://App.Example:80/", "http://app.example"),
        ("HTTP://localhost:443", "http://localhost:443"),
        ("https://[2001:DB8::1]:8443", "https://[2001:db8::1]:8443"),
        ("https://a:", "https://a"), ("capacitor://localhost", "capacitor://localhost"),
        ("chrome-extension://AbC:80", "chrome-extension://AbC:80"),
    ])
    func originsAreNormalized(text: String, written: String) {
        #expect(WebOrigin(parsing: text)?.text == written)
    }

    @Test(arguments: [
        "app.example", "null", "https://", "https:///", "https://a/b", "https://a//", "https://a?b",
        "https://u@a",
        "https://*.example", "https://*", "https://a, https://b", "://a", "1a://b", "é://b", "https://é",
        "https://a:x",
        "file:///",
    ])
    func invalidOriginsAreRefused(text: String) {
        #expect(throws: UsageError.badOrigin(text)) {
            try Arguments.parse(["serve", "/srv", "--allow-origin", text])
        }
    }

    @Test func publicURLMustEndInThePrefix() {
        #expect(throws: UsageError.publicURLOutsidePrefix("https://a/files")) {
            try Arguments.parse(["serve", "/srv", "--public-url", "https://a/files", "--prefix", "/dav"])
        }
    }

    @Test(arguments: badURLs)
    func invalidPublicURLsAreRefused(text: String) {
        #expect(throws: UsageError.badPublicURL(text)) {
            try Arguments.parse(["serve", "/srv", "--public-url", text])
        }
    }
}
