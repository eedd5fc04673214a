#if TLS
import Davit
import DavitAccess
import DavitAccounts
import DavitHTTP
import DavitLogging
import DavitServer
import DavitSystem
import DavitTesting
import DavitTransport
import Testing

extension AccountDatabaseTests {
    private static let linkForm = [
        "Content-Type: application/x-www-form-urlencoded", "Sec-Fetch-Site: same-origin",
    ]

    private func choose(
        _ address: BoundAddress, _ token: String, _ password: String, again: String? = nil,
        name: String = "anna", _ fields: [String] = linkForm
    ) throws -> ChangeEventClient.Answer {
        try ChangeEventClient(address: address).send(
            "POST /?account", fields,
            content:
                "do=choose-password&name=\(name)&link=\(token)&password=\(password)&repeat=\(again ?? password)"
        )
    }

    private func invited(_ name: String, expiry: Int64 = .max) throws -> (
        token: String, change: AccountChange
    ) {
        let (token, secret) = try PasswordLink.make(expiry: expiry)
        return (token, .addAccount(StoredAccount(name: name, secret: secret)))
    }

    @Test func passwordIsChosenOnceWithALink() throws {
        let (token, account) = try invited("anna")
        try prepare([account, .setRule(AccessRule(.user("anna"), .root, .all))])
        let logs = try TemporaryFolder()
        let server = try server { $0.audit = .init(.file(logs.path + "/audit")) }
        let address = try #require(try server.start().first)
        do {
            defer {
                server.shutdown()
                server.waitUntilStopped()
            }
            let client = ChangeEventClient(address: address)
            let page = "/?account&name=anna&link=\(token)"
            // Programs that preview links do not use it up.
            for _ in 0..<2 {
                let shown = try client.send("GET \(page)")
                #expect(shown.status == 200)
                #expect(shown.content.contains("value=\"choose-password\""))
                #expect(
                    shown["Referrer-Policy"] == "no-referrer" || shown["Referrer-Policy"] == "same-origin")
                #expect(shown["Cache-Control"]?.contains("no-store") == true)
            }
            #expect(try choose(address, token, "long enough", again: "another one").status == 422)
            #expect(try choose(address, token, "short").status == 422)
            #expect(try choose(address, token, "a%00longpassword").status == 422)
            #expect(try choose(address, token + "x", "long enough").status == 403)
            #expect(try choose(address, token, "long enough", name: "ben").status == 403)
            let foreign = Self.linkForm.dropLast() + ["Sec-Fetch-Site: cross-site"]
            #expect(try choose(address, token, "long enough", Array(foreign)).status == 403)

            let chosen = try choose(address, token, "long+enough")
            #expect(chosen.status == 303)
            // The user is signed in.
            let cookie = try #require(chosen["Set-Cookie"]?.split(separator: ";").first)
            #expect(try client.send("GET /team/a.txt", ["Cookie: \(cookie)"]).status == 200)
            #expect(try status(address, "GET /team/a.txt", as: "anna", password: "long enough") == 200)
            // The link has ended.
            #expect(try client.send("GET \(page)").status == 403)
            #expect(try choose(address, token, "other password").status == 403)
            #expect(try status(address, "GET /team/a.txt", as: "anna", password: "long enough") == 200)
        }
        let text = String(decoding: try SmallFile(reading: logs.path + "/audit").bytes, as: UTF8.self)
        #expect(text.contains("set password of anna with a link"))
        #expect(!text.contains(token))
    }

    @Test func linksEnd() throws {
        let (old, expired) = try invited("anna", expiry: 1)
        let (token, account) = try invited("ben")
        try prepare([expired, account])
        try serve { address throws in
            #expect(try choose(address, old, "long+enough").status == 403)
            let client = ChangeEventClient(address: address)
            #expect(try client.send("GET /?account&name=anna&link=\(old)").status == 403)
            // Setting another password, and disabling the account, end the link.
            try change([.setEnabled(account: "ben", isEnabled: false)])
            #expect(try choose(address, token, "long+enough", name: "ben").status == 403)
            try change([.setEnabled(account: "ben", isEnabled: true)])
            #expect(try client.send("GET /?account&name=ben&link=\(token)").status == 200)
            let secret = try Accounts.scryptText(password: "secret")
            try change([.setSecret(account: "ben", secret: secret)])
            #expect(try choose(address, token, "long+enough", name: "ben").status == 403)
            #expect(try status(address, "PROPFIND /", as: "ben") == 207)
        }
    }

    /// A link replaces the password and the app passwords of an account.
    @Test func newLinkEndsThePassword() throws {
        try prepare([account("anna"), .setRule(AccessRule(.user("anna"), .root, .all))])
        try serve { address throws in
            #expect(try status(address, "GET /team/a.txt", as: "anna") == 200)
            let (token, secret) = try PasswordLink.make(expiry: .max)
            try change([.setSecret(account: "anna", secret: secret)])
            #expect(try status(address, "GET /team/a.txt", as: "anna") == 401)
            #expect(try choose(address, token, "long+enough").status == 303)
            #expect(try status(address, "GET /team/a.txt", as: "anna", password: "long enough") == 200)
        }
    }
}
#endif
