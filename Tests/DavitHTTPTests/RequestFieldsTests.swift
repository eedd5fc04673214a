import DavitHTTP
import Testing

struct RequestFieldsTests {
    @Test func findsFieldsByName() throws {
        let request = try request(fields: ["Accept: a", "X-Own: 1", "ACCEPT:  b ", "x-own: 2", "Empty:"])
        let fields = request.fields
        #expect(fields[.accept] == "a, b" && fields["aCCEPT"] == "a, b" && fields[.host] == "localhost")
        #expect(fields["x-OWN"] == "1, 2" && fields["empty"] == "")
        #expect(fields[.range] == nil && fields["Range"] == nil && fields["x-ow"] == nil && fields[""] == nil)
        #expect(fields.contains(.accept) && !fields.contains(.range))
    }

    @Test func iteratesInOrder() throws {
        let request = try request(fields: ["b: 1", "A: 2", "b: 3"])
        #expect(request.fields.map { "\($0.name)=\($0.value)" } == ["Host=localhost", "b=1", "A=2", "b=3"])
    }

    static let paths: [(target: String, path: String)] = [
        ("/", "/"), ("/a/b?q", "/a/b"), ("/a//b/", "/a/b/"), ("/%C3%A4%20b", "/ä b"), ("/%FF", "/\u{FFFD}"),
        ("http://localhost/a", "/a"), ("http://localhost", "/"),
        // A path that no resource can have is returned as sent.
        ("/a/%2E%2E/b", "/a/%2E%2E/b"), ("/a%2Fb", "/a%2Fb"), ("/%zz", "/%zz"), ("/%00", "/%00"),
    ]

    @Test(arguments: paths) func pathIsDecoded(target: String, path: String) throws {
        #expect(try request("GET", target).path == path)
    }

    @Test func pathIsRelativeToTheMount() throws {
        let request = try request("GET", "/files/a%20b/")
        let mount = request.enterMount(segments: 1)
        #expect(request.path == "/a b/")
        request.leaveMount(mount)
        #expect(request.path == "/files/a b/")
        #expect(try DavitHTTPTests.request("OPTIONS", "*").path == "/")
    }

    @Test func valuesAreReadableInLogs() throws {
        #expect("\(HTTPStatus.notFound)" == "404 Not Found")
        #expect(try request(fields: []).host?.description == "localhost")
        #expect(HostField(parsing: Array("[::1]:80".utf8).span)?.description == "[::1]:80")
        #expect("\(HTTPMethod.propfind) \(HTTPMethod.other("BREW"))" == "PROPFIND BREW")
        #expect(HTTPError(.notFound).reason == "Not Found." && HTTPError(.notFound, "x").reason == "x")
    }
}

struct ResponseFieldTests {
    @Test func fieldsAreReadAndReplacedByName() {
        var response = HTTPResponse(status: .ok)
        response.fields[.cacheControl] = "no-store"
        response.fields["X-Own"] = "1\r\nX-Other: 2"
        response.fields.append(.vary, "a")
        response.fields.append(named: "vary", "b")
        #expect(response.fields[.cacheControl] == "no-store" && response.fields["x-own"] == "1  X-Other: 2")
        #expect(response.fields[.vary] == "a, b" && response.fields["X-Other"] == nil)
        response.fields["VARY"] = "c"
        response.fields["x-own"] = "3"
        response.fields[.cacheControl] = nil
        #expect(text(response.fields.encoded) == "VARY: c\r\nx-own: 3\r\n")
        response.fields["X-Own"] = nil
        #expect(text(response.fields.encoded) == "VARY: c\r\n" && response.fields.contains(.vary))
    }
}
