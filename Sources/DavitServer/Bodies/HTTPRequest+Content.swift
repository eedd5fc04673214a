package import DavitHTTP

extension HTTPRequest {
    /// The whole content, without content coding.
    /// - Throws: 413 over the limit, before reading where Content-Length tells; 415 for a content coding.
    package func content(limitBytes: Int) async throws(HTTPError) -> [UInt8] {
        try checkContent(limitBytes: Int64(limitBytes))
        var bytes: [UInt8] = []
        guard body.isPresent else { return bytes }
        let capacity = body.declaredLength.map { min(max(Int($0), 1), 64 << 10) } ?? 16 << 10
        let buffer = IOBuffer(capacity: capacity)
        while try await body.read(into: buffer) > 0 {
            unsafe buffer.withBytes { unsafe bytes.append(contentsOf: $0) }
            buffer.removeAll()
            if bytes.count > limitBytes { throw .tooLarge(Int64(limitBytes)) }
        }
        return bytes
    }

    /// What the head tells about the content, before any of it is read.
    func checkContent(limitBytes: Int64) throws(HTTPError) {
        try checkCoding()
        if let length = body.declaredLength, length > limitBytes { throw .tooLarge(limitBytes) }
    }

    /// - Throws: 415 for a content coding (RFC 9110 §8.4): what comes is not what the reader wants.
    func checkCoding() throws(HTTPError) {
        var isCoded = false
        forEachElement(of: .contentEncoding) { coding in
            if !coding.isEmpty, !coding.equalsIgnoringCase("identity") { isCoded = true }
        }
        if isCoded { throw HTTPError(.unsupportedMediaType, "The content has a coding.") }
    }

    /// The charset of Content-Type; UTF-8 where it names none.
    func contentCharset() throws(HTTPError) -> Charset {
        do throws(Charset.Unsupported) {
            return try contentType?.charset() ?? .utf8
        } catch {
            throw HTTPError(.unsupportedMediaType, "The charset is not one this server reads.")
        }
    }
}

extension HTTPError {
    static func tooLarge(_ limitBytes: Int64) -> HTTPError {
        HTTPError(.contentTooLarge, "The content is longer than \(limitBytes) bytes.")
    }
}

extension RequestBody {
    /// Reads until the buffer is full or the content ends, so that few calls follow where each is a hop.
    /// - Returns: how many bytes are in the buffer.
    func fill(_ buffer: IOBuffer) async throws(HTTPError) -> Int {
        while buffer.freeCount > 0 {
            if try await read(into: buffer) == 0 { break }
        }
        return buffer.count
    }
}
