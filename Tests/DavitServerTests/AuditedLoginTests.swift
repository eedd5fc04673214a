import DavitAccess
import DavitCrypto
import DavitHTTP
import DavitServer
import Synchronization
import Testing

struct AuditedLoginTests {
    private final class Trail: AuditTrail {
        private let events = Mutex<[AuditEvent]>([])

        func admission() -> AuditAdmission { .admitted }
        func record(_ event: AuditEvent) { events.withLock { $0.append(event) } }
        var texts: [String] {
            events.withLock { $0 }.map {
                "\($0.operation.rawValue) \($0.principal ?? "") \($0.origin ?? "")"
            }
        }
    }

    @Test func loginsAndWrongPasswordsAreRecorded() throws {
        let trail = Trail()
        var accounts = Accounts()
        try accounts.add(name: "anna", password: "secret")
        let authentication = try Authentication(
            accounts: accounts, work: InlineWork(), audit: trail, now: { 1_000_000_000 })
        func send(_ credentials: String, from address: String) throws -> UInt16? {
            let fields = ["Authorization: Basic \(Base64.encode(Array(credentials.utf8)))"]
            return try IdentityFieldsTests.respond(fields, peer: address, to: authentication)?.status.code
        }
        #expect(try send("anna:secret", from: "192.0.2.1") == 200)
        // The password is known, so this is no new login.
        #expect(try send("anna:secret", from: "192.0.2.1") == 200)
        #expect(try send("anna:wrong", from: "192.0.2.2") == 401)
        #expect(try send("none:wrong", from: "192.0.2.2") == 401)
        #expect(
            trail.texts == [
                "login anna 192.0.2.1", "failed-login anna 192.0.2.2", "failed-login none 192.0.2.2",
            ])
    }
}
