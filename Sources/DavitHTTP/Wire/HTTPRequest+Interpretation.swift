/// Interpretation of the fields. The parser calls `removeAll`, `append` for each line, `keepHead` and
/// `interpretFields`, in this order.
extension HTTPRequest {
    /// Parses a request from memory, without a connection.
    /// - Parameter head: exactly one complete head.
    /// - Throws: the errors that ``HeadParser/parse(_:into:)`` throws; 400 for an incomplete head.
    package convenience init(parsing head: [UInt8]) throws(HTTPError) {
        self.init()
        var parser = HeadParser()
        let result = unsafe head.withUnsafeBytes { bytes in
            Result { () throws(HTTPError) in try unsafe parser.parse(bytes, into: self) }
        }
        guard try result.get() == head.count else { throw HTTPError(.badRequest, "Malformed request head.") }
    }

    /// Validates Host, and evaluates the fields that describe the message and its connection.
    /// - Throws: 400, 413, 417 or 501.
    package func interpretFields() throws(HTTPError) {
        try checkHost()
        framing = try BodyFraming(of: self)
        try interpretExpect()
        interpretConnection()
    }

    /// Calls `body` for each element of a list field, which may span several lines (RFC 9110 §5.3).
    package func forEachElement<E: Error>(
        of name: FieldName, _ body: (borrowing Span<UInt8>) throws(E) -> Void
    ) throws(E) {
        guard contains(name) else { return }
        let head = head
        for line in lines where line.name == name {
            try head.span.extracting(line.valueRange).forEachElement(body)
        }
    }

    /// Validates Host. RFC 9112 §3.2: HTTP/1.1 requires exactly one valid Host. An empty Host would yield an
    /// `http` URI without a host, which recipients must reject (RFC 9110 §4.2.1).
    private func checkHost() throws(HTTPError) {
        guard contains(.host) else {
            if minorVersion >= 1 { throw HTTPError(.badRequest, "Missing Host field.") }
            return
        }
        guard let kind = withOnlyValue(of: .host, kindOfHost) else {
            throw HTTPError(.badRequest, "Multiple Host fields.")
        }
        guard let kind else { throw HTTPError(.badRequest, "Malformed Host field.") }
        hostKind = kind
    }

    /// Interprets Expect (RFC 9110 §10.1.1), which is ignored in HTTP/1.0.
    private func interpretExpect() throws(HTTPError) {
        guard minorVersion >= 1, contains(.expect) else { return }
        var isContinue = true
        forEachElement(of: .expect) { element in
            if !element.equalsIgnoringCase("100-continue") { isContinue = false }
        }
        guard isContinue else {
            throw HTTPError(.expectationFailed, "Unsupported expectation.")
        }
        expectsContinue = framing != .none
    }

    /// Determines whether the client keeps the connection open (RFC 9112 §9.3).
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
