public import DavitHTTP
internal import DavitXML

/// The machine-readable body of an error response (RFC 4918 §14.5, §16).
public enum ErrorBody {
    /// The precondition or postcondition that was violated.
    public enum Condition: Hashable, Sendable {
        /// 409 for UNLOCK and for breaking a lock; 412 for a LOCK that refreshes locks.
        case lockTokenMatchesRequestURI
        /// 423, with the roots of the locks whose tokens were not submitted, percent-encoded; at least one.
        case lockTokenSubmitted([[UInt8]])
        /// 423 for LOCK, with the roots of the conflicting locks, percent-encoded; may be empty.
        case noConflictingLock([[UInt8]])
        /// 403 for a document type declaration with external references.
        case noExternalEntities
        /// 409 for COPY and MOVE.
        case preservedLiveProperties
        /// 403 for PROPFIND of depth infinity.
        case propfindFiniteDepth
        /// 403 in the response to PROPPATCH or an extended MKCOL.
        case cannotModifyProtectedProperty
        /// 403 in the response to an extended MKCOL (RFC 5689 §3.3).
        case validResourceType
        /// 403 for a REPORT that the resource does not support (RFC 3253 §3.6).
        case supportedReport
        /// Part of a truncated response (RFC 6578 §3.6), or 403 if the response would be too large.
        case numberOfMatchesWithinLimits
        /// 403 for a synchronization token that is invalid or no longer valid (RFC 6578 §3.2).
        case validSyncToken
        /// 403 for a collection whose members must be requested separately (RFC 6578 §3.3).
        case syncTraversalSupported
        /// 507: a quota is exceeded (RFC 4331 §6), or the properties of a resource are too large.
        case quotaNotExceeded
        /// 507: the volume is full (RFC 4331 §6).
        case sufficientDiskSpace
        /// 400: the content does not match its digests.
        case digestMismatch
        /// 400: a digest field is malformed.
        case digestMalformed
        /// 403 for SEARCH with an unsupported grammar (RFC 5323 §2.4).
        case searchGrammarSupported
        /// 403 for a query schema request with an unsupported grammar.
        case searchGrammarDiscoverySupported
        /// 403, with the privileges that the client lacks (RFC 3744 §7.1.1).
        case needPrivileges([MissingPrivilege])
        /// 409 for SEARCH, with each invalid scope.
        case searchScopeValid([Failure])
    }

    /// A privilege that the client lacks.
    public struct MissingPrivilege: Hashable, Sendable {
        /// The percent-encoded href of the resource.
        public var href: [UInt8]
        /// The local name of the privilege, in the namespace `DAV:`.
        public var privilege: String

        public init(href: [UInt8], privilege: String) {
            self.href = href
            self.privilege = privilege
        }
    }

    /// A resource that caused the error, and its status.
    public struct Failure: Hashable, Sendable {
        /// The href as sent by the client.
        public var href: [UInt8]
        public var status: HTTPStatus

        public init(href: [UInt8], status: HTTPStatus) {
            self.href = href
            self.status = status
        }
    }

    /// The namespace of conditions that davit defines.
    public static let ownNamespace: StaticString = "urn:davit:condition"

    /// The media type of error bodies and of all other XML that the server sends.
    public static let mediaType: StaticString = "application/xml; charset=utf-8"

    /// Returns a complete error document.
    public static func encode(_ condition: Condition) -> [UInt8] {
        let output = XMLOutput()
        output.markup(#"<?xml version="1.0" encoding="utf-8"?><D:error xmlns:D="DAV:">"#)
        write(condition, to: output)
        output.markup("</D:error>")
        return output.drain()
    }

    /// Writes the element of the condition; the prefix `D` must be declared.
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
        case .needPrivileges(let missing):
            output.open("need-privileges")
            for missing in missing {
                output.open("resource")
                output.open("href")
                output.bytes(Href.sanitize(missing.href))
                output.close("href")
                output.markup("<D:privilege><D:")
                output.bytes(Array(missing.privilege.utf8))
                output.markup("/></D:privilege>")
                output.close("resource")
            }
            output.close("need-privileges")
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
        output.bytes(Href.sanitize(failure.href))
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
            output.bytes(Href.sanitize(href))
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
