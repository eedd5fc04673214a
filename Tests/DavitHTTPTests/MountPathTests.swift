import DavitHTTP
import Testing

struct MountPathTests {
    static let paths: [(path: String, segments: Int, mount: String, below: String)] = [
        ("/files/a/b", 1, "/files", "/a/b"), ("/files/", 1, "/files", "/"), ("/files", 1, "/files", ""),
        ("/x/files/a", 2, "/x/files", "/a"), ("/a", 0, "", "/a"),
        // Paths are not decoded, because hrefs preserve the client's encoding.
        ("/f%69les/a%20b", 1, "/f%69les", "/a%20b"), ("//files//a/", 1, "//files", "//a/"),
    ]

    @Test(arguments: paths)
    func pathIsSplitAsSent(path: String, segments: Int, mount: String, below: String) throws {
        let request = try HTTPRequest(parsing: Array("GET \(path)?q HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
        let place = request.enterMount(segments: segments)
        #expect(request.mountPath == Array(mount.utf8))
        #expect(request.target.rawPath == Array(below.utf8))
        #expect(request.fullRawPath == Array(path.utf8))
        request.leaveMount(place)
        #expect(request.target.rawPath == Array(path.utf8))
        #expect(request.mountPath.isEmpty)
    }

    @Test func reusedRequestResetsItsMount() throws {
        let request = try HTTPRequest(parsing: Array("GET /a/b HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
        _ = request.enterMount(segments: 1)
        request.removeAll()
        #expect(request.mountPath.isEmpty)
    }
}
