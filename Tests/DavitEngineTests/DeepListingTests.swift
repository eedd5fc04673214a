import DavitEngine
import DavitHTTP
import DavitStore
import DavitTesting
import Testing

/// PROPFIND with Depth infinity and SEARCH use a constant number of descriptors and constant memory.
struct DeepListingTests {
    private static let type = "<D:propfind xmlns:D=\"DAV:\"><D:prop><D:resourcetype/></D:prop></D:propfind>"

    private func hrefs(of response: TestResponse) -> [String] {
        PropFindTests.pieces(of: response.text, at: "<D:href>").dropFirst().map {
            PropFindTests.pieces(of: $0, at: "</D:href>")[0]
        }
    }

    @Test func deepTreeIsListedWithOneDescriptor() async throws {
        let share = try TestShare()
        let depth = TestExtent.size(900, sampled: 300)
        #expect(share.shell("for i in $(seq \(depth)); do mkdir d e; touch f; cd d; done") == 0)
        let listing = try await share.client.send(
            "PROPFIND", "/", [("Depth", "infinity")], text: Self.type)
        let found = hrefs(of: listing)
        #expect(found.count == 1 + 3 * depth)
        #expect(Set(found).count == found.count)
        #expect(share.resources.cursors.most == 1)
    }

    /// One descriptor is also enough if dead properties are read for each resource.
    @Test func deepTreeWithPropertiesIsListedWithOneDescriptor() async throws {
        let share = try TestShare()
        let depth = 50
        #expect(share.shell("for i in $(seq \(depth)); do mkdir d e; touch f; cd d; done") == 0)
        let last = "/" + Array(repeating: "d", count: depth).joined(separator: "/")
        #expect(try await share.client.send("PROPPATCH", last, text: setProperty("p", "deep")).status == 207)
        let listing = try await share.client.send(
            "PROPFIND", "/", [("Depth", "infinity")], text: askProperty("p"))
        let values = PropFindTests.values(in: listing.body)
        #expect(values.count == 1 + 3 * depth)
        #expect(values[last + "/"] == "deep")
        #expect(share.resources.cursors.most == 1)
    }

    /// To read digests, the folder is open once more, but only while a part of the response is written: a slow client may never
    /// take the rest. (A folder in the root would stay open, independently of clients.)
    @Test func foldersWithDigestsAreClosedBetweenParts() async throws {
        let share = try TestShare()
        #expect(share.shell("mkdir -p d/d; cd d/d; touch $(seq 1000 1999)") == 0)
        let ask = """
            <D:propfind xmlns:D="DAV:" xmlns:o="http://owncloud.org/ns"><D:prop><o:checksums/><D:getetag/></D:prop></D:propfind>
            """
        let response = try await share.client.begin(
            "PROPFIND", "/d/d/", [("Depth", "1")], body: SentBody(Array(ask.utf8)))
        guard case .stream(let stream) = response.body else {
            Issue.record("the response is not a stream")
            return
        }
        let buffer = IOBuffer(capacity: 16_384)
        try await stream.next(into: buffer)
        #expect(buffer.count > 0)
        #expect(share.resources.cursors.most == 1)
        let (all, open) = share.resources.openedCollections
        #expect(all > 0 && open == 0)
    }

    /// The names of the folders together exceed the memory limit of a request, so the folder that contains
    /// them is read more than once.
    @Test func manyFoldersAreEachListedOnce() async throws {
        let share = try TestShare()
        let (count, prefix) = (9_000, String(repeating: "x", count: 180))
        #expect(
            share.shell("mkdir w; cd w; seq \(count) | sed 's/^/\(prefix)/; s/$/\\/in/' | xargs mkdir -p")
                == 0)
        let listing = try await share.client.send(
            "PROPFIND", "/", [("Depth", "infinity")], text: Self.type)
        let found = hrefs(of: listing)
        #expect(found.count == 2 + 2 * count)
        #expect(Set(found).count == found.count)
        #expect(share.resources.cursors.most == 1)
    }

    @Test func cyclicLinksAreListedButNotFollowed() async throws {
        let share = try TestShare()
        #expect(share.shell("mkdir -p a/b c; ln -s .. a/b/up; ln -s ../../c a/b/c; touch c/f") == 0)
        let found = hrefs(
            of: try await share.client.send("PROPFIND", "/a/", [("Depth", "infinity")], text: Self.type))
        #expect(found.sorted() == ["/a/", "/a/b/", "/a/b/c/", "/a/b/c/f", "/a/b/up/"])
    }
}
