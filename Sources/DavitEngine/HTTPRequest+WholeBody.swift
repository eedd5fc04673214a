internal import DavitHTTP
internal import DavitWebDAV

extension HTTPRequest {
    /// The whole content, for the XML bodies of WebDAV.
    /// - Throws: 413 over `limitBytes`, before reading where Content-Length tells.
    func wholeBody(limitBytes: Int) async throws(WebDAVError) -> [UInt8] {
        guard body.isPresent else { return [] }
        if let length = body.declaredLength, length > Int64(limitBytes) {
            throw WebDAVError(.contentTooLarge)
        }
        let expected = Int(min(max(body.declaredLength ?? .max, 1), 16 << 10))
        let buffer = IOBuffer(capacity: expected)
        var bytes: [UInt8] = []
        do throws(HTTPError) {
            // The read that would tell the end is saved where the length is known.
            while bytes.count < body.declaredLength ?? .max, try await body.read(into: buffer) > 0 {
                unsafe buffer.withBytes { unsafe bytes.append(contentsOf: $0) }
                buffer.removeAll()
                if bytes.count > limitBytes { break }
            }
        } catch {
            throw WebDAVError(connection: error)
        }
        if bytes.count > limitBytes { throw WebDAVError(.contentTooLarge) }
        return bytes
    }
}

/// Parses an XML body and gives its error a status.
func parsing<T>(_ body: () throws(BodyError) -> T) throws(WebDAVError) -> T {
    do throws(BodyError) { return try body() } catch { throw WebDAVError(body: error) }
}
