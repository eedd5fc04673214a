import Davit
import DavitAccess
import DavitAccounts
import DavitControl
import DavitHTTP
import DavitLogging
import DavitMetrics
import DavitSystem
import DavitTesting
import Testing

extension AccountDatabaseTests {
    private static let anna = "Authorization: Basic \(Base64.encode(Array("anna:secret".utf8)))"

    @Test func changesAndLoginsAreInTheAuditLog() async throws {
        try prepare([
            try account("anna"), .setRule(AccessRule(.user("anna"), .root, .all)),
        ])
        let logs = try TemporaryFolder()
        let path = logs.path + "/audit"
        let server = try server { $0.audit = .init(.file(path)) }
        let address = try #require(try server.start().first)
        do {
            defer {
                server.shutdown()
                server.waitUntilStopped()
            }
            let client = ChangeEventClient(address: address)
            #expect(try client.send("PUT /a", [Self.anna, "Content-Length: 0"]).status == 201)
            #expect(try client.send("DELETE /a", [Self.anna]).status == 204)
            try change([.addGroup("staff")])
            let metrics = await server.metrics()
            #expect(metrics.contains { $0.name == "davit_audit_records" })
            #expect(await server.healthChecks().contains { $0.name == "audit-log" && $0.passes })
        }
        let text = String(decoding: try SmallFile(reading: path).bytes, as: UTF8.self)
        let lines = text.split(separator: "\n").compactMap { AuditLine(parsing: Array($0.utf8)) }
        #expect(
            lines.map { "\($0.text("op") ?? "") \($0.text("user") ?? "") \($0.text("path") ?? "")" } == [
                "login anna ", "upload anna /a", "delete anna /a", "administration  ",
            ])
        #expect(lines.last?.text("detail")?.contains("staff") == true)
        #expect(lines.dropFirst().first?.text("share")?.hasSuffix("/share") == true)
        #expect(lines.first?.text("from") == "127.0.0.1")
        // No space is left reserved.
        #expect(text.utf8.count == (try SmallFile(reading: path).bytes.count))
    }

    #if os(Linux)
    @Test func nothingIsChangedWithoutAnAuditLog() async throws {
        try prepare([
            try account("anna"), .setRule(AccessRule(.user("anna"), .root, .all)),
        ])
        let failed = Latch(count: 1)
        let server = try server {
            $0.audit = .init(.file("/dev/full"))
            $0.logSink = .custom { if $0.message.hasPrefix("cannot write audit log") { failed.countDown() } }
        }
        let address = try #require(try server.start().first)
        defer {
            server.shutdown()
            server.waitUntilStopped()
        }
        let client = ChangeEventClient(address: address)
        // The login is the first record, which cannot be written.
        #expect(try client.send("GET /", [Self.anna]).status == 200)
        failed.wait()
        #expect(try client.send("PUT /a", [Self.anna, "Content-Length: 0"]).status == 507)
        #expect(try client.send("GET /a", [Self.anna]).status == 404)
        guard
            case .refused(let reason) = try ControlClient.ask(.accounts(.change([.addGroup("g")])), in: state)
        else {
            Issue.record("accepted")
            return
        }
        #expect(reason.contains("audit log"))
        guard case .refused(let lockReason) = try ControlClient.ask(.breakLocks(.path([])), in: state) else {
            Issue.record("accepted")
            return
        }
        #expect(lockReason.contains("audit log"))
        #expect(await server.healthChecks().contains { $0.name == "audit-log" && !$0.passes })
    }
    #endif

    @Test func auditLogThatCannotBeOpenedIsAnError() {
        let path = "/nowhere/audit"
        let error = #expect(throws: ServerError.self) { _ = try server { $0.audit = .init(.file(path)) } }
        guard case .auditLogNotUsable(.file(path), _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }
}
