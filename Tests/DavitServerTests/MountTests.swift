import DavitHTTP
import DavitServer
import DavitTesting
import Testing

struct MountTests {
    static let client = RouterTests.client { routes in
        var fields = HTTPFields()
        fields.append(.dav, "1, 2")
        fields.append(.msAuthorVia, "DAV")
        routes.mount("/x/files", Echo(), optionsFields: fields)
        routes.get("/x/files/own") { _ in .text("own") }
        routes.get("/") { _ in .text("root") }
        routes.mount("/outer", Router { $0.mount("/inner", Echo()) })
        routes.mount("/told", Router { $0.mount("/inner", AnnouncingHandler()) }.applying(CORS(origins: [])))
    }

    static let answers: [(method: String, target: String, text: String)] = [
        ("GET", "/x/files/a/b", "GET /x/files /a/b"), ("PROPFIND", "/x/files/", "PROPFIND /x/files /"),
        ("MKCOL", "/x/files", "MKCOL /x/files "), ("BREW", "/x/files/a", "BREW /x/files /a"),
        ("PUT", "/x/f%69les/a%20b", "PUT /x/f%69les /a%20b"), ("GET", "/x/files/own", "own"),
        ("PUT", "/x/files/own", "PUT /x/files /own"), ("OPTIONS", "/x/files/a", "OPTIONS /x/files /a"),
        ("GET", "/outer/inner/a", "GET /outer/inner /a"), ("GET", "/outer/inner", "GET /outer/inner "),
        ("GET", "//outer//inner//a", "GET //outer//inner //a"), ("GET", "/x/files?a=b", "GET /x/files "),
        ("GET", "http://localhost/x/files/a", "GET /x/files /a"),
    ]

    @Test(arguments: answers)
    func everyPathBelowThePrefixIsMounted(method: String, target: String, text: String) async throws {
        // A method without any route is not implemented, unless a mount handles it.
        #expect(try await Self.client.send(method, target).text == text)
    }

    @Test(arguments: ["/x", "/x/", "/x/filesystem", "/x/file", "/files", "/outer/x"])
    func otherPathsAreNotMounted(target: String) async throws {
        #expect(try await Self.client.send("GET", target).status == 404)
    }

    /// Whether OPTIONS for a target announces the fields of mounts; clients query the server's capabilities
    /// above the share.
    static let announced: [(target: String, isAnnounced: Bool)] = [
        ("*", true), ("/", true), ("/x", true), ("/x/", true),
        // The mounted handler responds to these requests.
        ("/x/files", false), ("/x/files/a", false), ("/outer/inner", false),
    ]

    @Test(arguments: announced)
    func optionsAboveAMountIncludeItsFields(target: String, isAnnounced: Bool) async throws {
        let response = try await Self.client.send("OPTIONS", target)
        #expect(response.status / 100 == 2)
        #expect(response["DAV"] == (isAnnounced ? "1, 2" : nil))
        #expect(response["MS-Author-Via"] == (isAnnounced ? "DAV" : nil))
        #expect(try await Self.client.send("GET", "/")["DAV"] == nil)
    }

    // Mounts announce their fields, even within a mounted router and after middleware.
    @Test(arguments: ["*", "/", "/told", "/told/"])
    func optionsAnnounceNestedMounts(target: String) async throws {
        let response = try await Self.client.send("OPTIONS", target)
        #expect(response.status / 100 == 2)
        #expect(response["Content-Language"] == "tlh")
    }

    @Test func handlerAtTheRootDoesNotHideAMount() async throws {
        var fields = HTTPFields()
        fields.append(.dav, "1")
        let client = RouterTests.client { routes in
            routes.mount("/", Echo())
            routes.mount("/files", Echo(), optionsFields: fields)
        }
        #expect(try await client.send("OPTIONS", "/")["DAV"] == "1")
        #expect(try await client.send("GET", "/a").text == "GET  /a")
        #expect(try await client.send("GET", "/files/a").text == "GET /files /a")
    }

    // The access log and middleware around the router see the original path.
    @Test func originalPathIsRestoredAfterTheMount() async throws {
        let request = try makeRequest("GET /x/files/a HTTP/1.1", "Host: a")
        let router = Router { $0.mount("/x/files", Echo()) }
        _ = try router.respond(to: request)
        #expect(request.target.rawPath == Array("/x/files/a".utf8))
        #expect(request.mountPath.isEmpty)
    }

    /// Pending work sees the path below all prefixes; before and after the work, the request has its full
    /// path.
    @Test(arguments: [true, false])
    func pendingWorkSeesThePathBelowThePrefix(fails: Bool) async throws {
        let request = try makeRequest("GET /x/files/a HTTP/1.1", "Host: a")
        let inner = Router { $0.mount("/files", LaterEcho(fails: fails)) }
        let prefix = try #require(PathPrefix("/p"))
        let handler = Router { $0.mount("/x", inner) }.applying(
            PublicPrefix(hosts: [.init(name: Array("a".utf8), prefix: prefix)]))
        func expectWholePath() {
            #expect(request.target.rawPath == Array("/x/files/a".utf8))
            #expect(request.mountPath.isEmpty)
        }
        let reply = try handler.respond(to: request)
        #expect(reply.readyResponse == nil)
        expectWholePath()
        let response = try await reply.response()
        #expect(response.status == (fails ? .conflict : .ok))
        if case .bytes(let bytes) = response.body, !fails {
            #expect(String(decoding: bytes, as: UTF8.self) == "/p/x/files /a")
        }
        expectWholePath()
    }

    private struct LaterEcho: Handler {
        let fails: Bool

        func respond(to request: HTTPRequest) throws(HTTPError) -> Reply {
            .pending { () async throws(HTTPError) in
                await Task.yield()
                if fails { throw HTTPError(.conflict, "not now") }
                return .bytes(request.mountPath + [32] + request.target.rawPath)
            }
        }
    }
}

/// A handler that announces a field.
struct AnnouncingHandler: Handler {
    func respond(to request: HTTPRequest) throws(HTTPError) -> Reply { .ready(.text("told")) }

    var announcedFields: HTTPFields {
        var fields = HTTPFields()
        fields.append(.contentLanguage, "tlh")
        return fields
    }
}
