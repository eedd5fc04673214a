/// What the parser does with a request, in this order: `removeAll`, lines one by one, `keepHead`,
/// `interpretFields`.
extension HTTPRequest {
    /// A request whose head is in memory, for clients without a socket.
    /// - Parameter head: one complete head and nothing behind it.
    /// - Throws: as ``HeadParser/parse(_:into:)``; 400 for a head that is not complete.
    package convenience init(parsing head: [UInt8]) throws(HTTPError) {
        self.init()
        var parser = HeadParser()
        let result = unsafe head.withUnsafeBytes { bytes in
            Result { () throws(HTTPError) in try unsafe parser.parse(bytes, into: self) }
        }
        guard try result.get() == head.count else { throw HTTPError(.badRequest, "not one head") }
    }

    /// Checks Host and finds out what the fields say about this message and its connection.
    /// - Throws: 400, 417 or 501.
    package func interpretFields() throws(HTTPError) {
        try checkHost()
        framing = try BodyFraming(of: self)
        try interpretExpect()
        interpretConnection()
    }

    /// Calls `body` for each element of a list field, whatever lines it is spread over (RFC 9110 §5.3).
    package func forEachElement<E: Error>(
        of name: FieldName, _ body: (borrowing Span<UInt8>) throws(E) -> Void
    ) throws(E) {
        guard contains(name) else { return }
        let head = head
        for line in lines where line.name == name {
            try head.span.extracting(line.valueRange).forEachElement(body)
        }
    }

    /// RFC 9112 §3.2: one valid Host, in HTTP/1.1 always. An empty one would make an `http` URI without
    /// host, which RFC 9110 §4.2.1 has recipients reject.
    private func checkHost() throws(HTTPError) {
        switch count(of: .host) {
        case 0:
            if minorVersion >= 1 { throw HTTPError(.badRequest, "no Host") }
        case 1:
            hostKind = kindOfHost()
            if hostKind == nil { throw HTTPError(.badRequest, "malformed Host") }
        default:
            throw HTTPError(.badRequest, "more than one Host")
        }
    }

    /// RFC 9110 §10.1.1; in HTTP/1.0 the field means nothing.
    private func interpretExpect() throws(HTTPError) {
        guard minorVersion >= 1, contains(.expect) else { return }
        var isContinue = true
        forEachElement(of: .expect) { element in
            if !element.equalsIgnoringCase("100-continue") { isContinue = false }
        }
        guard isContinue else {
            throw HTTPError(.expectationFailed, "an expectation other than 100-continue")
        }
        expectsContinue = framing != .none
    }

    /// RFC 9112 §9.3.
    private func interpretConnection() {
        keepsAlive = minorVersion >= 1
        guard contains(.connection) else { return }
        var closes = false
        forEachElement(of: .connection) { option in
            if option.equalsIgnoringCase("close") { closes = true }
            if option.equalsIgnoringCase("keep-alive") { keepsAlive = true }
        }
        if closes { keepsAlive = false }
    }
}
