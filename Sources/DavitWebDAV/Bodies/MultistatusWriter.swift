public import DavitHTTP
public import DavitXML

/// Writes a multistatus body (RFC 4918 §13) incrementally, so that it can be sent while it is being
/// generated.
///
/// The calls follow the grammar: `begin`; for each resource `beginResponse`, either `responseStatus` or any
/// number of `beginPropStat`, properties and `endPropStat`, then `endResponse`; finally `end`. A propstat
/// without properties is omitted, so it can be begun before it is known whether there will be any. Elements
/// of the `DAV:` namespace have the prefix `D`, which Windows requires; hrefs, dates, numbers and tokens are
/// written without white space or references, as Finder requires. Used by one task at a time.
public final class MultistatusWriter {
    @usableFromInline let output = XMLOutput()
    /// Whether a propstat has been begun but its start tag has not been written yet; the tag is deferred
    /// until the first property.
    @safe @usableFromInline @exclusivity(unchecked) var isPropStatPending = false
    @safe @usableFromInline @exclusivity(unchecked) var isPropStatOpen = false
    /// Whether the response has a propstat or a status.
    @safe @exclusivity(unchecked) private var hasResult = false

    public init() {}

    public func begin() {
        output.markup(#"<?xml version="1.0" encoding="utf-8"?><D:multistatus xmlns:D="DAV:">"#)
    }

    /// - Parameters:
    ///   - description: a human-readable sentence about the entire response.
    ///   - syncToken: the URI of the state that the response describes (RFC 6578 §6.4).
    public func end(description: String? = nil, syncToken: String? = nil) {
        writeDescription(description)
        if let syncToken { output.element("D:", "sync-token", escaped: Array(syncToken.utf8)) }
        output.markup("</D:multistatus>")
    }

    /// Begins the response to an extended MKCOL (RFC 5689 §5.2), followed by propstats and
    /// ``endMkColResponse()``.
    public func beginMkColResponse() {
        output.markup(#"<?xml version="1.0" encoding="utf-8"?><D:mkcol-response xmlns:D="DAV:">"#)
    }

    /// Ends the response begun by ``beginMkColResponse()``.
    public func endMkColResponse() { output.markup("</D:mkcol-response>") }

    /// Begins the response element of one resource.
    /// - Parameters:
    ///   - href: percent-encoded and safe in XML, as returned by ``Href/sanitize(_:)``.
    ///   - isCollection: adds a trailing slash unless there is one.
    public func beginResponse(href: [UInt8], isCollection: Bool = false) {
        output.markup("<D:response><D:href>")
        output.bytes(href)
        if isCollection, href.last != UInt8(ascii: "/") { output.byte(UInt8(ascii: "/")) }
        output.markup("</D:href>")
        hasResult = false
    }

    /// Begins the response element of a member.
    /// - Parameters:
    ///   - href: the href of the collection, as in ``beginResponse(href:isCollection:)``, with a trailing
    ///     slash.
    ///   - member: the unencoded name, any bytes.
    ///   - isCollection: adds a trailing slash.
    public func beginResponse(href: [UInt8], member: [UInt8], isCollection: Bool) {
        output.markup("<D:response><D:href>")
        output.bytes(href)
        unsafe output.bytes(limit: PercentCoding.longest(member.count)) {
            unsafe PercentCoding.write(member, to: $0)
        }
        output.markup(isCollection ? "/</D:href>" : "</D:href>")
        hasResult = false
    }

    /// Ends the response element of one resource. If it has neither a propstat nor a status, the status 200
    /// is added, because the grammar requires one of them (§14.24).
    public func endResponse(condition: ErrorBody.Condition? = nil, description: String? = nil) {
        if !hasResult { responseStatus(.ok) }
        writeError(condition)
        writeDescription(description)
        output.markup("</D:response>")
    }

    /// Writes the status of the resource itself, in place of propstats.
    public func responseStatus(_ status: HTTPStatus) {
        writeStatus(status)
        hasResult = true
    }

    public func beginPropStat() { isPropStatPending = true }

    /// Ends a group of properties with their common status.
    public func endPropStat(
        status: HTTPStatus, condition: ErrorBody.Condition? = nil, description: String? = nil
    ) {
        isPropStatPending = false
        guard isPropStatOpen else { return }
        isPropStatOpen = false
        hasResult = true
        if status == .ok, condition == nil, description == nil {
            return output.markup("</D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat>")
        }
        output.markup("</D:prop>")
        writeStatus(status)
        writeError(condition)
        writeDescription(description)
        output.markup("</D:propstat>")
    }

    /// Writes a deferred propstat start tag. Called before each property.
    @inlinable @inline(__always)
    func openPropStat() {
        guard isPropStatPending else { return }
        isPropStatPending = false
        isPropStatOpen = true
        output.markup("<D:propstat><D:prop>")
    }

    /// The number of bytes written and not yet taken.
    public var count: Int { output.count }

    /// Reserves capacity for `byteCount` more bytes.
    public func reserve(_ byteCount: Int) { output.reserve(byteCount) }

    /// Returns and removes all bytes that have not been taken yet.
    public func drain() -> [UInt8] { output.drain() }

    /// Moves as many bytes as fit to the end of `buffer`; the rest remains for the next call.
    /// - Returns: the number of bytes moved.
    public func take(into buffer: IOBuffer) -> Int {
        unsafe buffer.fill { unsafe output.take(into: $0) }
    }

    private func writeStatus(_ status: HTTPStatus) {
        output.markup("<D:status>HTTP/1.1 ")
        output.number(Int64(status.code))
        output.byte(UInt8(ascii: " "))
        output.markup(status.reasonPhrase)
        output.markup("</D:status>")
    }

    private func writeError(_ condition: ErrorBody.Condition?) {
        guard let condition else { return }
        output.markup("<D:error>")
        ErrorBody.write(condition, to: output)
        output.markup("</D:error>")
    }

    private func writeDescription(_ description: String?) {
        guard let description else { return }
        output.markup("<D:responsedescription>")
        output.escaped(description)
        output.markup("</D:responsedescription>")
    }
}
