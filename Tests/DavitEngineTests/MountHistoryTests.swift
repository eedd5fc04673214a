import DavitEngine
import DavitHTTP
import DavitStore
import DavitTesting
import Testing

/// Random requests to a share with mounted folders, and to one in which these are ordinary folders: the responses and the
/// resulting trees must be the same.
struct MountHistoryTests {
    private static let seeds = TestExtent.sample(of: Array(1...64 as ClosedRange<UInt64>), every: 8)
    private static let names = [
        "team", "a/b", "d", "team/d", "a/b/d", "x", "team/x", "a/b/x", "team/d/x", "d/x",
    ]

    @Test(arguments: seeds, MountTests.parents)
    func mountedFoldersBehaveLikeOrdinaryOnes(seed: UInt64, in parent: String) async throws {
        // Every version is kept: content that was moved to another volume and back has another inode, so that it would not
        // be recognized as a recent version.
        var limits = TrashLimits()
        limits.versionSeconds = 0
        let tree = try MountTests.Tree(teamIn: parent) { [limits] in $0.trash = limits }
        let plain = try TestShare { [limits] in $0.trash = limits }
        #expect(plain.shell("mkdir -p team a/b") == 0)
        var random = SeededGenerator(seed: seed)
        var history: [String] = []
        var tokens: [(mounted: String, plain: String)] = []
        for _ in 0..<60 {
            let request = Self.request(&random, tokenCount: tokens.count)
            history.append("\(request.method) \(request.target) \(request.fields)")
            func fields(_ token: (Int) -> String) -> [(String, String)] {
                request.fields
                    + (request.token.map { [("If", "<\(request.lockRoot)> (<\(token($0))>)")] } ?? [])
            }
            let one = try await tree.share.client.send(
                request.method, request.target, fields { tokens[$0].mounted }, body: request.body)
            let other = try await plain.client.send(
                request.method, request.target, fields { tokens[$0].plain }, body: request.body)
            try #require(one.status == other.status, "\(seed): \(history.joined(separator: "\n"))")
            if let token = one["Lock-Token"], let second = other["Lock-Token"] {
                tokens.append((String(token.dropFirst().dropLast()), String(second.dropFirst().dropLast())))
            }
        }
        let place = "\(seed): \(history.joined(separator: "\n"))"
        #expect(try await Self.tree(of: tree.share) == Self.tree(of: plain), "\(place)")
        #expect(try tree.share.trash().sorted() == plain.trash().sorted(), "\(place)")
    }

    private struct Request {
        var method: String
        var target: String
        var fields: [(String, String)] = []
        var body: [UInt8]?
        /// The index of a lock token to submit.
        var token: Int?
        var lockRoot = "/"
    }

    private static func request(_ random: inout SeededGenerator, tokenCount: Int) -> Request {
        // The mount points themselves differ from folders: they cannot be removed or replaced.
        let all = names[2...]
        let (target, destination) = (
            "/" + all.randomElement(using: &random)!, "/" + all.randomElement(using: &random)!
        )
        var request: Request
        switch Int.random(in: 0..<12, using: &random) {
        case 0...2:
            request = Request(
                method: "PUT", target: target,
                body: Array("\(Int.random(in: 0..<1_000, using: &random))".utf8))
        case 3: request = Request(method: "MKCOL", target: target)
        case 4:
            request = Request(
                method: "PROPPATCH", target: "/" + names.randomElement(using: &random)!,
                body: Array(setProperty("p", "\(Int.random(in: 0..<9, using: &random))").utf8))
        case 5: request = Request(method: "DELETE", target: target)
        case 6:
            request = Request(
                method: "LOCK", target: target,
                fields: [("Depth", Bool.random(using: &random) ? "0" : "infinity")],
                body: Array(lockBody(scope: "exclusive").utf8))
        case 7, 8:
            request = Request(method: "COPY", target: target, fields: [("Destination", destination)])
        default: request = Request(method: "MOVE", target: target, fields: [("Destination", destination)])
        }
        if tokenCount > 0, Int.random(in: 0..<3, using: &random) == 0 {
            request.token = Int.random(in: 0..<tokenCount, using: &random)
            request.lockRoot = target
        }
        return request
    }

    /// Returns the resources with their content, properties and locks.
    private static func tree(of share: TestShare) async throws -> [String] {
        let body = """
            <propfind xmlns="DAV:"><prop><lockdiscovery/><getcontentlength/><p xmlns="urn:x"/></prop></propfind>
            """
        let listing = try await share.client.send("PROPFIND", "/", [("Depth", "infinity")], text: body)
        var found: [String] = []
        for response in listing.text.split(separator: "<D:response>").dropFirst() {
            let response = String(response)
            guard let href = SyncClient.text(of: "href", in: response) else { continue }
            let property = response.firstRange(of: "urn:x").map {
                String(response[$0.lowerBound...].prefix(12))
            }
            let content = href.hasSuffix("/") ? "" : try await share.shown(href)
            found.append("\(href) \(content) \(property ?? "") \(response.contains("activelock"))")
        }
        return found.sorted()
    }
}
