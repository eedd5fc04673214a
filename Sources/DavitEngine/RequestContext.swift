internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// What the dispatcher has read from a request before its method runs: plain values, each parsed once.
///
/// An object and not a value, because every step of a request hands it on.
final class RequestContext: Sendable {
    let request: HTTPRequest
    /// The target as asked: decoded, not yet canonical.
    let path: ResourcePath
    let endsInSlash: Bool
    /// The target as sent, safe to stand in an href.
    let href: [UInt8]
    let principal: String?
    let ifHeader: IfHeader?
    /// Every state token that stands anywhere in `If` (RFC 4918 §10.4).
    let submittedTokens: Set<String>
    /// When the head arrived; in a section, when that was entered: locks end while a body is on its way.
    let now: Timestamp

    init(_ request: HTTPRequest, now: Timestamp) throws(WebDAVError) {
        self.request = request
        self.now = now
        if request.contains(.contentEncoding), request.body.isPresent,
            (try? request.contentCoding()) != .identity
        {
            throw .codedContent
        }
        let target = request.target
        do throws(HTTPError) {
            (path, endsInSlash) = try target.resourcePath()
        } catch {
            throw WebDAVError(error.status)
        }
        href = Href.sanitise(target.rawPath)
        principal = request.principal
        if let field = request.combinedBytes(of: .if) {
            do throws(IfHeader.ParseError) {
                ifHeader = try IfHeader(parsing: field.span)
            } catch {
                throw WebDAVError(.badRequest)
            }
        } else {
            ifHeader = nil
        }
        submittedTokens = ifHeader?.submittedTokens ?? []
    }

    /// The same request at another moment.
    init(_ other: RequestContext, now: Timestamp) {
        request = other.request
        path = other.path
        endsInSlash = other.endsInSlash
        href = other.href
        principal = other.principal
        ifHeader = other.ifHeader
        submittedTokens = other.submittedTokens
        self.now = now
    }

    /// The current tag and time of the target, for the preconditions of RFC 9110 §13.
    static func validators(of info: ResourceInfo?) -> (tag: EntityTag?, modified: Timestamp)? {
        info.map { ($0.isCollection ? nil : $0.entityTag, $0.modified) }
    }
}
