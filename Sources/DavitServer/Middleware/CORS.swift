public import DavitHTTP

/// Allows pages of other origins to use this server (Fetch standard §3.2).
///
/// Applies only to the configured origins. Place it in front of authentication, because browsers send
/// preflight requests without credentials and give up if they are refused. Requests from other origins are
/// answered normally, but the browser withholds the response from the page.
public struct CORS: Middleware {
    /// The methods of HTTP and WebDAV for reading and changing resources.
    public static let webDAVMethods: [HTTPMethod] = [
        .get, .head, .options, .put, .post, .patch, .delete, .mkcol, .copy, .move, .propfind, .proppatch,
        .report, .search, .lock, .unlock,
    ]
    /// Request fields sent by WebDAV clients in a browser: those that a share evaluates, and Cache-Control
    /// and X-Requested-With, which libraries add.
    public static let webDAVRequestFields = [
        "Authorization", "Brief", "Cache-Control", "Content-Digest", "Content-Encoding", "Content-Range",
        "Content-Type", "Depth", "Destination", "If", "If-Match", "If-Modified-Since", "If-None-Match",
        "If-Range", "If-Unmodified-Since", "Lock-Token", "OC-Checksum", "Overwrite", "Prefer", "Range",
        "Repr-Digest", "Slug", "Timeout", "Tus-Resumable", "Upload-Checksum", "Upload-Complete",
        "Upload-Concat", "Upload-Defer-Length", "Upload-Draft-Interop-Version", "Upload-Incomplete",
        "Upload-Length", "Upload-Metadata", "Upload-Offset", "Want-Content-Digest", "Want-Repr-Digest",
        "X-HTTP-Method-Override", "X-OC-CTime", "X-OC-Mtime", "X-Requested-With", "X-Update-Range",
    ]
    /// Response fields that WebDAV clients in a browser read, in addition to fields such as Content-Type, which
    /// are always readable (Fetch §2.2.2).
    public static let webDAVResponseFields = [
        "Accept-Patch", "Accept-Post", "Accept-Ranges", "Allow", "Content-Digest", "Content-Location",
        "Content-Range", "DASL", "Date", "DAV", "ETag", "Last-Modified", "Location", "Lock-Token",
        "OC-Checksum", "Preference-Applied", "Repr-Digest", "Retry-After", "Tus-Checksum-Algorithm",
        "Tus-Extension", "Tus-Max-Size", "Tus-Resumable", "Tus-Version", "Upload-Complete", "Upload-Concat",
        "Upload-Defer-Length", "Upload-Draft-Interop-Version", "Upload-Expires", "Upload-Incomplete",
        "Upload-Length", "Upload-Limit", "Upload-Metadata", "Upload-Offset", "X-OC-CTime", "X-OC-MTime",
        "X-Request-Id",
    ]

    package let origins: Set<[UInt8]>
    package var originTexts: [String] { origins.map { String(decoding: $0, as: UTF8.self) } }
    private let preflightFields: HTTPFields
    private let exposedFields: String

    /// - Parameters:
    ///   - origins: allowed origins in the form `https://app.example`; compared byte by byte.
    ///   - maximumAge: how long a browser may cache the result of a preflight request.
    public init(
        origins: [String], methods: [HTTPMethod] = webDAVMethods,
        requestFields: [String] = webDAVRequestFields, responseFields: [String] = webDAVResponseFields,
        maximumAge: Duration = .seconds(600)
    ) {
        self.origins = Set(origins.map { Array($0.utf8) })
        var fields = HTTPFields()
        fields.append(
            named: "Access-Control-Allow-Methods", methods.map(\.rawValue).joined(separator: ", "))
        fields.append(named: "Access-Control-Allow-Headers", requestFields.joined(separator: ", "))
        fields.append(named: "Access-Control-Max-Age", String(maximumAge.components.seconds))
        fields.append(.vary, "Origin, Access-Control-Request-Method, Access-Control-Request-Headers")
        preflightFields = fields
        exposedFields = responseFields.joined(separator: ", ")
    }

    public func handle(_ request: HTTPRequest, next: some Handler) throws(HTTPError) -> Reply {
        let origin = allowedOrigin(of: request)
        if let response = preflight(request, from: origin) { return .ready(response) }
        return try next.respond(to: request).map { sharing($0, with: origin) }
    }

    /// Returns the response to a preflight request; nil for other requests.
    private func preflight(_ request: HTTPRequest, from origin: [UInt8]?) -> HTTPResponse? {
        guard let origin, request.method == .options,
            request.string(named: "Access-Control-Request-Method") != nil
        else { return nil }
        var response = HTTPResponse(status: .noContent, fields: preflightFields)
        allow(origin, &response)
        return response
    }

    private func sharing(_ response: HTTPResponse, with origin: [UInt8]?) -> HTTPResponse {
        var response = response
        // Add the field even for disallowed origins: caches must not reuse those responses for an allowed
        // origin.
        response.fields.vary(on: .origin)
        if let origin {
            allow(origin, &response)
            response.fields.append(named: "Access-Control-Expose-Headers", exposedFields)
        }
        return response
    }

    private func allowedOrigin(of request: HTTPRequest) -> [UInt8]? {
        guard request.count(of: .origin) == 1, let origin = request.bytes(of: .origin) else { return nil }
        return origins.contains(origin) ? origin : nil
    }

    private func allow(_ origin: [UInt8], _ response: inout HTTPResponse) {
        response.fields.append(
            named: "Access-Control-Allow-Origin", String(decoding: origin, as: UTF8.self))
        response.fields.append(named: "Access-Control-Allow-Credentials", "true")
    }
}
