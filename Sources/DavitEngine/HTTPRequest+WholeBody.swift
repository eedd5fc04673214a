internal import DavitHTTP
internal import DavitServer
internal import DavitWebDAV

extension HTTPRequest {
    /// The whole content, for the XML bodies of WebDAV.
    /// - Throws: 413 over `limitBytes`, before reading where Content-Length tells.
    func wholeBody(limitBytes: Int) async throws(WebDAVError) -> [UInt8] {
        do throws(HTTPError) {
            return try await content(limitBytes: limitBytes)
        } catch {
            if error.status == .contentTooLarge { throw WebDAVError(.contentTooLarge) }
            throw WebDAVError(connection: error)
        }
    }
}

/// Parses an XML body and gives its error a status.
func parsing<T>(_ body: () throws(BodyError) -> T) throws(WebDAVError) -> T {
    do throws(BodyError) { return try body() } catch { throw WebDAVError(body: error) }
}
