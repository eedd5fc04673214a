import DavitAccess
import DavitEngine
import DavitHTTP
import DavitServer
import DavitStore
import DavitTesting
import Synchronization

/// Sends requests as one client, however it is authenticated.
struct IdentityHandler<Base: Handler>: Handler {
    let base: Base
    let identity: Principal

    func respond(to request: HTTPRequest) throws(HTTPError) -> Reply {
        request.identity = identity
        return try base.respond(to: request)
    }
}

/// Writes the path of each content in a collection on a line.
final class DownloadPage: CollectionPage {
    func archive(
        of members: [[UInt8]], _ visit: PageContext
    ) async throws(HTTPError) -> HTTPResponse? {
        HTTPResponse(status: .ok, body: .bytes(try await content(visit, only: members)))
    }

    func response(to visit: PageContext) async throws(HTTPError) -> HTTPResponse {
        HTTPResponse(status: .ok, body: .bytes(try await content(visit, only: nil)))
    }

    private func content(_ visit: PageContext, only members: [[UInt8]]?) async throws(HTTPError) -> [UInt8] {
        let traversal = try await visit.traversal(of: members)
        return try await visit.offload {
            var lines: [UInt8] = []
            while true {
                switch traversal.next() {
                case .found(let found):
                    if found.info.isCollection { break }
                    if case .failure = traversal.open(found) { lines += Array("! ".utf8) }
                    lines += found.path + [10]
                case .obstacle(let path, _): lines += Array("! ".utf8) + path + [10]
                case .end: return lines
                }
            }
        }
    }
}

/// A policy whose rules can be replaced.
final class ChangingPolicy: AccessPolicy {
    let changes: AccessChangeCounter? = AccessChangeCounter()
    private let rules: Mutex<AccessRules>

    init(_ rules: AccessRules) { self.rules = Mutex(rules) }

    convenience init(_ rules: [AccessRule]) { self.init(try! AccessRules(rules)) }

    func replace(_ rules: AccessRules) {
        self.rules.withLock { $0 = rules }
        changes?.increment()
    }

    func replace(_ rules: [AccessRule]) { replace(try! AccessRules(rules)) }

    func view(of principal: Principal) -> any AccessView { rules.withLock { $0 }.view(of: principal) }
    func isPlace(_ path: ResourcePath) -> Bool { rules.withLock { $0 }.isPlace(path) }
    func entries(at path: ResourcePath) -> [AccessControlEntry] { rules.withLock { $0 }.entries(at: path) }
}
