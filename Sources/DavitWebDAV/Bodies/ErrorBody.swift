public import DavitHTTP
internal import DavitXML

/// The content of a refusal that a machine can understand (RFC 4918 §14.5, §16).
public enum ErrorBody {
    /// Which precondition or postcondition did not hold.
    public enum Condition: Hashable, Sendable {
        /// 409 for UNLOCK.
        case lockTokenMatchesRequestURI
        /// 423; the lock roots whose tokens are missing, percent-encoded, at least one.
        case lockTokenSubmitted([[UInt8]])
        /// 423 for LOCK; the roots of the locks in the way, percent-encoded; may be empty.
        case noConflictingLock([[UInt8]])
        /// 403 for a document type declaration that refers to the outside.
        case noExternalEntities
        /// 409 for COPY and MOVE.
        case preservedLiveProperties
        /// 403 for PROPFIND of depth infinity.
        case propfindFiniteDepth
        /// 403 in the answer to PROPPATCH.
        case cannotModifyProtectedProperty
        /// 403 in the answer to an extended MKCOL (RFC 5689 §3.3).
        case validResourceType
        /// 403 for a REPORT that the resource does not know (RFC 3253 §3.6).
        case supportedReport
        /// Part of an answer that is not all of it (RFC 6578 §3.6), or 403 for one that would be too large.
        case numberOfMatchesWithinLimits
        /// 403 for a token that does not say any more what its holder knows (RFC 6578 §3.2).
        case validSyncToken
        /// 403 for a collection whose members are to be asked for apart (RFC 6578 §3.3).
        case syncTraversalSupported
        /// 507: a limit that somebody has set (RFC 4331 §6).
        case quotaNotExceeded
        /// 507: the volume is full (RFC 4331 §6).
        case sufficientDiskSpace
        /// 400: the content is not what its digests say.
        case digestMismatch
        /// 400: a field is no list of digests.
        case digestMalformed
        /// 403 for SEARCH in a grammar that is not known (RFC 5323 §2.4).
        case searchGrammarSupported
        /// 403 for the same in a question about the schema.
        case searchGrammarDiscoverySupported
        /// 409 for SEARCH; each scope that is none.
        case searchScopeValid([Failure])
    }

    /// A resource that is in the way, and why.
    public struct Failure: Hashable, Sendable {
        /// As the client has sent it.
        public var href: [UInt8]
        public var status: HTTPStatus

        public init(href: [UInt8], status: HTTPStatus) {
            self.href = href
            self.status = status
        }
    }

    /// The namespace of conditions that no standard has.
    public static let ownNamespace: StaticString = "urn:davit:condition"

    /// The media type of the content, and of every other XML content the server sends.
    public static let mediaType: StaticString = "application/xml; charset=utf-8"

    /// A whole document.
    public static func encode(_ condition: Condition) -> [UInt8] {
        let output = XMLOutput()
        output.markup(#"<?xml version="1.0" encoding="utf-8"?><D:error xmlns:D="DAV:">"#)
        write(condition, to: output)
        output.markup("</D:error>")
        return output.drain()
    }

    /// The element of the condition, where the prefix `D` is declared.
    static func write(_ condition: Condition, to output: XMLOutput) {
        switch condition {
        case .lockTokenMatchesRequestURI: output.markup("<D:lock-token-matches-request-uri/>")
        case .lockTokenSubmitted(let roots): write("lock-token-submitted", roots, to: output)
        case .noConflictingLock(let roots): write("no-conflicting-lock", roots, to: output)
        case .noExternalEntities: output.markup("<D:no-external-entities/>")
        case .preservedLiveProperties: output.markup("<D:preserved-live-properties/>")
        case .propfindFiniteDepth: output.markup("<D:propfind-finite-depth/>")
        case .validResourceType: output.markup("<D:valid-resourcetype/>")
        case .cannotModifyProtectedProperty: output.markup("<D:cannot-modify-protected-property/>")
        case .numberOfMatchesWithinLimits: output.markup("<D:number-of-matches-within-limits/>")
        case .supportedReport: output.markup("<D:supported-report/>")
        case .quotaNotExceeded: output.markup("<D:quota-not-exceeded/>")
        case .sufficientDiskSpace: output.markup("<D:sufficient-disk-space/>")
        case .digestMismatch: writeOwn("digest-mismatch", to: output)
        case .digestMalformed: writeOwn("digest-malformed", to: output)
        case .searchGrammarSupported: output.markup("<D:search-grammar-supported/>")
        case .searchGrammarDiscoverySupported: output.markup("<D:search-grammar-discovery-supported/>")
        case .searchScopeValid(let failures):
            output.open("search-scope-valid")
            for failure in failures { write(failure, to: output) }
            output.close("search-scope-valid")
        case .validSyncToken: output.markup("<D:valid-sync-token/>")
        case .syncTraversalSupported: output.markup("<D:sync-traversal-supported/>")
        }
    }

    private static func writeOwn(_ element: StaticString, to output: XMLOutput) {
        output.markup("<")
        output.markup(element)
        output.markup(" xmlns=\"")
        output.markup(ownNamespace)
        output.markup("\"/>")
    }

    private static func write(_ failure: Failure, to output: XMLOutput) {
        output.open("response")
        output.open("href")
        output.bytes(Href.sanitise(failure.href))
        output.close("href")
        output.open("status")
        output.markup("HTTP/1.1 ")
        output.number(Int64(failure.status.code))
        output.byte(UInt8(ascii: " "))
        output.markup(failure.status.reasonPhrase)
        output.close("status")
        output.close("response")
    }

    private static func write(_ element: StaticString, _ hrefs: [[UInt8]], to output: XMLOutput) {
        output.open(element)
        for href in hrefs {
            output.open("href")
            output.bytes(Href.sanitise(href))
            output.close("href")
        }
        output.close(element)
    }
}

extension XMLOutput {
    /// Writes the start tag of an element of the `DAV:` namespace.
    func open(_ dav: StaticString) {
        markup("<D:")
        markup(dav)
        byte(UInt8(ascii: ">"))
    }

    func close(_ dav: StaticString) {
        markup("</D:")
        markup(dav)
        byte(UInt8(ascii: ">"))
    }
}
