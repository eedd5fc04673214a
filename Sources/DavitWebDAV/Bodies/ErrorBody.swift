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
        /// 403 for a REPORT that the resource does not know (RFC 3253 §3.6).
        case supportedReport
        /// Part of an answer that is not all of it (RFC 6578 §3.6), or 403 for one that would be too large.
        case numberOfMatchesWithinLimits
        /// 403 for a token that does not say any more what its holder knows (RFC 6578 §3.2).
        case validSyncToken
        /// 403 for a collection whose members are to be asked for apart (RFC 6578 §3.3).
        case syncTraversalSupported
    }

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
        case .cannotModifyProtectedProperty: output.markup("<D:cannot-modify-protected-property/>")
        case .numberOfMatchesWithinLimits: output.markup("<D:number-of-matches-within-limits/>")
        case .supportedReport: output.markup("<D:supported-report/>")
        case .validSyncToken: output.markup("<D:valid-sync-token/>")
        case .syncTraversalSupported: output.markup("<D:sync-traversal-supported/>")
        }
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
