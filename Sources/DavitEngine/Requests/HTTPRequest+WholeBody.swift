internal import DavitHTTP
internal import DavitServer
internal import DavitWebDAV

extension HTTPRequest {
    /// Returns the value of a field that must occur at most once; nil if it is absent.
    /// - Throws: 400 if the field occurs more than once (RFC 9110 §5.3), or if `parse` returns nil.
    func value<Value>(
        of name: FieldName, _ parse: (borrowing Span<UInt8>) -> Value?
    ) throws(WebDAVError) -> Value? {
        guard contains(name) else { return nil }
        guard count(of: name) == 1, let value = withValue(of: name, parse) ?? nil else {
            throw WebDAVError(.badRequest)
        }
        return value
    }

    /// Returns the entire body, for the XML bodies of WebDAV.
    /// - Throws: 413 if the body is longer than `limitBytes`, without reading it if Content-Length already
    ///   exceeds the limit; 415 for an unsupported charset.
    func wholeBody(limitBytes: Int) async throws(WebDAVError) -> XMLBody {
        let charset = try xmlCharset
        do throws(HTTPError) {
            return XMLBody(bytes: try await content(limitBytes: limitBytes), charset: charset)
        } catch {
            if error.status == .contentTooLarge { throw WebDAVError(.contentTooLarge) }
            throw WebDAVError(connection: error)
        }
    }
}

/// Parses an XML body and converts a ``BodyError`` to an HTTP status.
func parsing<T>(_ body: () throws(BodyError) -> T) throws(WebDAVError) -> T {
    do throws(BodyError) { return try body() } catch { throw WebDAVError(body: error) }
}
