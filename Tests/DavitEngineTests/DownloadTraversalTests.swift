import DavitEngine
import DavitHTTP
import DavitServer
import DavitTesting
import Testing

/// Traversing a tree keeps a single collection open, whatever the depth.
struct DownloadTraversalTests {
    /// Writes each visited path on a line.
    private final class TraversingPage: CollectionPage {
        func response(to visit: PageContext) async throws(HTTPError) -> HTTPResponse {
            let traversal = try await visit.traversal()
            let lines = try await visit.offload {
                var lines: [UInt8] = []
                while true {
                    switch traversal.next() {
                    case .found(let found): lines += found.path + [10]
                    case .obstacle(let path, _): lines += Array("! ".utf8) + path + [10]
                    case .end: return lines
                    }
                }
            }
            return HTTPResponse(status: .ok, body: .bytes(lines))
        }
    }

    private func traversal(_ share: TestShare) async throws -> [String] {
        let client = TestClient(WebDAVHandler(share: share.share, page: TraversingPage()))
        let text = try await client.send("GET", "/").text
        return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    }

    @Test func deepTreesNeedNoMoreDescriptorsThanFlatOnes() async throws {
        let share = try TestShare()
        let depth = 300
        #expect(share.shell("for i in $(seq \(depth)); do mkdir d e; touch f; cd d; done") == 0)
        let lines = try await traversal(share)
        #expect(lines.count == 1 + 3 * depth)
        #expect(Set(lines).count == lines.count)
        #expect(share.resources.cursors.most == 1)
    }

    @Test func membersFollowTheirCollectionTogether() async throws {
        let share = try TestShare()
        #expect(share.shell("mkdir -p a/b/c d/e; touch a/1 a/b/2 a/b/c/3 d/4 d/e/5 6; ln -s .. a/b/up") == 0)
        let lines = try await traversal(share)
        #expect(lines.first == "")
        #expect(
            Set(lines) == [
                "", "a", "a/b", "a/b/c", "d", "d/e", "a/1", "a/b/2", "a/b/c/3", "d/4", "d/e/5", "6",
                "! a/b/up",
            ])
        for (place, line) in lines.enumerated() {
            guard let slash = line.lastIndex(of: "/"), !line.hasPrefix("!") else { continue }
            #expect(lines[..<place].contains(String(line[..<slash])))
        }
    }
}
