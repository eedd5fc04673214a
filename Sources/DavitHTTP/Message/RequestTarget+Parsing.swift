extension RequestTarget {
    package mutating func removeAll() {
        form = .origin
        rawPath.removeAll(keepingCapacity: true)
        rawQuery = nil
        authority = nil
        namesSecureScheme = false
    }

    /// Parses a request target (RFC 9112 §3.2); `method` determines the allowed forms.
    ///
    /// Accepts any visible ASCII character except `#`, including those that RFC 3986 requires to be encoded,
    /// because clients differ in what they encode.
    /// - Throws: 400.
    package mutating func parse(_ text: borrowing Span<UInt8>, method: HTTPMethod) throws(HTTPError) {
        for index in 0..<text.count {
            let byte = text[index]
            guard byte > 32, byte < 127, byte != UInt8(ascii: "#") else {
                throw HTTPError(.badRequest, "Invalid character in the request target.")
            }
        }
        guard !text.isEmpty else { throw HTTPError(.badRequest, "Missing request target.") }
        if method == .connect {
            try parseAuthority(text)
        } else if text[0] == UInt8(ascii: "/") {
            form = .origin
            parsePathAndQuery(text)
        } else if text.count == 1, text[0] == UInt8(ascii: "*") {
            guard method == .options else {
                throw HTTPError(.badRequest, "The request target * requires OPTIONS.")
            }
            form = .asterisk
        } else {
            try parseAbsolute(text, method: method)
        }
    }

    /// Parses `authority-form`, for CONNECT only (§3.2.3).
    private mutating func parseAuthority(_ text: borrowing Span<UInt8>) throws(HTTPError) {
        guard let parts = HostField.Parts(parsing: text), parts.port != nil else {
            throw HTTPError(.badRequest, "CONNECT requires a host and a port.")
        }
        form = .authority
        authority = [UInt8](copying: text)
    }

    /// Parses `absolute-form` (§3.2.2) with the scheme `http` or `https`.
    private mutating func parseAbsolute(
        _ text: borrowing Span<UInt8>, method: HTTPMethod
    ) throws(HTTPError) {
        let start: Int
        if text.startsIgnoringCase(with: "http://") {
            start = 7
        } else if text.startsIgnoringCase(with: "https://") {
            start = 8
        } else {
            throw HTTPError(.badRequest, "Unsupported request target.")
        }
        var end = start
        while end < text.count, text[end] != UInt8(ascii: "/"), text[end] != UInt8(ascii: "?") { end += 1 }
        // `Parts` rejects userinfo, as required by RFC 9110 §4.2.4.
        guard HostField.Parts(parsing: text.extracting(start..<end)) != nil else {
            throw HTTPError(.badRequest, "Malformed authority in the request target.")
        }
        form = .absolute
        namesSecureScheme = start == 8
        authority = [UInt8](copying: text.extracting(start..<end))
        parsePathAndQuery(text.extracting(end..<text.count))
        if rawPath.isEmpty {
            // §3.2.4: OPTIONS without path and query applies to the entire server.
            if method == .options, rawQuery == nil {
                form = .asterisk
            } else {
                rawPath.append(UInt8(ascii: "/"))
            }
        }
    }

    private mutating func parsePathAndQuery(_ text: borrowing Span<UInt8>) {
        if let mark = text.firstIndex(of: UInt8(ascii: "?")) {
            rawPath.append(copying: text.extracting(0..<mark))
            rawQuery = [UInt8](copying: text.extracting((mark + 1)..<text.count))
        } else {
            rawPath.append(copying: text)
        }
    }
}
