/// The field names known to this server. Each name is mapped to an enumeration case once, when a head is
/// parsed, so that later lookups compare a single byte.
public enum FieldName: UInt8, CaseIterable, Sendable {
    /// Any other name; compare such names by their bytes.
    case other
    /// Names from `Accept` to `Authorization`.
    case accept, acceptEncoding, acceptLanguage, acceptRanges, age, allow, authorization
    /// `Brief`, a Microsoft extension superseded by Prefer.
    case brief
    /// Caching, connection and content fields.
    case cacheControl, connection, contentDisposition, contentEncoding, contentLanguage, contentLength
    /// Further content fields.
    case contentDigest, contentLocation, contentRange, contentSecurityPolicy, contentType
    /// Names from `DASL` to `Host`.
    case dasl, date, dav, depth, destination, etag, expect, forwarded, host
    /// Conditional request fields.
    case `if`, ifMatch, ifModifiedSince, ifNoneMatch, ifRange, ifUnmodifiedSince
    /// Names from `Keep-Alive` to `Referer`.
    case keepAlive, lastModified, location, lockToken, msAuthorVia, origin, overwrite, prefer, range, referer
    /// `Davit-Trash`: the IDs of the trash entries created by a change.
    case davitTrash
    /// Digests of uploaded content: `OC-Checksum`, `Repr-Digest`.
    case ocChecksum, reprDigest
    /// Names from `Referrer-Policy` to `Vary`.
    case referrerPolicy, retryAfter, server, te, timeout, trailer, transferEncoding, upgrade, userAgent, vary
    /// Resumable uploads: tus 1.0 and draft-ietf-httpbis-resumable-upload.
    case tusResumable, uploadComplete, uploadIncomplete, uploadLength, uploadOffset
    /// `WWW-Authenticate`, and names that begin with X.
    case wwwAuthenticate, xContentTypeOptions, xForwardedFor, xForwardedHost, xForwardedPrefix,
        xForwardedProto
    /// Digests requested by a client (RFC 9530).
    case wantContentDigest, wantReprDigest
    /// Upload metadata sent by ownCloud clients and the Finder.
    case xExpectedEntityLength, xOCCTime, xOCMTime

    /// The spelling of the name used in responses.
    public var text: StaticString {
        switch self {
        case .other: ""
        case .accept: "Accept"
        case .acceptEncoding: "Accept-Encoding"
        case .acceptLanguage: "Accept-Language"
        case .acceptRanges: "Accept-Ranges"
        case .age: "Age"
        case .allow: "Allow"
        case .authorization: "Authorization"
        case .brief: "Brief"
        case .cacheControl: "Cache-Control"
        case .connection: "Connection"
        case .contentDigest: "Content-Digest"
        case .contentDisposition: "Content-Disposition"
        case .contentEncoding: "Content-Encoding"
        case .contentLanguage: "Content-Language"
        case .contentLength: "Content-Length"
        case .contentLocation: "Content-Location"
        case .contentRange: "Content-Range"
        case .contentSecurityPolicy: "Content-Security-Policy"
        case .contentType: "Content-Type"
        case .dasl: "DASL"
        case .date: "Date"
        case .dav: "DAV"
        case .davitTrash: "Davit-Trash"
        case .depth: "Depth"
        case .destination: "Destination"
        case .etag: "ETag"
        case .expect: "Expect"
        case .forwarded: "Forwarded"
        case .host: "Host"
        case .if: "If"
        case .ifMatch: "If-Match"
        case .ifModifiedSince: "If-Modified-Since"
        case .ifNoneMatch: "If-None-Match"
        case .ifRange: "If-Range"
        case .ifUnmodifiedSince: "If-Unmodified-Since"
        case .keepAlive: "Keep-Alive"
        case .lastModified: "Last-Modified"
        case .location: "Location"
        case .lockToken: "Lock-Token"
        case .msAuthorVia: "MS-Author-Via"
        case .ocChecksum: "OC-Checksum"
        case .origin: "Origin"
        case .overwrite: "Overwrite"
        case .prefer: "Prefer"
        case .range: "Range"
        case .referer: "Referer"
        case .referrerPolicy: "Referrer-Policy"
        case .reprDigest: "Repr-Digest"
        case .retryAfter: "Retry-After"
        case .server: "Server"
        case .te: "TE"
        case .timeout: "Timeout"
        case .trailer: "Trailer"
        case .transferEncoding: "Transfer-Encoding"
        case .tusResumable: "Tus-Resumable"
        case .upgrade: "Upgrade"
        case .uploadComplete: "Upload-Complete"
        case .uploadIncomplete: "Upload-Incomplete"
        case .uploadLength: "Upload-Length"
        case .uploadOffset: "Upload-Offset"
        case .userAgent: "User-Agent"
        case .vary: "Vary"
        case .wantContentDigest: "Want-Content-Digest"
        case .wantReprDigest: "Want-Repr-Digest"
        case .wwwAuthenticate: "WWW-Authenticate"
        case .xContentTypeOptions: "X-Content-Type-Options"
        case .xExpectedEntityLength: "X-Expected-Entity-Length"
        case .xForwardedFor: "X-Forwarded-For"
        case .xForwardedHost: "X-Forwarded-Host"
        case .xForwardedPrefix: "X-Forwarded-Prefix"
        case .xForwardedProto: "X-Forwarded-Proto"
        case .xOCCTime: "X-OC-CTime"
        case .xOCMTime: "X-OC-MTime"
        }
    }
}
