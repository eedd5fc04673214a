/// `request-line = method SP request-target SP HTTP-version` (RFC 9112 §3).
enum RequestLine {
    /// Parses a line that ``LineScanner`` has accepted.
    /// - Throws: 400, or 505 for a major version other than 1.
    static func parse(_ line: borrowing Span<UInt8>, into request: HTTPRequest) throws(HTTPError) {
        var methodEnd = 0
        while methodEnd < line.count, line[methodEnd].isTokenCharacter { methodEnd += 1 }
        guard methodEnd > 0, methodEnd < line.count, line[methodEnd] == UInt8(ascii: " ") else {
            throw HTTPError(.badRequest, "Missing or malformed method.")
        }
        let targetStart = methodEnd + 1
        var targetEnd = targetStart
        while targetEnd < line.count, line[targetEnd] != UInt8(ascii: " ") { targetEnd += 1 }
        guard targetEnd < line.count else { throw HTTPError(.badRequest, "Missing HTTP version.") }

        request.minorVersion = try minorVersion(line.extracting((targetEnd + 1)..<line.count))
        request.method = HTTPMethod(parsing: line.extracting(0..<methodEnd))
        try request.parsedTarget.parse(line.extracting(targetStart..<targetEnd), method: request.method)
    }

    /// Parses `HTTP-version = HTTP-name "/" DIGIT "." DIGIT`, case-sensitive (§2.3).
    private static func minorVersion(_ text: borrowing Span<UInt8>) throws(HTTPError) -> UInt8 {
        let name: StaticString = "HTTP/"
        var isValid = text.count == 8 && text[5].isDigit && text[6] == UInt8(ascii: ".") && text[7].isDigit
        for index in 0..<5 where isValid { isValid = unsafe text[index] == name.utf8Start[index] }
        guard isValid else { throw HTTPError(.badRequest, "Malformed HTTP version.") }
        guard text[5] == UInt8(ascii: "1") else {
            throw HTTPError(.versionNotSupported, "Unsupported HTTP version.")
        }
        return text[7] - UInt8(ascii: "0")
    }
}
