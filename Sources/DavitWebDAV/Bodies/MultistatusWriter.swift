public import DavitHTTP
internal import DavitXML

/// Writes a multistatus body (RFC 4918 §13) piece by piece, so that it can be sent while it is made.
///
/// The steps follow the grammar: `begin`, then for each resource `beginResponse`, then either
/// `responseStatus` or any number of `beginPropStat`, properties, `endPropStat`, then `endResponse`; at last
/// `end`. A propstat without properties is left out, so that it can be begun before it is known whether there
/// will be any. Elements of the `DAV:` namespace have the prefix `D`, which Windows needs; hrefs, dates, numbers
/// and tokens are written without white space or references, which Finder needs. Used by one task at a time.
public final class MultistatusWriter {
    let output = XMLOutput()
    /// A propstat was begun, and its start tag is held back until the first property.
    @safe @exclusivity(unchecked) private var isPropStatPending = false
    @safe @exclusivity(unchecked) private var isPropStatOpen = false
    /// The response has a propstat or a status.
    @safe @exclusivity(unchecked) private var hasResult = false

    public init() {}

    public func begin() {
        output.markup(#"<?xml version="1.0" encoding="utf-8"?><D:multistatus xmlns:D="DAV:">"#)
    }

    /// - Parameters:
    ///   - description: a sentence for people, about the whole answer.
    ///   - syncToken: the state up to which the answer tells changes (RFC 6578 §6.4), a URI.
    public func end(description: String? = nil, syncToken: String? = nil) {
        writeDescription(description)
        if let syncToken { output.element("D:", "sync-token", escaped: Array(syncToken.utf8)) }
        output.markup("</D:multistatus>")
    }

    /// Starts the answer to an extended MKCOL (RFC 5689 §5.2): propstats follow, and ``endMkColResponse()``.
    public func beginMkColResponse() {
        output.markup(#"<?xml version="1.0" encoding="utf-8"?><D:mkcol-response xmlns:D="DAV:">"#)
    }

    /// Ends what ``beginMkColResponse()`` has begun.
    public func endMkColResponse() { output.markup("</D:mkcol-response>") }

    /// Starts the answer about one resource.
    /// - Parameters:
    ///   - href: percent-encoded and without what XML does not take; ``Href/sanitise(_:)`` makes it so.
    ///   - isCollection: adds a slash, unless there is one already.
    public func beginResponse(href: [UInt8], isCollection: Bool = false) {
        output.markup("<D:response><D:href>")
        output.bytes(href)
        if isCollection, href.last != UInt8(ascii: "/") { output.byte(UInt8(ascii: "/")) }
        output.markup("</D:href>")
        hasResult = false
    }

    /// Starts the answer about a member.
    /// - Parameters:
    ///   - href: of the collection, as for ``beginResponse(href:isCollection:)``, with a slash at its end.
    ///   - member: its name, any bytes.
    ///   - isCollection: adds a slash.
    public func beginResponse(href: [UInt8], member: [UInt8], isCollection: Bool) {
        output.markup("<D:response><D:href>")
        output.bytes(href)
        unsafe output.bytes(limit: PercentCoding.longest(member.count)) {
            unsafe PercentCoding.write(member, to: $0)
        }
        output.markup(isCollection ? "/</D:href>" : "</D:href>")
        hasResult = false
    }

    /// Ends the answer about one resource. One that got neither a propstat nor a status had nothing to report:
    /// it gets the status 200, because the grammar wants one of them (§14.24).
    public func endResponse(condition: ErrorBody.Condition? = nil, description: String? = nil) {
        if !hasResult { responseStatus(.ok) }
        writeError(condition)
        writeDescription(description)
        output.markup("</D:response>")
    }

    /// The status of the resource as a whole, instead of propstats.
    public func responseStatus(_ status: HTTPStatus) {
        writeStatus(status)
        hasResult = true
    }

    public func beginPropStat() { isPropStatPending = true }

    /// Ends a group of properties; each propstat of a response has a status of its own.
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

    /// Called before each property.
    func openPropStat() {
        guard isPropStatPending else { return }
        isPropStatPending = false
        isPropStatOpen = true
        output.markup("<D:propstat><D:prop>")
    }

    /// Bytes written and not yet taken.
    public var count: Int { output.count }

    /// Makes room for so many more bytes at once, where it is known that they will come.
    public func reserve(_ byteCount: Int) { output.reserve(byteCount) }

    /// Everything written since the last call.
    public func drain() -> [UInt8] { output.drain() }

    /// Moves as much as fits behind what `buffer` holds; the rest stays for the next call.
    /// - Returns: how many bytes were moved.
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
