import DavitCommand
import DavitSystem
import DavitTesting
import Testing

@Suite(.timeLimit(.minutes(5)))
struct SetupCommandTests {
    private let folder: TemporaryFolder
    /// Stands for `/`.
    private let root: String

    init() throws {
        folder = try TemporaryFolder()
        root = try ExclusiveFolder.canonical(folder.path)
    }

    private func options(_ configure: (inout SetupOptions) -> Void = { _ in }) -> SetupOptions {
        var options = SetupOptions()
        options.root = root
        options.file = "/davit.yaml"
        options.stateFolder = "/state"
        configure(&options)
        return options
    }

    private func text(of path: String) throws -> String {
        String(decoding: try SmallFile(reading: root + path).bytes, as: UTF8.self)
    }

    private static let plan = SetupPlan(
        folder: "/srv/my files", reach: .network, name: "nas.local", account: "anna", startsAtBoot: true,
        port: 8443,
        file: "/etc/davit/srv-my\\x20files.yaml", stateFolder: "/var/lib/davit/srv-my\\x20files",
        program: "/usr/bin/davit")

    // MARK: Command line

    @Test func optionsAnswerTheQuestions() throws {
        let line = [
            "setup", "/srv/files", "--reach", "internet", "--name=files.example.org", "--account", "anna",
            "--boot", "no",
            "--port=81", "--config", "/a.yaml", "--state-dir", "/state", "--root=/image", "--yes", "--force",
        ]
        guard case .setup(let options) = try Arguments.parse(line) else {
            Issue.record("parsed as another command")
            return
        }
        var expected = SetupOptions()
        expected.folder = "/srv/files"
        expected.reach = .internet
        expected.name = "files.example.org"
        expected.account = "anna"
        expected.startsAtBoot = false
        expected.port = 81
        expected.file = "/a.yaml"
        expected.stateFolder = "/state"
        expected.root = "/image"
        expected.acceptsDefaults = true
        expected.replaces = true
        #expect(options == expected)
    }

    static let refused: [(line: [String], error: UsageError)] = [
        (
            ["--reach", "all"],
            .badSetupAnswer(option: "--reach", problem: "expected machine, network or internet")
        ),
        (
            ["--name", "https://a/"],
            .badSetupAnswer(
                option: "--name", problem: "expected a host name or an address, such as files.example.org")
        ),
        (["--boot", "maybe"], .badSetupAnswer(option: "--boot", problem: "expected yes or no")),
        (
            ["--port", "0"],
            .badSetupAnswer(option: "--port", problem: "expected a number from 1 to 65535")
        ),
        (["--yes=1"], .unwantedValue(option: "--yes")),
        (["/a", "/b"], .unexpectedArgument("/b")),
    ]

    @Test(arguments: refused)
    func invalidCommandLineIsRefused(line: [String], error: UsageError) {
        #expect(throws: error) { try Arguments.parse(["setup"] + line) }
    }

    // MARK: Questions

    @Test func answersAreReadInOrder() throws {
        let command = SetupCommand(
            options: options(), lines: ["/srv/files/", "internet", "files.example.org", "anna", "no"])
        let plan = try command.plan()
        #expect(plan.folder == "/srv/files" && plan.reach == .internet && plan.name == "files.example.org")
        #expect(plan.account == "anna" && !plan.startsAtBoot && plan.port == 8080)
    }

    @Test func endOfInputMeansDefaults() throws {
        let command = SetupCommand(
            options: options {
                $0.startsAtBoot = false
                $0.folder = "/srv/files"
            }, lines: ["machine"])
        let plan = try command.plan()
        #expect(plan.reach == .machine && plan.name == "localhost" && !plan.account.isEmpty)
    }

    @Test func wrongAnswerOfAScriptIsAnError() {
        let command = SetupCommand(options: options(), lines: ["/srv/files", "everybody", "machine"])
        let failure = #expect(throws: CommandFailure.self) { try command.plan() }
        #expect(failure?.message.hasSuffix(": expected machine, network or internet") == true)
    }

    @Test func wrongAnswerOfAPersonIsAskedForAgain() throws {
        let command = SetupCommand(
            options: options { $0.startsAtBoot = false },
            lines: ["/", "/srv/files", "everybody", "internet", "nas", "nas.example.org", "a:b", "anna"],
            isInteractive: true)
        let plan = try command.plan()
        #expect(plan.folder == "/srv/files" && plan.name == "nas.example.org" && plan.account == "anna")
    }

    @Test func serviceNeedsTheUnits() {
        let command = SetupCommand(
            options: options {
                $0.acceptsDefaults = true
                $0.startsAtBoot = true
            }, lines: [])
        let failure = #expect(throws: CommandFailure.self) { try command.plan() }
        #expect(failure?.message.hasPrefix("--boot: ") == true)
    }

    // MARK: Files

    #if YAML && TLS
    /// The server of an image must find the accounts, so that they cannot be in the state folder of this user.
    @Test func imageContainsItsState() throws {
        let given = options {
            $0.folder = "/srv/files"
            $0.reach = .machine
            $0.name = "localhost"
            $0.account = "anna"
            $0.startsAtBoot = false
            $0.file = nil
            $0.stateFolder = nil
        }
        let command = SetupCommand(options: given, lines: [])
        let plan = try command.plan()
        #expect(plan.file == "/etc/davit/davit.yaml")
        #expect(plan.stateFolder == "/var/lib/davit/srv-files")
        let (text, _) = try command.apply(plan, password: nil)
        #expect(text.contains("created the folder \(root)/srv/files\n"))
        #expect(text.contains("wrote \(root)/etc/davit/davit.yaml\n"))
        #expect(
            try self.text(of: "/etc/davit/davit.yaml").contains("state-dir: \"/var/lib/davit/srv-files\"\n"))
        #expect(try ExclusiveFolder.hasEntry(at: root + "/var/lib/davit/srv-files/accounts.sqlite"))
    }

    @Test func configurationIsWrittenAndTheAccountCreated() throws {
        let given = options {
            $0.folder = "/srv/files"
            $0.reach = .internet
            $0.name = "files.example.org"
            $0.account = "anna"
            $0.startsAtBoot = false
        }
        let command = SetupCommand(options: given, lines: [])
        let plan = try command.plan()
        let (report, link) = try command.apply(plan, password: nil)
        #expect(report.contains("created the folder \(root)/srv/files\n"))
        #expect(report.hasSuffix("wrote \(root)/davit.yaml\n"))
        #expect(link?.hasPrefix("?account&name=anna&link=") == true)
        #expect(plan.nextSteps(link: link).contains("\n  https://files.example.org/\(link ?? "")\n"))
        #expect(
            try text(of: "/davit.yaml") == """
                # Written by 'davit setup'. 'davit config defaults' lists all settings.
                folder: "/srv/files"
                state-dir: "/state"
                host: "localhost"
                port: 8080
                trusted-proxy: 127.0.0.1
                public-url: "https://files.example.org"

                """)
        #expect(try !ExclusiveFolder.hasEntry(at: root + "/davit.yaml.draft"))
        let list = AccountOptions(
            .listAccounts, folder: root + "/srv/files", stateFolder: root + "/state")
        #expect(try AccountCommand(options: list).text().contains("anna"))

        // A second run keeps the file, unless it may replace it; the accounts are always kept.
        #expect(throws: CommandFailure.setupFileExists(root + "/davit.yaml")) {
            try command.apply(plan, password: nil)
        }
        var forced = given
        forced.replaces = true
        let second = try SetupCommand(options: forced, lines: []).apply(plan, password: nil)
        #expect(second.link == nil)
        #expect(second.text == "kept the accounts of \(root)/srv/files\nwrote \(root)/davit.yaml\n")
    }

    @Test func fileIsReplacedAfterAYes() throws {
        let given = options {
            $0.folder = "/srv/files"
            $0.acceptsDefaults = false
            $0.startsAtBoot = false
        }
        try SmallFile.write(Array("old".utf8), to: root + "/davit.yaml", mode: 0o600)
        let plan = try SetupCommand(options: given, lines: ["machine"]).plan()
        _ = try SetupCommand(options: given, lines: ["yes"]).apply(
            plan, password: Array("a good password".utf8))
        #expect(try text(of: "/davit.yaml").hasPrefix("# Written by 'davit setup'."))
    }

    @Test func invalidConfigurationChangesNothing() throws {
        var plan = Self.plan
        plan.startsAtBoot = false
        plan.file = "/davit.yaml"
        // Such a URL is refused by `davit config check`.
        plan.name = "a b"
        plan.stateFolder = "/state"
        let failure = #expect(throws: CommandFailure.self) {
            try SetupCommand(options: options(), lines: []).apply(plan, password: nil)
        }
        #expect(failure?.message.contains("https://a b:8443") == true)
        for path in ["/davit.yaml", "/davit.yaml.draft", "/state", "/srv"] {
            #expect(try !ExclusiveFolder.hasEntry(at: root + path), "\(path)")
        }
    }
    #endif

    static let instances: [(folder: String, instance: String)] = [
        ("/srv/files", "srv-files"), ("/srv/my files", "srv-my\\x20files"), ("/.hidden", "\\x2ehidden"),
        ("/a-b/c.d", "a\\x2db-c.d"), ("/ä", "\\xc3\\xa4"),
    ]

    /// As `systemd-escape --path` prints them.
    @Test(arguments: instances)
    func instancesAreNamedAsBySystemd(folder: String, instance: String) {
        #expect(SetupPlan.instance(of: folder) == instance)
    }

    @Test func unitsRunTheConfigurationFile() {
        let files = Self.plan.unitFiles
        #expect(
            files.map(\.path) == [
                "/etc/systemd/system/davit@srv-my\\x20files.service.d/setup.conf",
                "/etc/systemd/system/davit@srv-my\\x20files.socket.d/setup.conf",
            ])
        #expect(
            files[0].content == #"""
                # Written by 'davit setup'.
                [Service]
                ExecStartPre=/usr/bin/davit config check "/etc/davit/srv-my\\x20files.yaml" --state-dir ${STATE_DIRECTORY}
                ExecStart=
                ExecStart=/usr/bin/davit serve --config "/etc/davit/srv-my\\x20files.yaml" --state-dir ${STATE_DIRECTORY} --sandbox

                """#)
        #expect(
            files[1].content == "# Written by 'davit setup'.\n[Socket]\nListenStream=\nListenStream=8443\n")
        #expect(!Self.plan.configuration.contains("port:"))
        #expect(
            Self.plan.nextSteps(link: nil).contains("systemctl enable --now 'davit@srv-my\\x20files'.socket"))
        #expect(Self.plan.nextSteps(link: nil).contains("https://nas.local:8443/"))
    }
}
