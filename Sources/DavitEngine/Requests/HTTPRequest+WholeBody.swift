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

    /// Returns the entire content, for the XML bodies of WebDAV.
    /// - Throws: 413 if the content is longer than `limitBytes`, before reading if Content-Length is larger;
    ///   415 for an unknown charset.
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
