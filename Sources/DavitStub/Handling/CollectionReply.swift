internal import DavitHTTP
internal import DavitSQLite
internal import DavitServer

/// Answers requests for a collection of JSON objects, or for one of them.
///
/// | request | effect |
/// |---|---|
/// | `GET /things` | all objects, as an array |
/// | `POST /things` | stores an object with the next number as its `id`: 201 and `Location` |
/// | `GET /things/1` | the object |
/// | `PUT /things/1` | replaces the object |
/// | `PATCH /things/1` | merges members (RFC 7396) |
/// | `DELETE /things/1` | removes the object: 204 |
struct CollectionReply {
    let database: StubDatabase
    let work: any BlockingWorkRunner
    let collection: String
    let received: LazyRequest
    let isItem: Bool

    /// The maximum length of an object in bytes.
    static let objectBytes = 1 << 20

    private enum Outcome: Sendable {
        case ok(String)
        case created(Int64, String)
        case removed, missing, full, failed, malformed
    }

    func reply(to request: HTTPRequest) -> Reply {
        var received = received
        let value = received.value
        let allowed = isItem ? "GET, HEAD, PUT, PATCH, DELETE, OPTIONS" : "GET, HEAD, POST, OPTIONS"
        let method = request.method
        let isChange: Bool
        switch (method, isItem) {
        case (.get, _), (.head, _), (.delete, true): isChange = false
        case (.post, false), (.put, true), (.patch, true): isChange = true
        default:
            var response =
                method == .options
                ? HTTPResponse(status: .noContent)
                : HTTPResponse.error(.methodNotAllowed, "Method not allowed.", for: request)
            response.fields.append(named: "Allow", allowed)
            return .ready(response)
        }
        var object = ""
        if isChange {
            guard let content = value.content, content.isComplete, content.bytes.count <= Self.objectBytes
            else {
                return .ready(.error(.contentTooLarge, "An object has at most 1 MiB.", for: request))
            }
            guard let text = String(validating: content.bytes, as: UTF8.self) else {
                return .ready(.error(.badRequest, "The content is not a JSON object.", for: request))
            }
            object = text
        }
        var id: Int64 = 0
        if isItem {
            let last = value.path.split(separator: "/").last.map(String.init) ?? ""
            guard let number = Int64(last), number > 0, "\(number)" == last else {
                return .ready(.error(.notFound, "Not found.", for: request))
            }
            id = number
        }
        let (database, collection, content, number, isItem) = (database, collection, object, id, isItem)
        return .pending { () async throws(HTTPError) in
            let outcome = await work.run {
                Self.run(method, database, collection, isItem ? number : nil, content)
            }
            guard let outcome else { throw HTTPError(.serviceUnavailable) }
            switch outcome {
            case .ok(let text): return .bytes(Array(text.utf8), type: "application/json")
            case .created(let id, let text):
                var response = HTTPResponse.bytes(
                    Array(text.utf8), type: "application/json", status: .created)
                response.fields.append(.location, request.fullRawPath + Array("/\(id)".utf8))
                return response
            case .removed: return HTTPResponse(status: .noContent)
            case .missing: return .error(.notFound, "Not found.", for: request)
            case .malformed:
                return .error(.badRequest, "The content is not a JSON object.", for: request)
            case .full: return .error(.insufficientStorage, "The collection is full.", for: request)
            case .failed: throw HTTPError(.internalServerError, "The database of the stub failed.")
            }
        }
    }

    /// - Parameter id: nil for the collection itself. Blocks.
    private static func run(
        _ method: HTTPMethod, _ database: StubDatabase, _ collection: String, _ id: Int64?, _ object: String
    ) -> Outcome {
        if method != .get, method != .head, method != .delete, JSONParser.parse(object)?.members == nil {
            return .malformed
        }
        do throws(StubError) {
            guard let id else {
                guard method == .post else { return .ok(try database.items(in: collection)) }
                guard let added = try database.addItem(object, to: collection) else { return .full }
                return .created(added.id, added.object)
            }
            let found: String?
            switch method {
            case .delete: return try database.removeItem(id, from: collection) ? .removed : .missing
            case .put, .patch:
                found = try database.changeItem(id, in: collection, to: object, merges: method == .patch)
            default: found = try database.item(id, in: collection)
            }
            return found.map { .ok($0) } ?? .missing
        } catch {
            return .failed
        }
    }
}
