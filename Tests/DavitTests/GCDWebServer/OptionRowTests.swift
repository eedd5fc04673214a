import Davit
import DavitTesting
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Start options of GCDWebServer, against a server on a real socket.
struct OptionRowTests {
    @Test("W001 port 0 selects a free port, which can be read afterwards")
    func w001() throws {
        let server = try WebServer(configuration: Served.configuration()) { $0.get("/") { _ in .text("x") } }
        #expect(server.addresses.isEmpty)
        try Served.run(server) { client throws in
            #expect(client.address.port != 0)
            #expect(server.addresses == [client.address])
            #expect(try client.send("GET /").content == "x")
        }
    }

    @Test("W006 by default, only this machine is served")
    func w006() throws {
        let configuration = Served.configuration { $0.hosts = Configuration().hosts }
        let server = try WebServer(configuration: configuration) { $0.get("/") { _ in .text("x") } }
        try Served.run(server) { client throws in
            #expect(server.addresses.allSatisfy { ["127.0.0.1", "::1"].contains($0.host) })
            #expect(server.url == "http://localhost:\(client.address.port)/")
        }
    }

    @Test("W008 the server name is in the Server field")
    func w008() throws {
        try Served.run(Served.configuration { $0.serverName = "files/2" }) {
            $0.get("/") { _ in .text("x") }
        } asking: { client throws in
            #expect(try client.send("GET /")["Server"] == "files/2")
        }
    }

    @Test("W009, W010 and W011 accounts, realm and scheme")
    func w009w010w011() throws {
        let configuration = Served.configuration {
            $0.accounts = [.init(name: "anna", password: "secret"), .init(name: "bert", password: "other")]
            $0.authentication.realm = "The office"
            $0.authentication.schemes = [.basic]
        }
        try Served.run(configuration) {
            $0.get("/") { .text($0.principal ?? "nobody") }
        } asking: { client throws in
            let refused = try client.send("GET /")
            #expect(refused.status == 401)
            #expect(refused["WWW-Authenticate"]?.hasPrefix(#"Basic realm="The office""#) == true)
            #expect(try client.send("GET /", ["Authorization: Basic YW5uYTpzZWNyZXQ="]).content == "anna")
            #expect(try client.send("GET /", ["Authorization: Basic YmVydDpvdGhlcg=="]).content == "bert")
            #expect(try client.send("GET /", ["Authorization: Basic YW5uYTpvdGhlcg=="]).status == 401)
        }
    }

    #if os(Linux)
    @Test(
        "W015 the priority of the server's threads",
        arguments: [
            (ThreadPriority.normal, Int32(0)), (.low, 10), (.background, 19),
        ])
    func w015(priority: ThreadPriority, niceValue: Int32) throws {
        let own = getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0)
        try Served.run(Served.configuration { $0.priority = priority }) {
            $0.get("/") { _ in .text("\(getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0))") }
        } asking: { client throws in
            #expect(try client.send("GET /").content == "\(max(own, niceValue))")
        }
    }
    #endif

    @Test("W013 HEAD uses the GET route and returns its fields without content")
    func w013() throws {
        let routes: (inout Routes) -> Void = { routes in
            routes.get("/page") { request in
                var response = HTTPResponse.text("12345")
                response.fields.append(named: "X-Method", request.method.rawValue)
                return response
            }
        }
        try Served.run(routes) { client throws in
            let answer = try client.send("HEAD /page")
            #expect(answer.status == 200 && answer["Content-Length"] == "5" && answer.content.isEmpty)
            // A route can detect HEAD.
            #expect(answer["X-Method"] == "HEAD")
        }
        let alone: (inout Routes) -> Void = { table in
            table.answersHeadWithGet = false
            routes(&table)
        }
        try Served.run(alone) { client throws in #expect(try client.send("HEAD /page").status == 405) }
    }

    @Test("W018 the default port is 8080") func w018() {
        #expect(Configuration().port == 8080)
    }
}
