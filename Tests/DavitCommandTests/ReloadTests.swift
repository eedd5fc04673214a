#if YAML
import Davit
import DavitCommand
import DavitControl
import DavitSystem
import DavitTesting
import Testing

/// A running server reads its configuration file again.
@Suite(.timeLimit(.minutes(5)))
struct ReloadTests {
    private let file: ConfigurationFolder

    init() throws {
        file = try ConfigurationFolder()
        _ = try ExclusiveFolder(path: file.folder.path + "/share")
    }

    private static let anna = "Authorization: Basic " + "YW5uYTpzZWNyZXQ="
    private static let bert = "Authorization: Basic " + "YmVydDpvdGhlcg=="

    private func text(
        port: String = "0", level: String = "error", rights: String = "view",
        users: String = "[{name: anna, password: secret}]"
    ) -> String {
        """
        folder: \(file.folder.path)/share
        state-dir: \(file.folder.path)/state
        host: 127.0.0.1
        port: \(port)
        log-level: \(level)
        auth: basic
        grace: 0
        users: \(users)
        rules: [{who: everyone, path: /, rights: \(rights)}]

        """
    }

    private func serve(
        _ text: String? = nil, _ body: (WebServer, ChangeEventClient) throws -> Void
    ) throws {
        try file.write(text ?? self.text())
        guard case .serveFile(let sources) = try Arguments.parse(["serve", "--config", file.path]) else {
            return
        }
        let server = try ServeCommand(sources: sources).makeServer()
        let addresses = try server.start()
        defer {
            server.shutdown()
            server.waitUntilStopped()
        }
        try body(server, ChangeEventClient(address: try #require(addresses.first)))
    }

    private func put(_ client: ChangeEventClient, _ account: String) throws -> Int {
        try client.send("PUT /file", [account], content: "x").status
    }

    @Test func accountsAndRulesTakeEffect() throws {
        try serve { server, client in
            #expect(try put(client, Self.anna) == 403)
            #expect(try put(client, Self.bert) == 401)
            try file.write(
                text(
                    level: "warning", rights: "edit",
                    users: "[{name: anna, password: secret}, {name: bert, password: other}]"))
            let report = server.reloadAndReport()
            #expect(report.errors == [])
            #expect(report.changes == ["log-level: error -> warning", "users changed", "rules changed"])
            #expect(try put(client, Self.anna) == 201)
            #expect(try put(client, Self.bert) == 204)
            #expect(server.reloadAndReport() == ReloadReport())
        }
    }

    /// A server that was started without access lines gets the others of the level.
    @Test func logLevelTakesEffectWithoutAccessLines() throws {
        try serve { server, _ in
            try file.write(text(level: "verbose"))
            #expect(
                server.reloadAndReport().changes == [
                    "log-level: error -> verbose (lines of level access need a restart)"
                ])
            #expect(server.log.isOn(.verbose))
            #expect(server.reloadAndReport() == ReloadReport())
            try file.write(text(level: "warning"))
            #expect(server.reloadAndReport().changes == ["log-level: verbose -> warning"])
            #expect(!server.log.isOn(.info))
        }
    }

    @Test func defaultsInTheFileChangeNothing() throws {
        try serve { server, _ in
            try file.write(
                text() + "max-depth: 1000\nno-compression: false\nread-only: false\nsync: none\n")
            #expect(server.reloadAndReport() == ReloadReport())
            // This default of another option turns on the trash.
            try file.write(text() + "trash-days: 30\n")
            #expect(server.reloadAndReport().changes == ["trash-days: none -> 30 (needs a restart)"])
            try file.write(text() + "max-depth: 999\n")
            #expect(server.reloadAndReport().changes == ["max-depth: 1000 -> 999 (needs a restart)"])
        }
    }

    @Test func wrongFileChangesNothing() throws {
        try serve { server, client in
            try file.write(
                text(
                    port: "x", level: "loud", rights: "edit", users: "[{name: bert, password: other}]"))
            let report = server.reloadAndReport()
            #expect(report.changes == [])
            #expect(report.errors.count == 2, "\(report.errors)")
            #expect(report.errors.first?.contains("davit.yaml:4:7: port: expected a number") == true)
            #expect(try put(client, Self.anna) == 403)
            #expect(try put(client, Self.bert) == 401)
        }
    }

    @Test func userFileIsReadAgain() throws {
        try file.write("bert:other\n", to: "users")
        let settings = text() + "user-file: \(file.folder.path)/users\n"
        try serve(settings) { server, client in
            #expect(try put(client, Self.bert) == 403)
            try file.write("carl:other\n", to: "users")
            #expect(server.reloadAndReport().changes == ["content of user-file changed"])
            #expect(try put(client, Self.bert) == 401)
            #expect(server.reloadAndReport() == ReloadReport())
        }
    }

    /// The accounts cannot be used, although the file itself has no mistake.
    @Test func unusableUserFileChangesNothing() throws {
        try serve { server, client in
            try file.write("nonsense\n", to: "users")
            try file.write(text(rights: "edit") + "user-file: \(file.folder.path)/users\n")
            let report = server.reloadAndReport()
            #expect(report.changes == [])
            #expect(report.errors.first?.contains("line 1 of") == true, "\(report.errors)")
            #expect(try put(client, Self.anna) == 403)
        }
    }

    /// Without a configuration file.
    @Test func commandReportsTheUserFile() throws {
        try file.write("anna:secret\n", to: "users")
        let place = file.folder.path
        let parsed = try Arguments.parse([
            "serve", place + "/share", "--state-dir", place + "/state", "--host", "127.0.0.1", "--port", "0",
            "--log-level", "error", "--auth", "basic", "--grace", "0", "--user-file", place + "/users",
        ])
        guard case .serve(let options) = parsed else {
            Issue.record("\(parsed)")
            return
        }
        let server = try ServeCommand(options: options).makeServer()
        let address = try #require(try server.start().first)
        defer {
            server.shutdown()
            server.waitUntilStopped()
        }
        let client = ChangeEventClient(address: address)
        func reload() throws -> [String] {
            guard
                case .reload(let options) = try Arguments.parse([
                    "reload", place + "/share", "--state-dir", place + "/state",
                ])
            else { return [] }
            return try ReloadCommand(options: options).changes()
        }
        #expect(try reload() == [])
        try file.write("nonsense\n", to: "users")
        #expect {
            try reload()
        } throws: { error in
            guard case CommandFailure.notReloaded(let lines) = error else { return false }
            return lines.first?.hasPrefix("line 1 of ") == true
        }
        #expect(try put(client, Self.anna) == 201)
        try file.write("bert:other\n", to: "users")
        #expect(try reload() == ["content of user-file changed"])
        #expect(try put(client, Self.anna) == 401)
        #expect(try put(client, Self.bert) == 204)
    }

    @Test func otherSettingsNeedARestart() throws {
        try serve { server, client in
            try file.write(
                text(port: "1", rights: "edit").replacing("auth: basic\n", with: "") + "title: x\n")
            let expected = [
                "port: 0 -> 1 (needs a restart)", "auth: basic -> digest,basic (needs a restart)",
                "title: the name of FOLDER -> x (needs a restart)",
            ]
            #expect(server.reloadAndReport().changes == ["rules changed"] + expected)
            #expect(try put(client, Self.anna) == 201)
            // Until the restart, or until the file has the old values again.
            #expect(server.reloadAndReport().changes == expected)
            try file.write(text(rights: "edit"))
            #expect(server.reloadAndReport().changes == [])
        }
    }

    @Test func accountsCannotBeRemovedAltogether() throws {
        try serve { server, client in
            try file.write(text(users: "[]"))
            #expect(server.reloadAndReport().changes == ["users changed (needs a restart)"])
            #expect(try put(client, Self.anna) == 403)
            #expect(try put(client, "X: y") == 401)
        }
    }

    /// With other users, the server can get its first account and lose its last one.
    @Test func accountsTakeEffectNextToUsersOfAProxy() throws {
        let proxy = "trusted-proxy: unix\nremote-user: Remote-User\n"
        try serve(text(users: "[]") + proxy) { server, client in
            #expect(try put(client, Self.anna) == 401)
            try file.write(text() + proxy)
            #expect(server.reloadAndReport() == ReloadReport(changes: ["users changed"]))
            #expect(try put(client, Self.anna) == 403)
            #expect(server.reloadAndReport() == ReloadReport())
            try file.write(text(users: "[]") + proxy)
            #expect(server.reloadAndReport() == ReloadReport(changes: ["users changed"]))
            #expect(try put(client, Self.anna) == 401)
        }
    }

    /// A user file does not make the server authenticate.
    @Test func firstAccountNeedsARestart() throws {
        let open = text(users: "[]").replacing("auth: basic\n", with: "")
        try serve(open) { server, client in
            try file.write("anna:secret\n", to: "users")
            try file.write(open + "user-file: \(file.folder.path)/users\n")
            #expect(
                server.reloadAndReport().changes == [
                    "user-file: none -> \(file.folder.path)/users (needs a restart)"
                ])
        }
    }

    @Test func commandReloadsTheServer() throws {
        try serve { _, client in
            try file.write(text(rights: "edit"))
            let answer = try ControlClient.ask(.reload, in: file.folder.path + "/state")
            #expect(answer == .lines(["change rules changed"]))
            #expect(try put(client, Self.anna) == 201)
            try file.write(text(rights: "everything"))
            guard case .lines(let lines) = try ControlClient.ask(.reload, in: file.folder.path + "/state")
            else {
                Issue.record("refused")
                return
            }
            #expect(ReloadReport(lines: lines).errors.count == 1)
            #expect(ReloadReport(lines: lines).changes == [])
        }
    }

    private func shares(_ list: String) -> String {
        """
        host: 127.0.0.1
        port: 0
        log-level: error
        auth: basic
        grace: 0
        users: [{name: anna, password: secret}]
        shares:
        \(list)

        """
    }

    private func share(_ path: String, _ folder: String, _ rights: String) -> String {
        let place =
            "{path: \(path), folder: \(file.folder.path)/\(folder), state-dir: \(file.folder.path)/s-\(folder)"
        return "  - \(place), rules: [{who: everyone, path: /, rights: \(rights)}]}\n"
    }

    @Test func sharesAreServedAndReloadedEachForItself() throws {
        _ = try ExclusiveFolder(path: file.folder.path + "/other")
        let both = shares(share("/a", "share", "view") + share("/a/b", "other", "edit"))
        try serve(both) { server, client in
            #expect(try client.send("PUT /a/file", [Self.anna], content: "x").status == 403)
            #expect(try client.send("PUT /a/b/file", [Self.anna], content: "x").status == 201)
            #expect(try client.send("GET /", [Self.anna]).status == 404)
            try file.write(shares(share("/a", "share", "edit") + share("/c", "other", "edit")))
            let other = file.folder.path + "/other"
            #expect(
                server.reloadAndReport().changes == [
                    "/a: rules changed", "share /c: none -> \(other) (needs a restart)",
                    "share /a/b: \(other) -> none (needs a restart)",
                ])
            #expect(try client.send("PUT /a/file", [Self.anna], content: "x").status == 201)
            #expect(try client.send("GET /a/b/file", [Self.anna]).status == 200)
        }
    }

    private func reload(_ words: [String], environment: [String: String] = [:]) throws -> [String] {
        let parsed = try Arguments.parse(["reload"] + words, environment: environment)
        guard case .reload(let options) = parsed else { throw SmallFiles.Failure(errno: 0) }
        return try ReloadCommand(options: options).changes()
    }

    /// A share that was added to the file has no server yet.
    @Test func commandFindsTheServerOfAnyShare() throws {
        for name in ["new", "gone"] { _ = try ExclusiveFolder(path: "\(file.folder.path)/\(name)") }
        _ = try ExclusiveFolder(path: file.folder.path + "/s-gone")
        let added = share("/new", "new", "view") + share("/gone", "gone", "view")
        try serve(shares(share("/a", "share", "view"))) { _, _ in
            try file.write(shares(added + share("/a", "share", "edit")))
            #expect(try reload(["--config", file.path]).contains("/a: rules changed"))
            let variables = [
                "DAVIT_FOLDER": file.folder.path + "/share", "DAVIT_STATE_DIR": file.folder.path + "/s-share",
            ]
            #expect(try reload([], environment: variables).count == 2)
            try file.write(shares(added))
            #expect(throws: CommandFailure.self) { try reload(["--config", file.path]) }
        }
    }
}
#endif
