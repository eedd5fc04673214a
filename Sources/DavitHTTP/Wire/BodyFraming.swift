/// How the end of a request's content is found (RFC 9112 §6.3).
package enum BodyFraming: Hashable, Sendable {
    /// There is no content: nothing announces any, or Content-Length is 0.
    case none
    /// So many bytes, at least 1.
    case length(Int64)
    case chunked

    /// More than any file has, and little enough that what is announced can be added to where a file ends.
    private static let maximumLength: Int64 = 1 << 62

    /// - Throws: 400 where a peer in front could see another end than this server does, 413 for a length
    ///   that no file has, 501 for a transfer coding that is not known.
    package init(of request: HTTPRequest) throws(HTTPError) {
        let lengthCount = request.count(of: .contentLength)
        if request.contains(.transferEncoding) {
            // §6.1: a sign of request smuggling in either case.
            guard lengthCount == 0 else {
                throw HTTPError(.badRequest, "Content-Length beside Transfer-Encoding")
            }
            guard request.minorVersion >= 1 else {
                throw HTTPError(.badRequest, "Transfer-Encoding in HTTP/1.0")
            }
            try Self.checkCodings(of: request)
            self = .chunked
            return
        }
        if lengthCount == 0 {
            self = .none
            return
        }
        // Several equal values may be merged (RFC 9110 §8.6), but no client sends them and attacks do.
        let value = request.withValue(of: .contentLength) { $0.decimalValue }
        guard lengthCount == 1, let length = value.flatMap({ $0 }) else {
            throw HTTPError(.badRequest, "Content-Length is not one number")
        }
        if length > Self.maximumLength { throw HTTPError(.contentTooLarge, "Content-Length is too large") }
        self = length == 0 ? .none : .length(length)
    }

    /// Lets only `chunked`, once, as the only coding pass.
    private static func checkCodings(of request: HTTPRequest) throws(HTTPError) {
        var count = 0
        var chunkedCount = 0
        var isChunkedLast = false
        try request.forEachElement(of: .transferEncoding) { coding throws(HTTPError) in
            guard !coding.isEmpty else { throw HTTPError(.badRequest, "an empty transfer coding") }
            for index in 0..<coding.count where !coding[index].isTokenCharacter {
                throw HTTPError(.badRequest, "a malformed transfer coding")
            }
            count += 1
            isChunkedLast = coding.equalsIgnoringCase("chunked")
            if isChunkedLast { chunkedCount += 1 }
        }
        // §6.3, number 4: where the content ends cannot be known, whether or not the last coding is known.
        guard isChunkedLast, chunkedCount == 1 else {
            throw HTTPError(.badRequest, "chunked is not the last coding, or stands twice")
        }
        guard count == 1 else { throw HTTPError(.notImplemented, "a transfer coding other than chunked") }
    }
}
