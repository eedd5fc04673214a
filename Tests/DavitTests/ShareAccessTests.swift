import Davit
import DavitAccounts
import DavitSystem
import DavitTesting
import Testing

/// A share with a policy of the application.
@Suite(.timeLimit(.minutes(15)))
struct ShareAccessTests {
    private struct OwnFolders: AccessPolicy {
        func view(of principal: Principal) -> any AccessView { View(name: principal.name) }

        struct View: AccessView {
            let name: String?

            func rights(at path: ResourcePath) -> Rights {
                guard let folder = path.segments.first else { return .view }
                return folder.elementsEqual((name ?? "public").utf8) ? .edit : .none
            }
            func rightsThroughout(_ path: ResourcePath) -> Rights { path.isRoot ? .none : rights(at: path) }
            func leadsToRights(_ path: ResourcePath) -> Bool { path.isRoot }
        }
    }

    /// Signs in every client that sends its name.
    private struct SignIn: Middleware {
        func handle(_ request: HTTPRequest, next: some Handler) throws(HTTPError) -> Reply {
            if let name = request.fields["X-Name"] { request.identity = Principal(.account, name) }
            return try next.respond(to: request)
        }
    }

    @Test func ownPolicyDecides() throws {
        let folder = try TemporaryFolder()
        for name in ["anna", "ben", "public"] {
            _ = try ExclusiveFolder(path: folder.path + "/share/" + name)
            try SmallFiles.write("text", to: folder.path + "/share/\(name)/file")
        }
        var configuration = Configuration()
        configuration.hosts = ["127.0.0.1"]
        configuration.port = 0
        configuration.logLevel = .error
        configuration.grace = .zero
        configuration.deadlines = .ofTests
        configuration.middleware = [SignIn()]
        var share = WebDAVShare(folder.path + "/share", stateFolder: folder.path + "/state")
        share.access = OwnFolders()
        let server = try WebServer(share, configuration: configuration)
        let address = try #require(try server.start().first)
        defer {
            server.shutdown()
            server.waitUntilStopped()
        }
        func status(_ request: String, as name: String?) throws -> Int {
            try ChangeEventClient(address: address).send(
                request, ["Depth: 0"] + (name.map { ["X-Name: \($0)"] } ?? [])
            ).status
        }
        #expect(try status("GET /anna/file", as: "anna") == 200)
        #expect(try status("GET /ben/file", as: "anna") == 404)
        #expect(try status("DELETE /ben/file", as: "anna") == 404)
        #expect(try status("MKCOL /anna/new", as: "anna") == 201)
        // Without authentication, clients are anonymous.
        #expect(try status("GET /public/file", as: nil) == 200)
        #expect(try status("GET /anna/file", as: nil) == 404)
        #expect(try status("MKCOL /new", as: nil) == 403)
    }

    /// The rules in the database would have no effect, although administrators could see and change them.
    @Test func ownPolicyCannotBeUsedWithAnAccountDatabase() throws {
        let folder = try TemporaryFolder()
        _ = try ExclusiveFolder(path: folder.path + "/share")
        let state = folder.path + "/state"
        _ = try ExclusiveFolder(path: state)
        _ = try SQLiteAccountStore(folder: state)
        var share = WebDAVShare(folder.path + "/share", stateFolder: state)
        var configuration = Configuration()
        configuration.hosts = ["127.0.0.1"]
        _ = try WebServer(share, configuration: configuration)
        share.access = OwnFolders()
        let canonical = try ExclusiveFolder.canonical(state)
        #expect(throws: ServerError.accessInTwoPlaces(accounts: canonical)) {
            try WebServer(share, configuration: configuration)
        }
    }
}
