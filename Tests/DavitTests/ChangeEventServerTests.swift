import Davit
import DavitSystem
import DavitTesting
import DavitTransport
import Testing

/// Change events of a complete server, over a socket and across restarts.
struct ChangeEventServerTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        _ = try ExclusiveFolder(path: folder.path + "/share/d")
    }

    private func server(_ change: (inout Configuration) -> Void = { _ in }) throws -> WebServer {
        var configuration = Configuration()
        configuration.hosts = ["127.0.0.1"]
        configuration.port = 0
        configuration.logLevel = .error
        change(&configuration)
        let share = WebDAVShare(folder.path + "/share", stateFolder: folder.path + "/state")
        return try WebServer(configuration: configuration) { $0.mount("/files", share) }
    }

    private func serve(_ server: WebServer, _ body: (BoundAddress) throws -> Void) throws {
        let addresses = try server.start()
        defer {
            server.shutdown()
            server.waitUntilStopped()
        }
        try body(try #require(addresses.first))
    }

    @Test func changesByClientsAndOtherProgramsAreReported() throws {
        try serve(try server()) { address throws in
            let events = try EventSocket(address, "/files/?events&in=d/")
            #expect(events.wait(for: "HTTP/1.1 200 OK\r\n"))
            #expect(events.id() != nil)
            let client = ChangeEventClient(address: address)
            #expect(try client.send("PUT /files/d/a", content: "1").status == 201)
            #expect(events.wait(for: "event: change\n"))
            #expect(events.wait(for: "data: + /files/d/a\n\n"))
            try SmallFiles.write("1", to: folder.path + "/share/d/b c")
            #expect(events.wait(for: "data: + /files/d/b%20c\n\n"))
        }
    }

    /// The grace period does not apply to event streams, which do not end by themselves.
    @Test func streamsEndImmediatelyOnShutdown() throws {
        var end: EventSocket?
        let server = try server { $0.grace = .seconds(3600) }
        try serve(server) { address throws in
            let events = try EventSocket(address, "/files/?events")
            #expect(events.id() != nil)
            end = events
        }
        // The server has stopped after it ended the stream with the last chunk.
        end?.waitForEnd()
        #expect(end?.hasEnded == true)
        #expect(end?.text.hasSuffix("0\r\n\r\n") == true)
    }

    @Test func changesWhileStoppedAreReported() throws {
        var id = ""
        do {
            let server = try server()
            try serve(server) { address throws in
                let events = try EventSocket(address, "/files/d/?events")
                #expect(events.id() != nil)
                try SmallFiles.write("1", to: folder.path + "/share/d/a")
                #expect(events.wait(for: "data: + /files/d/a\n\n"))
            }
            try serve(server) { address throws in
                let events = try EventSocket(address, "/files/d/?events")
                id = try #require(events.id())
            }
            try SmallFiles.write("1", to: folder.path + "/share/d/b")
            try serve(server) { address throws in
                let events = try EventSocket(address, "/files/d/?events", since: id)
                #expect(events.wait(for: "event: change\n"))
                id = try #require(events.id())
                #expect(events.wait(for: "data: + /files/d/b\n\n"))
                #expect(events.wait(for: "event: locks\ndata: /files/d/\n\n"))
            }
        }
        try SmallFiles.write("1", to: folder.path + "/share/d/c")
        try serve(try server()) { address throws in
            let events = try EventSocket(address, "/files/d/?events", since: id)
            #expect(events.wait(for: "data: + /files/d/c\n\n"))
        }
    }

    @Test func eventsRequireAuthentication() throws {
        let server = try server { $0.accounts = [Configuration.Account(name: "anna", password: "secret")] }
        try serve(server) { address throws in
            let events = try EventSocket(address, "/files/?events")
            #expect(events.wait(for: "HTTP/1.1 401 "))
        }
    }
}
