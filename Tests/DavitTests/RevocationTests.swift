import Davit
import DavitHTTP
import DavitSystem
import DavitTesting
import DavitTransport
import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Requests in flight whose account is removed or gets another password.
@Suite(.timeLimit(.minutes(15)))
struct RevocationTests {
    /// A number of bytes that exceeds the buffers of a connection.
    private static let largeBytes = 64 << 20
    private static let anna = Configuration.Account(name: "anna", password: "secret")
    private static let bert = Configuration.Account(name: "bert", password: "other")
    private static let ofAnna = "Authorization: Basic YW5uYTpzZWNyZXQ="
    private static let ofBert = "Authorization: Basic YmVydDpvdGhlcg=="

    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        _ = try ExclusiveFolder(path: folder.path + "/share")
        try SmallFiles.write("", to: folder.path + "/share/large")
        guard unsafe truncate(folder.path + "/share/large", off_t(Self.largeBytes)) == 0 else {
            throw SmallFiles.Failure(errno: errno)
        }
    }

    private func serve(
        schemes: [AuthenticationSettings.Scheme]? = nil, _ body: (WebServer, BoundAddress) throws -> Void
    ) throws {
        var configuration = Configuration()
        configuration.hosts = ["127.0.0.1"]
        configuration.port = 0
        configuration.logLevel = .error
        configuration.grace = .zero
        configuration.deadlines = .ofTests
        configuration.threads = 2
        configuration.accounts = [Self.anna, Self.bert]
        if let schemes { configuration.authentication.schemes = schemes }
        let share = WebDAVShare(folder.path + "/share", stateFolder: folder.path + "/state")
        let server = try WebServer(share, configuration: configuration)
        let addresses = try server.start()
        defer {
            server.shutdown()
            server.waitUntilStopped()
        }
        try body(server, try #require(addresses.first))
    }

    private func begin(_ address: BoundAddress, _ line: String, _ fields: [String]) throws -> RawConnection {
        let connection = try RawConnection(address)
        try connection.send(
            (["\(line) HTTP/1.1", "Host: localhost"] + fields + ["", ""]).joined(separator: "\r\n"))
        return connection
    }

    private func events(_ address: BoundAddress, _ credentials: String) throws -> RawConnection {
        let stream = try begin(address, "GET /?events", ["Accept: text/event-stream", credentials])
        #expect(stream.wait(for: "\nid: "))
        return stream
    }

    private func upload(
        _ address: BoundAddress, _ name: String, _ credentials: String
    ) throws -> RawConnection {
        let upload = try begin(
            address, "PUT /\(name)", ["Content-Length: 10", "Expect: 100-continue", credentials])
        #expect(upload.wait(for: "HTTP/1.1 100 Continue\r\n\r\n"))
        try upload.send("12345")
        return upload
    }

    private func download(_ address: BoundAddress, _ credentials: String) throws -> RawConnection {
        let download = try begin(address, "GET /large", ["Connection: close", credentials])
        #expect(download.wait(for: "\r\n\r\n"))
        return download
    }

    @Test func requestsOfRemovedAccountsAreAborted() throws {
        try serve { server, address in
            let events = (try events(address, Self.ofAnna), try events(address, Self.ofBert))
            let downloads = (try download(address, Self.ofAnna), try download(address, Self.ofBert))
            let uploads = (try upload(address, "a", Self.ofAnna), try upload(address, "b", Self.ofBert))
            let idle = try begin(address, "OPTIONS /", [Self.ofAnna])
            #expect(idle.wait(for: "HTTP/1.1 200 OK\r\n"))
            #expect(idle.wait(for: "\r\n\r\n"))

            try server.replaceAccounts([Self.bert])
            #expect(events.0.bytesToEnd() != nil)
            let received = try #require(downloads.0.bytesToEnd())
            #expect(received < Self.largeBytes)
            #expect(uploads.0.bytesToEnd() == 0)
            // An idle connection stays open, as other accounts can use it; its next request is rejected.
            try idle.send("OPTIONS / HTTP/1.1\r\nHost: localhost\r\n\(Self.ofAnna)\r\n\r\n")
            #expect(idle.wait(for: "HTTP/1.1 401 Unauthorized\r\n"))

            // Requests of the other account continue.
            try uploads.1.send("67890")
            #expect(uploads.1.wait(for: "HTTP/1.1 201 Created\r\n"))
            #expect(events.1.wait(for: "data: + /b\n"))
            #expect(downloads.1.bytesToEnd() == Self.largeBytes)
            let names = SmallFiles.names(folder.path + "/share")
            #expect(names.contains("b") && !names.contains("a"))
        }
    }

    @Test func requestsWithAnOldPasswordAreAborted() throws {
        try serve { server, address in
            let events = (try events(address, Self.ofAnna), try events(address, Self.ofBert))
            try server.replaceAccounts([.init(name: "anna", password: "new"), Self.bert])
            #expect(events.0.bytesToEnd() != nil)
            let upload = try upload(address, "b", Self.ofBert)
            try upload.send("67890")
            #expect(upload.wait(for: "HTTP/1.1 201 Created\r\n"))
            #expect(events.1.wait(for: "data: + /b\n"))
        }
    }

    /// Reading the same accounts again ends no request, even if passwords are hashed with a new salt.
    @Test(arguments: [nil, [AuthenticationSettings.Scheme.basic]])
    func requestsOfUnchangedAccountsContinue(schemes: [AuthenticationSettings.Scheme]?) throws {
        try serve(schemes: schemes) { server, address in
            let upload = try upload(address, "a", Self.ofAnna)
            let download = try download(address, Self.ofAnna)
            for _ in 0..<3 { try server.replaceAccounts([Self.bert, Self.anna]) }
            try server.replaceAccounts([Self.anna])
            try upload.send("67890")
            #expect(upload.wait(for: "HTTP/1.1 201 Created\r\n"))
            #expect(download.bytesToEnd() == Self.largeBytes)
        }
    }

    /// The upload of a removed account remains until it expires; only an account with the same name can
    /// append to it.
    @Test func uploadsOfRemovedAccountsAreInaccessibleToOthers() throws {
        try serve { server, address in
            let client = ChangeEventClient(address: address)
            let created = try client.send(
                "POST /",
                [
                    "Tus-Resumable: 1.0.0", "Upload-Length: 10", "Upload-Metadata: filename Zm9v",
                    Self.ofAnna,
                ])
            #expect(created.status == 201)
            let path = try #require(created["Location"])
            func append(_ credentials: String) throws -> RawConnection {
                try begin(
                    address, "PATCH \(path)",
                    [
                        "Tus-Resumable: 1.0.0", "Upload-Offset: 0", "Content-Length: 10",
                        "Content-Type: application/offset+octet-stream", "Expect: 100-continue", credentials,
                    ])
            }
            let upload = try append(Self.ofAnna)
            #expect(upload.wait(for: "HTTP/1.1 100 Continue\r\n\r\n"))
            try upload.send("1234")
            try server.replaceAccounts([Self.bert])
            #expect(upload.bytesToEnd() == 0)
            let head = ["Tus-Resumable: 1.0.0"]
            #expect(try client.send("HEAD \(path)", head + [Self.ofBert]).status == 404)
            #expect(try client.send("HEAD \(path)", head + [Self.ofAnna]).status == 401)
            try server.replaceAccounts([Self.anna, Self.bert])
            let answer = try client.send("HEAD \(path)", head + [Self.ofAnna])
            #expect(answer.status == 200)
            #expect(["0", "4"].contains(answer["Upload-Offset"]))
        }
    }

    /// An application with its own authentication ends the requests that it selects.
    @Test func applicationCanAbortRequests() throws {
        try serve { server, address in
            let uploads = (try upload(address, "a", Self.ofAnna), try upload(address, "b", Self.ofAnna))
            server.endRequests { $0.target.rawPath == Array("/a".utf8) }
            #expect(uploads.0.bytesToEnd() == 0)
            try uploads.1.send("67890")
            #expect(uploads.1.wait(for: "HTTP/1.1 201 Created\r\n"))
        }
    }
}
