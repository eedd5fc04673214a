#if YAML
import Davit
import DavitCommand
import DavitSystem
import DavitTesting
import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A folder with a configuration file.
struct ConfigurationFolder {
    let folder: TemporaryFolder
    var path: String { folder.path + "/davit.yaml" }

    init(_ text: String = "", mode: UInt32 = 0o600) throws {
        folder = try TemporaryFolder()
        try write(text, mode: mode)
    }

    func write(_ text: String, to name: String = "davit.yaml", mode: UInt32 = 0o600) throws {
        try SmallFiles.write(text, to: folder.path + "/" + name)
        guard unsafe chmod(folder.path + "/" + name, mode_t(mode)) == 0 else {
            throw SmallFiles.Failure(errno: errno)
        }
    }

    /// Runs `davit config check` or another command on the file.
    func run(
        _ action: String = "check", _ line: [String] = [], environment: [String: String] = [:]
    ) throws -> String {
        guard
            case .config(let options) = try Arguments.parse(
                ["config", action, path] + line, environment: environment)
        else { return "" }
        return try ConfigCommand(options: options).output()
    }

    /// Returns the mistakes in the file, without its path.
    func mistakes() throws -> [String] {
        guard case .config(let options) = try Arguments.parse(["config", "check", path]) else { return [] }
        // Without what the file names.
        do throws(CommandFailure) { _ = try ServePlan(options.sources) } catch {
            guard case .configuration(let lines) = error else { throw error }
            return lines.map { $0.hasPrefix(path + ":") ? String($0.dropFirst(path.utf8.count + 1)) : $0 }
        }
        return []
    }

    func options(_ line: [String] = [], environment: [String: String] = [:]) throws -> ServeOptions {
        let parsed = try Arguments.parse(["serve", "--config", path] + line, environment: environment)
        guard case .serveFile(let sources) = parsed else { throw SmallFiles.Failure(errno: 0) }
        return try ServePlan(sources).options
    }
}

/// The keys of a configuration file and the types of their values.
struct ConfigurationTests {
    /// Why a database alone is refused.
    #if Postgres
    static let databaseProblem = "requires blobs"
    #else
    static let databaseProblem = "Postgres"
    #endif

    static let keys: [(key: String, good: [String], bad: [(value: String, words: String)])] = [
        (
            "folder", ["/srv", "no", "1.10"],
            [("[a]", "expected a text, found a list"), ("", "found nothing")]
        ),
        (
            "host", ["a", "[a, 127.0.0.1]", "'::1'"],
            [("{a: b}", "found a mapping"), ("[a, '']", "an empty text")]
        ),
        (
            "port", ["0", "65535"],
            [
                ("65536", "expected a number from 0 to 65535"), ("'80'", "found the text '80'"),
                ("0x1F", "0x1F"),
                ("-1", "'-1'"), ("1.5", "'1.5'"), ("", "found nothing"), ("[1]", "found a list"),
            ]
        ),
        ("unix-socket", ["/run/s"], [("[a]", "found a list")]),
        ("user-file", ["/etc/users"], [("{}", "found a mapping")]),
        (
            "auth", ["basic", "digest,basic", "[digest, basic]"],
            [
                ("[digest, digest]", "each at most once"), ("[]", "a list of words"),
                ("['a,b']", "without commas"),
                ("other", "schemes"),
            ]
        ),
        ("realm", ["1.10", "no", "\"a b\"", "2026-11-26", "~"], [("''", "an empty text"), ("", "nothing")]),
        (
            "read-only", ["true", "false"],
            [("yes", "true or false, found 'yes'"), ("'true'", "the text 'true'")]
        ),
        (
            "allow-origin", ["https://a.example", "[app://b, http://c:81]"],
            [("'*'", "any web page"), ("x", "origin")]
        ),
        ("allow-extensions", ["jpg", "[jpg, png]"], [("a/b", "extensions")]),
        ("no-hidden", ["true"], [("on", "true or false")]),
        ("mac-metadata", ["keep", "aside"], [("drop", "keep, hide, refuse or aside, found 'drop'")]),
        ("title", ["no", "12:30"], [("[]", "an empty list")]), ("header", ["a"], [("{}", "a mapping")]),
        ("prologue", ["|\n  a\n  b"], [("''", "an empty text")]),
        ("epilogue", ["a"], [("[]", "an empty list")]),
        ("footer", ["a"], [("[]", "an empty list")]), ("no-page", ["false"], [("0", "true or false")]),
        (
            "max-file-size", ["2G", "100", "'5k'"],
            [("2X", "a number of bytes"), ("-1", "a number of bytes"), ("0", "greater than 0")]
        ),
        ("max-depth", ["1"], [("0", "from 1 to 100000")]), ("keep-free", ["0"], [("a", "a number of bytes")]),
        ("upload-expiry", ["7", "12h", "3d"], [("0", "from 1 to 10000"), ("1w", "'1w'")]),
        ("trash", ["true"], [("30", "true or false")]), ("trash-days", ["30"], [("0", "from 1 to 36500")]),
        ("trash-size", ["1T"], [("1P", "a number of bytes"), ("0K", "greater than 0")]),
        ("sync", ["none", "data", "full"], [("all", "none, data or full")]),
        ("public-url", ["https://a", "[https://a, http://b]"], [("a", "invalid public URL")]),
        ("prefix", ["/dav"], [("dav", "invalid path prefix")]),
        ("trusted-proxy", ["127.0.0.1", "[10.0.0.0/8, unix]"], [("10.0.0.0/99", "not an address")]),
        ("log-level", ["debug"], [("loud", "error, warning, info, access, verbose or debug, found 'loud'")]),
        ("access-log", ["'-'"], [("[]", "an empty list")]), ("record", ["/rec"], [("[]", "an empty list")]),
        ("faults", ["/f"], [("[]", "an empty list")]),
        ("home", ["'/srv/{user}'"], [("/srv", "FOLDER/{user}")]),
        ("database", [], [("postgresql://a/b", databaseProblem)]),
        ("blobs", [], [("/b", "only valid with database")]),
        ("share", [], [("x", "only valid with database")]),
        ("state-dir", ["/s"], [("[]", "an empty list")]),
        ("no-sync-collection", ["true"], [("1", "true or false")]),
        ("no-compression", ["true"], [("x", "true or false")]),
        ("grace", ["0"], [("3601", "from 0 to 3600")]),
        (
            "unix-socket-mode", [],
            [("888", "octal"), ("66", "octal"), ("660", "only valid with unix-socket")]
        ),
        ("tls-clients", [], [("some", "optional or required")]), ("tls-key", [], [("k", "tls-cert")]),
        ("tls-cert", [], [("{}", "a mapping")]), ("tls-client-ca", [], [("[]", "an empty list")]),
        ("tls-self-signed", [], [("x", "true or false")]), ("ldap", [], [("[]", "an empty list")]),
        ("ldap-base", [], [("[]", "an empty list")]), ("ldap-bind", [], [("[]", "an empty list")]),
        ("ldap-password-file", [], [("[]", "an empty list")]), ("ldap-filter", [], [("[]", "an empty list")]),
        ("ldap-user-dn", [], [("[]", "an empty list")]), ("ldap-group-filter", [], [("[]", "an empty list")]),
        ("ldap-ca", [], [("[]", "an empty list")]), ("ldap-plain", [], [("x", "true or false")]),
        ("pam", [], [("[]", "an empty list")]), ("pam-helper", [], [("[]", "an empty list")]),
        ("proxy-fields", ["either"], [("forwarded", "only valid with trusted-proxy"), ("x", "forwarded,")]),
        (
            "remote-user", [],
            [("Remote-User", "only valid with trusted-proxy"), ("'a b'", "cannot use the header field")]
        ),
        ("remote-groups", [], [("Groups", "only valid with remote-user")]),
        (
            "access-log-format", [],
            [("json", "only valid with access-log"), ("xml", "davit, common, combined or json")]
        ),
        ("audit-log", ["/var/log/audit", "syslog", "journald"], [("[]", "an empty list")]),
        ("audit-failure", [], [("count", "only valid with audit-log"), ("ignore", "refuse or count")]),
        ("audit-log-size", [], [("1M", "only valid with audit-log"), ("big", "a number of bytes")]),
        ("audit-log-keep", [], [("5", "only valid with audit-log-size"), ("0", "from 1 to 1000")]),
        (
            "check-uploads", ["/usr/bin/clamdscan --no-summary -"],
            [("clamscan", "does not begin with an absolute path"), ("[]", "an empty list")]
        ),
        (
            "check-uploads-failure", [],
            [("accept", "only valid with check-uploads"), ("drop", "refuse or accept")]
        ),
        (
            "check-uploads-seconds", [],
            [("5", "only valid with check-uploads"), ("0", "from 1 to 3600")]
        ),
        (
            "event-command", ["/bin/a", "[/bin/a b, /bin/c]"],
            [("a", "does not begin with an absolute path")]
        ),
        ("event-url", [], [("{}", "a mapping")]),
        ("event-secret-file", [], [("/s", "only valid with event-url")]),
        ("event-ca", [], [("/s", "only valid with event-url")]),
        (
            "event-types", [],
            [
                ("upload", "only valid with event-command or event-url"),
                ("[a]", "not a list of different types"),
            ]
        ),
        ("qr", [], [("x", "true or false")]),
        ("announce", ["Office files"], [("[]", "an empty list"), ("\"a\\u0001\"", "1 to 63 bytes")]),
        ("announce-windows", [], [("x", "true or false"), ("true", "only valid with announce")]),
        ("announce-on", [], [("eth0", "only valid with announce")]),
        ("map-port", [], [("65536", "from 0 to 65535")]),
        (
            "admin-listen", ["/run/a", "127.0.0.1:9100"],
            [("0.0.0.0:9100", "loopback"), ("[]", "an empty list")]
        ),
        ("max-connections", ["1"], [("0", "from 1 to 1000000")]),
        ("max-connections-per-address", ["1000000"], [("1000001", "from 1 to 1000000")]),
        ("max-requests-per-account", ["8"], [("0", "from 1 to 1000000")]),
        ("max-rate-per-account", ["1M"], [("1023", "at least 1K")]),
        ("max-rate-per-address", ["1K"], [("fast", "a number of bytes")]),
        ("ban-after", ["20"], [("0", "from 1 to 10000")]),
        ("ban-minutes", [], [("10081", "from 1 to 10080"), ("10", "only valid with ban-after")]),
        ("never-ban", ["192.0.2.1", "[10.0.0.0/8, '2001:db8::/32']"], [("10.0.0.1/8", "not an address")]),
        ("no-infinite-depth", ["true"], [("x", "true or false")]),
        ("run-as", [], [("':a'", "USER or USER:GROUP"), ("[]", "an empty list")]),
        ("sandbox", [], [("x", "true or false")]),
        ("acme", [], [("{}", "a mapping")]), ("acme-agree", [], [("x", "true or false")]),
        ("acme-email", [], [("[]", "an empty list")]), ("acme-directory", [], [("[]", "an empty list")]),
        ("acme-ca", [], [("[]", "an empty list")]), ("acme-http", [], [("65536", "from 0 to 65535")]),
        ("acme-account", [], [("[]", "an empty list")]),
        ("acme-account-key-file", [], [("[]", "an empty list")]),
        ("oidc-issuer", [], [("[]", "an empty list")]), ("oidc-client-id", [], [("[]", "an empty list")]),
        ("oidc-client-secret-file", [], [("[]", "an empty list")]),
        ("oidc-user-claim", [], [("[]", "an empty list")]),
        ("oidc-groups-claim", [], [("[]", "an empty list")]),
        ("oidc-scopes", [], [("[]", "an empty list")]), ("oidc-name", [], [("[]", "an empty list")]),
        ("oidc-ca", [], [("[]", "an empty list")]),
        (
            "mounts", ["[{path: /a, folder: /b}]"],
            [
                ("/a=/b", "expected a list"), ("[{path: a, folder: b}]", "such as /team"),
                ("[{path: /a}]", "missing 'folder'"), ("[x]", "expected a mapping"),
            ]
        ),
        (
            "users", ["[{name: anna, password: no}]", "[]"],
            [
                ("[{name: anna}]", "one of password, hash and password-file"),
                ("[{name: a, password: b, hash: c}]", "one of password, hash and password-file"),
                ("[{password: b}]", "missing 'name'"), ("[{name: 'a:b', password: c}]", "user 'a': names"),
                ("[{name: a, hash: x}]", "user 'a'"),
                ("[{name: a, password: b}, {name: a, password: c}]", "no other"),
                ("[{name: a, password-file: /missing}]", "cannot read password file"),
            ]
        ),
        (
            "groups", ["{staff: [anna, bert]}", "{}"],
            [("[a]", "found a list"), ("{a: b}", "expected a list")]
        ),
        (
            "rules", ["[{who: everyone, path: /, rights: view}]", "[]"],
            [
                ("[{who: anna, path: /, rights: view}]", "user:NAME"),
                ("[{who: everyone, path: /, rights: x}]", "none, drop"),
                ("[{who: anonymous, path: /, rights: view}]", "user:NAME"),
                ("[{who: 'group:a', path: /, rights: view}]", "unknown group:a"),
                (
                    "[{who: everyone, path: /, rights: view}, {who: everyone, path: /, rights: add}]",
                    "two rules"
                ),
                ("[{who: everyone, path: /}]", "missing 'rights'"),
            ]
        ),
        (
            "shares", [],
            [
                ("[]", "at least one share"), ("[{path: /a}]", "missing 'folder'"), ("{}", "expected a list"),
                ("[{path: a, folder: b}]", "such as /team"),
                ("[{path: '/a/{b}', folder: b}]", "such as /team"),
                ("[{path: /a, folder: b, port: 1}]", "setting of the server"),
                ("[{path: /a, folder: b, titel: 1}]", "did you mean 'title'?"),
                ("[{path: /a, folder: b}, {path: /a/, folder: c}]", "two shares"),
                ("[{path: /a, folder: b, read-only: yes}]", "true or false"),
            ]
        ),
    ]

    private static func namesShare(_ key: String) -> Bool { key == "folder" || key == "shares" }

    private static func file(_ key: String, _ value: String) -> String {
        (namesShare(key) ? "" : "folder: /srv\n") + "\(key): \(value)\n"
    }

    @Test(arguments: keys.map(\.key))
    func valuesOfTheTypeAreAccepted(key: String) throws {
        for value in Self.keys.first(where: { $0.key == key })?.good ?? [] {
            let file = try ConfigurationFolder(Self.file(key, value))
            // `user-file` is read by the check.
            #expect(throws: Never.self, "\(key): \(value)") { try file.options() }
        }
    }

    @Test(arguments: keys.map(\.key))
    func otherValuesAreRefusedWithTheirPlace(key: String) throws {
        for (value, words) in Self.keys.first(where: { $0.key == key })?.bad ?? [] {
            let lines = try ConfigurationFolder(Self.file(key, value)).mistakes()
            #expect(lines.count == 1, "\(key): \(value): \(lines)")
            #expect(lines.first?.contains(words) == true, "\(key): \(value): \(lines)")
            let line = Self.namesShare(key) ? "1:" : "2:"
            #expect(lines.first?.hasPrefix(line) == true, "\(key): \(value): \(lines)")
        }
    }

    @Test func tableContainsAllKeys() throws {
        let defaults = try ConfigCommand.output(of: "defaults")
        let keys = defaults.split(separator: "\n").compactMap { line -> String? in
            guard line.hasPrefix("#"), let end = line.firstIndex(of: ":"),
                line.dropFirst().first?.isLetter == true
            else { return nil }
            return String(line[line.index(after: line.startIndex)..<end])
        }
        #expect(Set(keys) == Set(Self.keys.map(\.key)))
    }

    @Test func scalarsKeepTheirSpelling() throws {
        let file = try ConfigurationFolder(
            "folder: no\ntitle: 1.10\nrealm: 0x1F\nstate-dir: ~\nheader: 12:30:45\n")
        let options = try file.options()
        #expect(options.folder == "no")
        #expect(options.page.title == "1.10")
        #expect(options.authentication.realm == "0x1F")
        #expect(options.stateFolder == "~")
        #expect(options.page.header == "12:30:45")
    }

    @Test func allMistakesAreReportedInTheirOrder() throws {
        let file = try ConfigurationFolder(
            "prot: 1\nport: x\n--qr: true\nuser: a\nread-only: maybe\nport: 2\nfolder: /srv\n")
        #expect(
            try file.mistakes() == [
                "1:1: unknown key 'prot'; did you mean 'port'?",
                "2:7: port: expected a number from 0 to 65535, found 'x'",
                "3:1: unknown key '--qr'; did you mean 'qr'?",
                "4:1: unknown key 'user'; did you mean 'users'?",
                "5:12: read-only: expected true or false, found 'maybe'", "6:1: the key 'port' occurs twice",
            ])
    }

    static let files: [(text: String, words: String)] = [
        ("", "missing 'folder' or 'shares'"), ("# only a comment", "missing 'folder' or 'shares'"),
        ("- a", "expected settings, found a list"), ("a", "expected settings, found 'a'"),
        ("folder: &a /srv", "anchors"), ("folder: *a", "aliases"), ("folder: !!str a", "tags"),
        ("folder: a\n---\nfolder: b", "second document"), ("folder: [", "not valid YAML"),
        ("folder: a\nshares: [{path: /a, folder: b}]", "found both 'folder' and 'shares'"),
        (
            "sandbox: true\nshares: [{path: /a, folder: b, check-uploads: /bin/c}]",
            "sandbox cannot be used with check-uploads"
        ),
        ("<<: {port: 1}\nfolder: a", "unknown key '<<'"),
    ]

    @Test(arguments: files)
    func otherFilesAreRefused(text: String, words: String) throws {
        let lines = try ConfigurationFolder(text).mistakes()
        #expect(lines.count == 1, "\(lines)")
        #expect(lines.first?.contains(words) == true, "\(lines)")
    }

    @Test func missingFileIsRefused() throws {
        var file = try ConfigurationFolder("folder: a")
        file = try ConfigurationFolder("folder: a")
        #expect(unsafe unlink(file.path) == 0)
        #expect(try file.mistakes().first?.contains("cannot read the file") == true)
    }

    @Test func fileWithPasswordsMustBePrivate() throws {
        let text = "folder: /srv\nusers: [{name: anna, password: secret}]\n"
        #expect(try ConfigurationFolder(text, mode: 0o600).mistakes() == [])
        let lines = try ConfigurationFolder(text, mode: 0o640).mistakes()
        #expect(lines.count == 1 && lines[0].contains("expected mode 0600"), "\(lines)")
        #expect(try ConfigurationFolder("folder: /srv\n", mode: 0o644).mistakes() == [])
    }

    /// Messages are logged, and sent to `davit reload`.
    @Test(arguments: [
        "anna:geheim", "'anna:geheim'", "[anna:geheim]", "['anna:geheim']", "[{anna:geheim}]",
        "[{name: anna:geheim}]", "[{name: anna:geheim, password: x}]", "[{name: anna, geheim}]",
        "[{name: anna, password: [geheim]}]",
    ])
    func messagesContainNoPasswords(users: String) throws {
        let lines = try ConfigurationFolder("folder: /srv\nusers: \(users)\n").mistakes()
        #expect(!lines.isEmpty)
        #expect(!lines.contains { $0.contains("geheim") }, "\(lines)")
    }

    @Test func passwordsAreReadFromFiles() throws {
        let file = try ConfigurationFolder("folder: /srv\n")
        try file.write("geheim\nrest\n", to: "secret")
        try file.write(
            "folder: /srv\nusers: [{name: anna, password-file: \(file.folder.path)/secret}]\n", mode: 0o644)
        #expect(try file.options().users == [.init(name: "anna", password: "geheim")])
        try file.write("geheim\n", to: "secret", mode: 0o644)
        #expect(try file.mistakes().first?.contains("accessible to other users") == true)
    }

    @Test func sharesHaveTheSettingsOfTheFileUnlessTheyHaveTheirOwn() throws {
        let file = try ConfigurationFolder(
            """
            read-only: true
            max-depth: 5
            title: all
            shares:
              - {path: /a, folder: /srv/a}
              - {path: /b/, folder: /srv/b, read-only: false, max-depth: 7, mounts: [{path: /m, folder: /m}]}

            """)
        let shares = try file.options().shares
        #expect(shares.map(\.path) == ["/a", "/b"])
        #expect(shares.map(\.options.folder) == ["/srv/a", "/srv/b"])
        #expect(shares.map(\.options.isReadOnly) == [true, false])
        #expect(shares.map(\.options.maximumDepth) == [5, 7])
        #expect(shares.map(\.options.page.title) == ["all", "all"])
        #expect(shares.map(\.options.mounts.count) == [0, 1])
        // The command line applies to all of them.
        let others = try file.options(["--max-depth", "9"]).shares
        #expect(others.map(\.options.maximumDepth) == [9, 9])
        #expect(throws: CommandFailure.self) { try file.options(["/srv"]) }
    }

    @Test func sharesNeedDifferentStateFolders() throws {
        let list = "shares: [{path: /a, folder: /srv/a}, {path: /b, folder: /srv/b}]\n"
        let expected = "state-dir: expected in each share, because each needs a state folder of its own"
        #expect(try ConfigurationFolder("state-dir: /state\n" + list).mistakes() == ["1:12: \(expected)"])
        let file = try ConfigurationFolder(list)
        #expect(try file.options().shares.count == 2)
        for (line, variables, name) in [
            (["--state-dir", "/s"], [:], "--state-dir"), ([], ["DAVIT_STATE_DIR": "/s"], "DAVIT_STATE_DIR"),
        ] {
            #expect {
                try file.options(line, environment: variables)
            } throws: { error in
                (error as? CommandFailure)?.message.contains("\(name): expected in each share") == true
            }
        }
        // One name of a folder is a link.
        let (real, link) = (file.folder.path + "/state", file.folder.path + "/link")
        _ = try ExclusiveFolder(path: real)
        #expect(unsafe symlink(real, link) == 0)
        try file.write(
            """
            shares:
              - {path: /a, folder: /srv/a, state-dir: "\(real)"}
              - {path: /b, folder: /srv/b, state-dir: "\(link)"}
              - {path: /c, folder: "\(file.folder.path)"}
              - {path: /d, folder: "\(file.folder.path)/."}

            """)
        let mistakes = try file.mistakes()
        #expect(mistakes.count == 2, "\(mistakes)")
        #expect(mistakes.first?.hasPrefix("3:5: state-dir: the shares /a and /b have the same") == true)
        #expect(mistakes.last?.hasPrefix("5:5: state-dir: the shares /c and /d have the same") == true)
    }
}

extension ConfigCommand {
    static func output(of action: String) throws -> String {
        guard case .config(let options) = try Arguments.parse(["config", action]) else { return "" }
        return try ConfigCommand(options: options).output()
    }
}
#endif
