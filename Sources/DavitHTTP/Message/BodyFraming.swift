/// How the end of a request's content is determined (RFC 9112 §6.3).
package enum BodyFraming: Hashable, Sendable {
    /// No content: Content-Length and Transfer-Encoding are missing, or Content-Length is 0.
    case none
    /// Content of this many bytes, at least 1.
    case length(Int64)
    case chunked

    /// Larger than any file, but small enough to be added to a file offset without overflow.
    private static let maximumLength: Int64 = 1 << 62

    /// Determines the framing of a request.
    /// - Throws: 400 for framing that a proxy could interpret differently, 413 for a length that no file can
    ///   have, 501 for an unsupported transfer coding.
    package init(of request: HTTPRequest) throws(HTTPError) {
        let lengthCount = request.count(of: .contentLength)
        if request.contains(.transferEncoding) {
            // §6.1: both of the following cases can indicate request smuggling.
            guard lengthCount == 0 else {
                throw HTTPError(.badRequest, "Content-Length and Transfer-Encoding cannot be combined.")
            }
            guard request.minorVersion >= 1 else {
                throw HTTPError(.badRequest, "Transfer-Encoding is not allowed in HTTP/1.0.")
            }
            try Self.checkCodings(of: request)
            self = .chunked
            return
        }
        if lengthCount == 0 {
            self = .none
            return
        }
        // A recipient may merge repeated equal values (RFC 9110 §8.6), but legitimate clients do not send
        // them.
        let value = request.withValue(of: .contentLength) { $0.decimalValue }
        guard lengthCount == 1, let length = value.flatMap({ $0 }) else {
            throw HTTPError(.badRequest, "Invalid Content-Length.")
        }
        if length > Self.maximumLength {
            throw HTTPError(.contentTooLarge, "The Content-Length is too large.")
        }
        self = length == 0 ? .none : .length(length)
    }

    /// Requires `chunked` exactly once, as the only coding.
    private static func checkCodings(of request: HTTPRequest) throws(HTTPError) {
        var count = 0
        var chunkedCount = 0
        var isChunkedLast = false
        try request.forEachElement(of: .transferEncoding) { coding throws(HTTPError) in
            guard !coding.isEmpty else { throw HTTPError(.badRequest, "Empty transfer coding.") }
            for index in 0..<coding.count where !coding[index].isTokenCharacter {
                throw HTTPError(.badRequest, "Malformed transfer coding.")
            }
            count += 1
            isChunkedLast = coding.equalsIgnoringCase("chunked")
            if isChunkedLast { chunkedCount += 1 }
        }
        // §6.3, item 4: without a final chunked coding, the end of the content is unknown.
        guard isChunkedLast, chunkedCount == 1 else {
            throw HTTPError(
                .badRequest, "The transfer coding chunked must be the last one and occur only once.")
        }
        guard count == 1 else { throw HTTPError(.notImplemented, "Unsupported transfer coding.") }
    }
}
