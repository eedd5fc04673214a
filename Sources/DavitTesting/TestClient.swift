public import DavitHTTP
public import DavitServer

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Sends requests to a handler without a socket. The head is parsed by the server's parser, the request body
/// is read from memory, and the complete response is collected.
public struct TestClient<Application: Handler>: Sendable {
    public let application: Application
    /// The value of `Host`, sent with every request.
    public var host = "localhost"

    public init(_ application: Application) { self.application = application }

    /// - Parameter body: nil for a request without content.
    public func send(
        _ method: String, _ target: String, _ fields: [(String, String)] = [], body: [UInt8]? = nil,
        principal: String? = nil
    ) async throws(HTTPError) -> TestResponse {
        let content = body.map { TestRequestBody($0) }
        return try await send(method, target, fields, body: content, principal: principal)
    }

    /// - Parameter body: a custom implementation of the request content.
    public func send(
        _ method: String, _ target: String, _ fields: [(String, String)] = [],
        body: (any RequestBody)?, principal: String? = nil
    ) async throws(HTTPError) -> TestResponse {
        let response = try await begin(method, target, fields, body: body, principal: principal)
        return TestResponse(
            status: response.status.code, fields: response.fields,
            body: try await Self.collect(response.body))
    }

    /// Returns the response with an unread body, which may be endless.
    public func begin(
        _ method: String, _ target: String, _ fields: [(String, String)] = [],
        body: (any RequestBody)? = nil, principal: String? = nil
    ) async throws(HTTPError) -> HTTPResponse {
        let request = try Self.parse(head(method, target, fields, length: body?.declaredLength))
        request.principal = principal
        if let body { request.body = body }
        return try await application.respond(to: request).response()
    }

    public func send(
        _ method: String, _ target: String, _ fields: [(String, String)] = [], text: String,
        principal: String? = nil
    ) async throws(HTTPError) -> TestResponse {
        try await send(method, target, fields, body: Array(text.utf8), principal: principal)
    }

    private func head(
        _ method: String, _ target: String, _ fields: [(String, String)], length: Int64?
    ) -> [UInt8] {
        var text = "\(method) \(target) HTTP/1.1\r\nHost: \(host)\r\n"
        for (name, value) in fields { text += "\(name): \(value)\r\n" }
        if let length { text += "Content-Length: \(length)\r\n" }
        return Array((text + "\r\n").utf8)
    }

    private static func parse(_ head: [UInt8]) throws(HTTPError) -> HTTPRequest {
        let request = HTTPRequest()
        var parser = HeadParser(limits: WireLimits())
        var failure: HTTPError?
        let length = unsafe head.withUnsafeBytes { bytes -> Int? in
            do throws(HTTPError) { return try unsafe parser.parse(bytes, into: request) } catch {
                failure = error
                return nil
            }
        }
        if let failure { throw failure }
        guard length == head.count else { throw HTTPError(.badRequest, "The request head is incomplete.") }
        return request
    }

    private static func collect(_ body: HTTPBody) async throws(HTTPError) -> [UInt8] {
        switch body {
        case .empty: return []
        case .bytes(let bytes): return bytes
        case .file(let content, let offset, let length): return read(content, offset, length)
        case .segments(let content, let segments):
            return segments.flatMap { segment in
                switch segment {
                case .bytes(let bytes): bytes
                case .file(let offset, let length): read(content, offset, length)
                }
            }
        case .shaped(let shaped): return try await collect(shaped.content)
        case .stream(let stream):
            var bytes: [UInt8] = []
            let buffer = IOBuffer(capacity: 8192)
            while true {
                buffer.removeAll()
                try await stream.next(into: buffer)
                if buffer.count == 0 { return bytes }
                unsafe buffer.withBytes { unsafe bytes.append(contentsOf: $0) }
            }
        }
    }

    private static func read(_ content: any FileContent, _ offset: Int64, _ length: Int64) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Int(length))
        let count = unsafe pread(content.descriptor, &bytes, bytes.count, off_t(offset))
        return Array(bytes.prefix(max(count, 0)))
    }
}

extension Reply {
    /// The response, if it is available without waiting.
    public var readyResponse: HTTPResponse? {
        if case .ready(let response) = self { response } else { nil }
    }
}

/// A complete response.
public struct TestResponse: Sendable {
    public let status: UInt16
    public let fields: HTTPFields
    public let body: [UInt8]

    public var text: String { String(decoding: body, as: UTF8.self) }

    /// The value of a field; nil if it is missing.
    public subscript(name: String) -> String? { fields.first(named: name) }
}

private final class TestRequestBody: RequestBody {
    private var rest: ArraySlice<UInt8>
    let declaredLength: Int64?

    init(_ bytes: [UInt8]) {
        rest = bytes[...]
        declaredLength = Int64(bytes.count)
    }

    var isPresent: Bool { declaredLength != 0 }
    var arrived: [UInt8]? { Int64(rest.count) == declaredLength ? Array(rest) : nil }

    func read(into buffer: IOBuffer) async throws(HTTPError) -> Int {
        let taken = buffer.append(Array(rest.prefix(buffer.freeCount)))
        rest = rest.dropFirst(taken)
        return taken
    }
}
