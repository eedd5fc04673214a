package import DavitHTTP

extension HTTPRequest {
    /// Returns the entire content, decoded; see ``decodedBody(limitBytes:)``.
    /// - Throws: 413 if the content exceeds the limit, before anything is read if Content-Length exceeds it;
    ///   415 for unsupported codings; 400 if the encoded content is malformed.
    package func content(limitBytes: Int) async throws(HTTPError) -> [UInt8] {
        let body = try decodedBody(limitBytes: Int64(limitBytes))
        var bytes: [UInt8] = []
        guard body.isPresent else { return bytes }
        let capacity = body.declaredLength.map { min(max(Int($0), 1), 64 << 10) } ?? 16 << 10
        let buffer = IOBuffer(capacity: capacity)
        // If the length is known, the read that would detect the end is skipped.
        while Int64(bytes.count) < body.declaredLength ?? .max, try await body.read(into: buffer) > 0 {
            unsafe buffer.withBytes { unsafe bytes.append(contentsOf: $0) }
            buffer.removeAll()
            if bytes.count > limitBytes { throw .tooLarge(Int64(limitBytes)) }
        }
        return bytes
    }

    /// The charset of Content-Type; UTF-8 if it specifies none.
    func contentCharset() throws(HTTPError) -> Charset {
        do throws(Charset.Unsupported) {
            return try contentType?.charset() ?? .utf8
        } catch {
            throw HTTPError(.unsupportedMediaType, "Unsupported charset.")
        }
    }
}

extension HTTPError {
    static func tooLarge(_ limitBytes: Int64) -> HTTPError {
        HTTPError(.contentTooLarge, "The content is longer than \(limitBytes) bytes.")
    }
}

extension RequestBody {
    /// Reads until the buffer is full or the content ends, to reduce the number of calls that switch threads.
    /// - Returns: the number of bytes in the buffer.
    func fill(_ buffer: IOBuffer) async throws(HTTPError) -> Int {
        while buffer.freeCount > 0 {
            if try await read(into: buffer) == 0 { break }
        }
        return buffer.count
    }
}
