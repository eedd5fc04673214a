#if TLS
import Davit
import DavitAccess
import DavitAccounts
import DavitHTTP
import DavitServer
import DavitTesting
import DavitTransport
import Testing

/// What app passwords, sessions and users without an account may do in a server with an account database.
extension AccountDatabaseTests {
    static let form = [
        "Content-Type: application/x-www-form-urlencoded", "Sec-Fetch-Site: same-origin",
    ]

    /// Anyone who knew the old password may have created app passwords.
    @Test func newPasswordsRevokeAppPasswords() throws {
        let phone = AppPassword()
        try prepare([
            account("anna"), .setRule(AccessRule(.user("anna"), .root, .edit)), add(phone, id: "phone"),
        ])
        try serve { address throws in
            let stream = try RawConnection(address)
            try stream.send(
                "GET /?events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n"
                    + "Authorization: Basic \(Base64.encode(Array("anna:\(phone.text)".utf8)))\r\n\r\n")
            #expect(stream.wait(for: "\nid: "))
            let secret = try Accounts.scryptText(password: "other")
            try change([.setSecret(account: "anna", secret: secret)])
            #expect(stream.bytesToEnd() != nil)
            #expect(try status(address, "PROPFIND /", as: "anna", password: phone.text) == 401)
            #expect(try status(address, "PROPFIND /", as: "anna", password: "other") == 207)
        }
        #expect(try SQLiteAccountStore(folder: state).contents().appPasswords.isEmpty)
    }

    @Test func appPasswordsDoNotOpenTheAccount() throws {
        let phone = AppPassword()
        try prepare([
            account("anna"), .setRule(AccessRule(.user("anna"), .root, .edit)), add(phone, id: "phone"),
        ])
        try serve { address throws in
            let client = ChangeEventClient(address: address)
            func field(_ password: String) -> String {
                "Authorization: Basic \(Base64.encode(Array("anna:\(password)".utf8)))"
            }
            #expect(try client.send("GET /?account", [field("secret")]).content.contains("start-factor"))
            #expect(try !client.send("GET /?account", [field(phone.text)]).content.contains("start-factor"))
            for action in ["end-others", "start-factor", "sign-out"] {
                let answer = try client.send(
                    "POST /?account", Self.form + [field(phone.text)], content: "do=\(action)")
                #expect(answer.status >= 400, "\(action)")
            }
        }
    }

    private struct Elsewhere: PasswordVerifier {
        let service = "test"

        func verify(name: String, password: String) async -> PasswordVerification {
            name == "dora" && password == "pw" ? .right(name: "dora", groups: ["editors"]) : .wrong
        }
    }

    @Test func usersElsewhereLoseTheirSessionToAnAccount() async throws {
        try prepare([
            account("anna"), .addGroup("editors"), .setRule(AccessRule(.group("editors"), team, .edit)),
        ])
        // Blocks a thread of its own, because the threads of the pool verify the password.
        try await withTaskExecutorPreference(TestExecutor()) {
            let server = try self.server { $0.passwordVerifiers = [Elsewhere()] }
            let address = try #require(try server.start().first)
            defer {
                server.shutdown()
                server.waitUntilStopped()
            }
            let client = ChangeEventClient(address: address)
            let answer = try client.send(
                "POST /?account", Self.form, content: "do=sign-in&name=dora&password=pw")
            #expect(answer.status == 303)
            let cookie = "Cookie: " + (try #require(answer["Set-Cookie"]).prefix { $0 != ";" })
            #expect(try client.send("GET /team/a.txt", [cookie]).status == 200)
            let stream = try RawConnection(address)
            try stream.send(
                "GET /team/?events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\(cookie)\r\n\r\n"
            )
            #expect(stream.wait(for: "\nid: "))
            try change([account("dora")])
            #expect(stream.bytesToEnd() != nil)
            #expect(try client.send("GET /team/a.txt", [cookie]).status == 401)
        }
    }

    @Test func cookiesPrecedeAnonymousRights() throws {
        try prepare([
            account("anna"), .setRule(AccessRule(.user("anna"), .root, .edit)),
            .setRule(AccessRule(.anonymous, team, .view)),
        ])
        try serve { address throws in
            let client = ChangeEventClient(address: address)
            let answer = try client.send(
                "POST /team/?account", Self.form, content: "do=sign-in&name=anna&password=secret")
            #expect(answer.status == 303)
            let cookie = "Cookie: " + (try #require(answer["Set-Cookie"]).prefix { $0 != ";" })
            let own = [cookie, "Sec-Fetch-Site: same-origin"]
            #expect(try client.send("MKCOL /team/x", own).status == 201)
        }
    }
}
#endif
