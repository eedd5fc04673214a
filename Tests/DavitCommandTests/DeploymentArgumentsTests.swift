import Davit
import DavitCommand
import DavitServer
import Testing

/// The options for sockets, proxies and logs.
struct DeploymentArgumentsTests {
    static let understood: [(line: [String], change: @Sendable (inout ServeOptions) -> Void)] = [
        (
            ["--admin-listen", "[::1]:9100"], { $0.adminAddress = .loopback(host: "::1", port: 9100) }
        ),
        (
            ["--admin-listen=/run/admin"], { $0.adminAddress = .unixSocket(.init(path: "/run/admin")) }
        ),
        (["--announce", "Office files"], { $0.announcement = ServiceAnnouncement(name: "Office files") }),
        (
            ["--announce-windows", "--announce", "A"],
            { $0.announcement = ServiceAnnouncement(name: "A", includesWindows: true) }
        ),
        (
            ["--announce-on", "eth0", "--announce=A", "--announce-on=eth1"],
            { $0.announcement = ServiceAnnouncement(name: "A", interfaces: ["eth0", "eth1"]) }
        ),
        (
            ["--max-connections", "100", "--max-connections-per-address=1"],
            { ($0.maximumConnections, $0.maximumConnectionsPerAddress) = (100, 1) }
        ),
        (["--max-requests-per-account", "8"], { $0.maximumRequestsPerAccount = 8 }),
        (
            ["--max-rate-per-account", "2M", "--max-rate-per-address=1024"],
            { ($0.maximumRatePerAccount, $0.maximumRatePerAddress) = (2 << 20, 1024) }
        ),
        (
            ["--ban-after", "20", "--ban-minutes=30", "--never-ban", "10.0.0.0/8", "--never-ban=::1"],
            { options in
                options.bans.failedLogins = 20
                options.bans.duration = .seconds(1800)
                options.bans.exempt = ["10.0.0.0/8", "::1"]
            }
        ),
        (["--no-infinite-depth"], { $0.allowsInfiniteDepth = false }),
        (["--unix-socket", "/run/s"], { ($0.unixSocket, $0.hosts) = ("/run/s", []) }),
        (
            ["--unix-socket-mode=660", "--unix-socket=s"],
            { ($0.unixSocket, $0.unixSocketMode, $0.hosts) = ("s", 0o660, []) }
        ),
        (
            ["--unix-socket", "s", "--port", "1"],
            { ($0.unixSocket, $0.port, $0.listensByDefault) = ("s", 1, false) }
        ),
        (
            ["--host", "::1", "--unix-socket", "s"],
            { ($0.unixSocket, $0.hosts, $0.listensByDefault) = ("s", ["::1"], false) }
        ),
        (
            ["--trusted-proxy", "127.0.0.1", "--trusted-proxy=10.0.0.0/8", "--trusted-proxy", "unix"],
            { $0.proxies.trusted = ["127.0.0.1", "10.0.0.0/8", "unix"] }
        ),
        (
            ["--proxy-fields", "x-forwarded", "--trusted-proxy", "2001:db8::/32"],
            { ($0.proxies.trusted, $0.proxies.fields) = (["2001:db8::/32"], .xForwarded) }
        ),
        (
            ["--remote-user", "Remote-User", "--trusted-proxy", "unix"],
            {
                ($0.proxies.trusted, $0.remoteUser) = (["unix"], "Remote-User")
                $0.proxies.identityFields = IdentityFields(user: "Remote-User")
            }
        ),
        (
            ["--trusted-proxy", "unix", "--remote-groups=X-Groups", "--remote-user=X-User"],
            {
                ($0.proxies.trusted, $0.remoteUser, $0.remoteGroups) = (["unix"], "X-User", "X-Groups")
                $0.proxies.identityFields = IdentityFields(user: "X-User", groups: "X-Groups")
            }
        ),
        (["--access-log", "-"], { $0.accessLog = "-" }),
        (
            ["--access-log-format", "json", "--access-log=a"],
            { ($0.accessLog, $0.accessLogFormat) = ("a", .json) }
        ),
        (["--audit-log", "journald"], { $0.audit.path = "journald" }),
        (
            [
                "--audit-log", "/a", "--audit-failure", "count", "--audit-log-size=64K", "--audit-log-keep",
                "3",
            ],
            {
                ($0.audit.path, $0.audit.failure) = ("/a", .count)
                ($0.audit.bytes, $0.audit.count) = (65_536, 3)
            }
        ),
        (["--log-level", "verbose"], { $0.logLevel = .verbose }),
        (["--check-uploads", "/bin/check  -a b"], { $0.uploadCheck.command = ["/bin/check", "-a", "b"] }),
        (
            [
                "--check-uploads-seconds", "5", "--check-uploads-failure=accept", "--check-uploads",
                "/bin/check",
            ],
            {
                ($0.uploadCheck.command, $0.uploadCheck.failure) = (["/bin/check"], .accept)
                $0.uploadCheck.seconds = 5
            }
        ),
        (
            ["--event-command", "/bin/a b", "--event-types", "lock,upload", "--event-command=/bin/c"],
            {
                $0.events.receivers = [.command("/bin/a", arguments: ["b"]), .command("/bin/c")]
                $0.events.operations = [.upload, .lock]
            }
        ),
    ]

    @Test(arguments: understood)
    func deploymentOptionsAreParsed(line: [String], change: @Sendable (inout ServeOptions) -> Void) throws {
        var options = ServeOptions(folder: "/srv")
        change(&options)
        #expect(try Arguments.parse(["serve", "/srv"] + line) == .serve(options))
    }

    static let refused: [(line: [String], error: UsageError)] = [
        (["--unix-socket-mode", "660"], .useless(option: "--unix-socket-mode", without: "--unix-socket")),
        (["--unix-socket", "s", "--unix-socket-mode", "8"], .badSocketMode("8")),
        (["--unix-socket", "s", "--unix-socket-mode", "680"], .badSocketMode("680")),
        (["--unix-socket", "s", "--unix-socket-mode", "1777"], .badSocketMode("1777")),
        (["--unix-socket", "s", "--unix-socket-mode", "+660"], .badSocketMode("+660")),
        (["--admin-listen", "0.0.0.0:9100"], .badAdminListener("0.0.0.0:9100")),
        (["--admin-listen", "9100"], .badAdminListener("9100")),
        (["--announce", "a\u{7}"], .badAnnouncement(.name("a\u{7}"))),
        (["--announce-windows"], .useless(option: "--announce-windows", without: "--announce")),
        (
            ["--announce-windows", "--announce", "A", "--sandbox"],
            .conflict(option: "--sandbox", other: "--announce-windows")
        ),
        (["--announce-on", "eth0"], .useless(option: "--announce-on", without: "--announce")),
        (["--trusted-proxy", "localhost"], .badTrustedProxy("localhost")),
        (["--trusted-proxy", "10.0.0.1/8"], .badTrustedProxy("10.0.0.1/8")),
        (["--proxy-fields", "forwarded"], .useless(option: "--proxy-fields", without: "--trusted-proxy")),
        (["--trusted-proxy", "unix", "--proxy-fields", "all"], .badProxyFields("all")),
        (["--remote-user", "Remote-User"], .useless(option: "--remote-user", without: "--trusted-proxy")),
        (
            ["--trusted-proxy", "unix", "--remote-groups", "G"],
            .useless(option: "--remote-groups", without: "--remote-user")
        ),
        (
            ["--trusted-proxy", "unix", "--remote-user", "Authorization"],
            .badIdentityField("Authorization", option: "--remote-user")
        ),
        (["--remote-user", "a b"], .badIdentityField("a b", option: "--remote-user")),
        (
            ["--trusted-proxy", "unix", "--remote-user", "X-U", "--remote-groups", "x_u"],
            .badIdentityField("x_u", option: "--remote-groups")
        ),
        (["--access-log-format", "json"], .useless(option: "--access-log-format", without: "--access-log")),
        (["--access-log", "a", "--access-log-format", "xml"], .badAccessLogFormat("xml")),
        (["--audit-failure", "count"], .useless(option: "--audit-failure", without: "--audit-log")),
        (["--audit-log", "-"], .auditLogToStandardError),
        (
            ["--check-uploads", "/bin/sh -c \"exit 1\""],
            .quotedCommand("/bin/sh -c \"exit 1\"", option: "--check-uploads")
        ),
        (["--event-command", "/bin/a 'b c'"], .quotedCommand("/bin/a 'b c'", option: "--event-command")),
        (["--audit-log", "a", "--audit-failure", "no"], .badAuditFailure("no")),
        (
            ["--audit-log", "syslog", "--audit-log-size", "1M"],
            .useless(option: "--audit-log-size", without: "a file as --audit-log")
        ),
        (
            ["--audit-log", "a", "--audit-log-keep", "2"],
            .useless(option: "--audit-log-keep", without: "--audit-log-size")
        ),
        (["--audit-log", "a", "--audit-log-size", "63K"], .auditLogTooSmall(64_512)),
        (["--check-uploads", "clamscan -"], .badCommand("clamscan -", option: "--check-uploads")),
        (["--event-command", " "], .badCommand(" ", option: "--event-command")),
        (
            ["--check-uploads-failure", "accept"],
            .useless(option: "--check-uploads-failure", without: "--check-uploads")
        ),
        (
            ["--check-uploads-seconds", "1"],
            .useless(option: "--check-uploads-seconds", without: "--check-uploads")
        ),
        (["--check-uploads", "/c", "--check-uploads-failure", "no"], .badUploadFailure("no")),
        (
            ["--event-types", "upload"],
            .useless(option: "--event-types", without: "--event-command or --event-url")
        ),
        (["--event-command", "/c", "--event-types", "upload,upload"], .badEventTypes("upload,upload")),
        (["--event-command", "/c", "--event-types", "login"], .badEventTypes("login")),
        (
            ["--event-command", "/c", "--event-secret-file", "s"],
            .useless(option: "--event-secret-file", without: "--event-url")
        ),
        (
            ["--event-command", "/c", "--event-ca", "s"],
            .useless(option: "--event-ca", without: "--event-url")
        ),
        (
            ["--max-rate-per-account", "1023"],
            .rateTooLow("1023", option: "--max-rate-per-account")
        ),
        // A Unix socket does not allow other addresses without accounts.
    ]

    @Test(arguments: refused)
    func invalidDeploymentOptionsAreRefused(line: [String], error: UsageError) {
        #expect(throws: error) { try Arguments.parse(["serve", "/srv"] + line) }
        let text = ErrorText.of(error)
        #expect(text.split(separator: "\n").count == 2)
    }
}
