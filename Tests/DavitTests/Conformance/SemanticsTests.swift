import Davit
import DavitSystem
import DavitTesting
import Testing

/// RFC 9110 with a complete server that has a share, a site and routes on one port. Serialized, because the
/// tests block threads that other tests need.
@Suite(.serialized)
struct SemanticsTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        for name in ["files", "www", "www/sub"] { _ = try ExclusiveFolder(path: folder.path + "/" + name) }
    }

    @Test(arguments: Semantics.methods)
    func methodsFollowRFC9110(row: Semantics) throws { try check(row) }

    @Test(arguments: Semantics.conditions)
    func conditionsFollowRFC9110(row: Semantics) throws { try check(row) }

    @Test(arguments: Semantics.ranges)
    func rangesFollowRFC9110(row: Semantics) throws { try check(row) }

    @Test(arguments: Semantics.codings)
    func codingsFollowRFC9110(row: Semantics) throws { try check(row) }

    @Test(arguments: Semantics.messages)
    func messagesFollowRFC9110(row: Semantics) throws { try check(row) }

    @Test(arguments: Semantics.authentication)
    func authenticationFollowsRFC9110(row: Semantics) throws {
        try check(row) { $0.accounts = [.init(name: "anna", password: "secret")] }
    }

    private func check(_ row: Semantics, _ change: (inout Configuration) -> Void = { _ in }) throws {
        var configuration = Configuration()
        configuration.hosts = ["127.0.0.1"]
        configuration.port = 0
        configuration.logLevel = .error
        configuration.grace = .zero
        configuration.deadlines = .ofTests
        try prepare(configuration)
        change(&configuration)
        try serve(configuration) { client throws in
            let expand = { (text: String) in
                text.replacing("{tag}", with: known.tag).replacing("{date}", with: known.date)
            }
            let answer = try client.send(row.line, row.fields.map(expand), content: row.content)
            #expect(answer.status == row.status)
            #expect(answer["Date"]?.utf8.count == 29)
            for (name, value) in row.expected {
                let found = answer[name]
                switch value {
                case nil: #expect(found == nil, "\(name)")
                case "*": #expect(found?.isEmpty == false, "\(name)")
                case .some(let text): #expect(found == expand(text), "\(name)")
                }
            }
            if let text = row.answer { #expect(answer.content == text) }
            #expect(!answer.content.contains("X-Secret"))
        }
    }

    /// The validators of `/files/a`.
    private final class Known {
        var tag = ""
        var date = ""
    }

    private let known = Known()

    private func prepare(_ configuration: Configuration) throws {
        try serve(configuration) { client throws in
            #expect(try client.send("PUT /edit/index.html", content: "<p>Start").status == 201)
            #expect(try client.send("PUT /files/a", content: "0123456789").status == 201)
            let head = try client.send("HEAD /files/a")
            known.tag = try #require(head["ETag"])
            known.date = try #require(head["Last-Modified"])
        }
    }

    private func serve(_ configuration: Configuration, _ body: (ChangeEventClient) throws -> Void) throws {
        let server = try WebServer(configuration: configuration) { routes in
            routes.get("/hello") { _ in .text("Hello") }
            routes.get("/made") { _ in .text(String(repeating: "made by a handler\n", count: 1000)) }
            routes.post("/form", body: .text()) { _, text in .text(text) }
            routes.mount("/files", WebDAVShare(folder.path + "/files", stateFolder: folder.path + "/state"))
            routes.mount("/edit", WebDAVShare(folder.path + "/www", stateFolder: folder.path + "/state-www"))
            routes.mount("/site", StaticSite(folder.path + "/www"))
        }
        let addresses = try server.start()
        defer {
            server.shutdown()
            server.waitUntilStopped()
        }
        try body(ChangeEventClient(address: try #require(addresses.first)))
    }
}
