import Davit
import DavitCommand
import DavitTesting
import Testing

#if YAML
/// Where settings come from, and which of them take effect.
struct ConfigurationSourcesTests {
    @Test func commandLinePrecedesEnvironmentAndFile() throws {
        let file = try ConfigurationFolder("folder: /file\nport: 1\nrealm: file\ntitle: file\nmax-depth: 3\n")
        let environment = ["DAVIT_PORT": "2", "DAVIT_REALM": "variable", "DAVIT_TITLE": "variable"]
        let options = try file.options(["--port", "4", "--realm", "line"], environment: environment)
        #expect(options.port == 4)
        #expect(options.authentication.realm == "line")
        #expect(options.page.title == "variable")
        #expect(options.maximumDepth == 3)
        #expect(options.graceSeconds == 30)
        #expect(options.folder == "/file")
        #expect(try file.options(environment: ["DAVIT_FOLDER": "/variable"]).folder == "/variable")
        #expect(try file.options(["/line"], environment: ["DAVIT_FOLDER": "/variable"]).folder == "/line")
    }

    @Test func listIsReplacedAsAWhole() throws {
        let file = try ConfigurationFolder(
            "folder: a\nhost: [127.0.0.1, 127.0.0.2]\nusers: [{name: a, password: b}]")
        #expect(try file.options().hosts == ["127.0.0.1", "127.0.0.2"])
        #expect(try file.options(["--host", "::1"]).hosts == ["::1"])
        #expect(try file.options(environment: ["DAVIT_HOST": "a,b"]).hosts == ["a", "b"])
        #expect(try file.options().users.map(\.name) == ["a"])
        #expect(try file.options(["--user", "c:d"]).users.map(\.name) == ["c"])
    }

    @Test func flagsCanBeTurnedOff() throws {
        let file = try ConfigurationFolder("folder: a\nread-only: true\ntrash-days: 3\n")
        #expect(try file.options().isReadOnly)
        #expect(try !file.options(environment: ["DAVIT_READ_ONLY": "false"]).isReadOnly)
        #expect(try file.options(["--read-only"], environment: ["DAVIT_READ_ONLY": "false"]).isReadOnly)
        #expect(try file.options().trash?.days == 3)
        #expect(try file.options(environment: ["DAVIT_TRASH": "false"]).trash == nil)
    }

    @Test func fileOfTheEnvironmentIsUsed() throws {
        let file = try ConfigurationFolder("folder: a\nport: 7\n")
        let parsed = try Arguments.parse(["serve"], environment: ["DAVIT_CONFIG": file.path])
        guard case .serveFile(let sources) = parsed else {
            Issue.record("not a configuration file: \(parsed)")
            return
        }
        #expect(try ServePlan(sources).options.port == 7)
    }

    @Test func shownSettingsHaveTheirOriginAndNoSecrets() throws {
        let file = try ConfigurationFolder(
            """
            folder: /srv
            title: "a: b"
            users:
              - {name: anna, password: geheim}
              - {name: bert, hash: "$digest$md5=00000000000000000000000000000000$davit"}
            rules: [{who: "user:anna", path: /x, rights: "list,read"}]

            """)
        let text = try file.run("show", environment: ["DAVIT_PORT": "81"])
        #expect(!text.contains("geheim") && !text.contains("00000000"), "\(text)")
        for line in [
            "port: 81  # DAVIT_PORT\n", "title: \"a: b\"  # \(file.path):2\n", "grace: 30  # default\n",
            "    password: \"********\"\n", "    hash: \"********\"\n", "    path: /x\n",
            "    rights: view\n",
        ] {
            #expect(text.contains(line), "\(text)")
        }
        let other = try file.run("show", environment: ["DAVIT_USER": "anna:geheim"])
        #expect(!other.contains("geheim"), "\(other)")
    }

    /// The defaults without their comment signs are a file that changes nothing.
    @Test func defaultsAreThoseOfTheServer() throws {
        let defaults = try ConfigCommand.output(of: "defaults")
        let keys =
            ["auth", "port", "realm", "mac-metadata", "max-depth", "keep-free", "upload-expiry", "sync"]
            + ["log-level", "grace", "read-only", "no-page", "no-hidden", "no-compression", "trash"]
        let lines = defaults.split(separator: "\n").filter { line in
            keys.contains { line.hasPrefix("#\($0): ") }
        }.map { $0.dropFirst() }
        #expect(lines.count == keys.count)
        let file = try ConfigurationFolder("folder: /srv\n" + lines.joined(separator: "\n"))
        var expected = ServeOptions(folder: "/srv")
        expected.listensByDefault = false
        #expect(try file.options() == expected)
    }

    /// All lines without their comment signs are valid YAML, in which only placeholders are wrong.
    @Test func defaultsAreValidYAML() throws {
        let defaults = try ConfigCommand.output(of: "defaults")
        let lines = defaults.split(separator: "\n").map {
            $0.hasPrefix("# ") || $0.hasPrefix("##") ? "" : $0.drop { $0 == "#" }
        }
        let mistakes = try ConfigurationFolder(lines.joined(separator: "\n")).mistakes()
        #expect(!mistakes.contains { $0.contains("unknown key") || $0.contains("YAML") }, "\(mistakes)")
    }

    @Test func committedSchemaAndExampleAreCurrent() throws {
        let root = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()
        let schema = try SmallFiles.read(root + "/docs/davit.schema.json")
        #expect(String(decoding: schema, as: UTF8.self) == (try ConfigCommand.output(of: "schema")))
        let defaults = try SmallFiles.read(root + "/docs/davit.yaml")
        #expect(String(decoding: defaults, as: UTF8.self) == (try ConfigCommand.output(of: "defaults")))
    }
}
#endif

/// The environment without a configuration file.
struct EnvironmentTests {
    private static func options(_ variables: [String: String], _ line: [String] = ["/srv"]) throws
        -> ServeOptions
    {
        guard case .serve(let options) = try Arguments.parse(["serve"] + line, environment: variables) else {
            return ServeOptions(folder: "")
        }
        return options
    }

    @Test func variablesAreOptions() throws {
        let options = try Self.options(
            [
                "DAVIT_PORT": "81", "DAVIT_TRASH": "true", "DAVIT_USER": "anna:a,b", "DAVIT_TITLE": "",
                "OTHER": "1",
            ])
        #expect(options.port == 81)
        #expect(options.trash != nil)
        #expect(options.users == [.init(name: "anna", password: "a,b")])
        #expect(options.page.title == nil)
        #expect(try Self.options(["DAVIT_FOLDER": "/data"], []).folder == "/data")
        #expect(try Self.options(["DAVIT_PORT": "81"], ["/srv", "--port", "82"]).port == 82)
    }

    static let wrong: [(name: String, value: String, words: String)] = [
        ("DAVIT_PORT", "x", "DAVIT_PORT: expected a number from 0 to 65535, found 'x'"),
        ("DAVIT_READ_ONLY", "yes", "DAVIT_READ_ONLY: expected true or false"),
        ("DAVIT_PREFIX", "dav", "DAVIT_PREFIX: invalid path prefix"),
        ("DAVIT_USER", "geheim", "DAVIT_USER: --user must have the form NAME:PASSWORD"),
    ]

    @Test(arguments: wrong)
    func wrongVariableIsRefused(name: String, value: String, words: String) throws {
        let error = try #require(throws: UsageError.self) { try Self.options([name: value]) }
        #expect(error.message.contains(words), "\(error.message)")
    }

    @Test func unknownVariablesAreReported() throws {
        let options = try Self.options(
            ["DAVIT_PROT": "1", "DAVIT_TEST_ALL": "1", "DAVIT_KILL_AT": "2", "DAVIT_SOMETHING_ELSE": "x"])
        #expect(options.unknownVariables == ["DAVIT_PROT", "DAVIT_SOMETHING_ELSE"])
        #expect(
            ServeSources.warnings(for: options.unknownVariables) == [
                "unknown environment variable DAVIT_PROT; did you mean DAVIT_PORT?",
                "unknown environment variable DAVIT_SOMETHING_ELSE",
            ])
    }

    @Test func buildWithoutYAMLRefusesFiles() throws {
        #if !YAML
        let parsed = try Arguments.parse(["serve", "--config", "davit.yaml"])
        guard case .serveFile(let sources) = parsed else { return }
        #expect(throws: CommandFailure.noYAML) { try ServePlan(sources) }
        #endif
    }

    @Test func helpFitsATerminal() throws {
        for help in [Help.serve, .config, .reload, .davit] {
            for line in help.text.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
        }
    }
}
