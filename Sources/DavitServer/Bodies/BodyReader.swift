public import DavitHTTP

/// Reads the content of a request in the form that a route needs.
///
/// Content over a limit is answered with 413, malformed content with 400 and its offset, and an unsupported
/// type, charset or coding with 415; the action is then not called. All readers defined here except
/// `stream` decode content in gzip or deflate. Limits apply to both the encoded and the decoded content.
/// Decoded content over 1 MiB that is more than 200 times as long as the encoded content is answered with
/// 413.
public struct BodyReader<Value>: Sendable {
    let read: @Sendable (HTTPRequest, TemporaryFiles) async throws -> Value

    /// - Parameter read: called on the event loop of the connection, once per request. May throw any error,
    ///   like an action; see ``Router``.
    public init(_ read: @escaping @Sendable (HTTPRequest) async throws -> Value) {
        self.read = { request, _ in try await read(request) }
    }

    /// - Parameter read: also receives the storage for content that is too long for memory.
    public init(withFiles read: @escaping @Sendable (HTTPRequest, TemporaryFiles) async throws -> Value) {
        self.read = read
    }
}

extension BodyReader where Value == [UInt8] {
    /// Returns the decoded bytes.
    public static func bytes(limitBytes: Int = 1 << 20) -> Self {
        Self { request throws(HTTPError) in try await request.content(limitBytes: limitBytes) }
    }
}

extension BodyReader where Value == String {
    /// Returns text in the charset of Content-Type, which must be one of ``DavitHTTP/Charset``; UTF-8 if it
    /// specifies none.
    public static func text(limitBytes: Int = 1 << 20) -> Self {
        Self { request throws(HTTPError) in
            let charset = try request.contentCharset()
            let bytes = try await request.content(limitBytes: limitBytes)
            do throws(Charset.DecodingError) {
                return try charset.decode(bytes)
            } catch {
                throw HTTPError(.badRequest, "The text is malformed at byte \(error.offset).")
            }
        }
    }
}

extension BodyReader where Value == FormFields {
    /// Parses `application/x-www-form-urlencoded`.
    public static func form(limitBytes: Int = 1 << 20, limitFields: Int = 1000) -> Self {
        Self { request throws(HTTPError) in
            guard request.contentType?.essence == "application/x-www-form-urlencoded" else {
                throw HTTPError(.unsupportedMediaType, "Expected a URL-encoded form.")
            }
            let charset = try request.contentCharset()
            let bytes = try await request.content(limitBytes: limitBytes)
            do throws(FormFields.ParseError) {
                return try FormFields(parsing: bytes, limitFields: limitFields, charset: charset)
            } catch {
                throw Self.refusal(error)
            }
        }
    }

    private static func refusal(_ error: FormFields.ParseError) -> HTTPError {
        switch error {
        case .brokenEscape(let offset):
            HTTPError(.badRequest, "Malformed percent-encoding at byte \(offset) of the form.")
        case .malformedText(let offset):
            HTTPError(.badRequest, "Malformed text in the form data starting at byte \(offset).")
        case .tooManyFields(let limit):
            HTTPError(.contentTooLarge, "The form has more than \(limit) fields.")
        }
    }
}

extension BodyReader where Value == BodyChunks {
    /// Returns the content as it arrives, without removing its content coding.
    public static var stream: Self {
        Self { request throws(HTTPError) in BodyChunks(request.body) }
    }
}

extension BodyReader where Value == TemporaryFile {
    /// Stores content of any type: up to 256 KiB in memory, longer content in a file.
    ///
    /// The action is called once all content has arrived. If the length is known and exceeds the available
    /// space, the request is answered with 507 after at most 1 MiB has been read.
    public static func file(limitBytes: Int64 = 4 << 30) -> Self {
        Self(withFiles: { request, files in
            let body = try request.decodedBody(limitBytes: limitBytes)
            var writer = TemporaryWriter(in: files, expectedBytes: body.declaredLength)
            var memoryBytes = BodyChunks.memoryBytes
            guard body.isPresent else { return writer.finish() }
            let length = min(body.declaredLength ?? .max, Int64(BodyChunks.bufferBytes))
            let buffer = IOBuffer(capacity: max(Int(length), 1))
            while writer.length < body.declaredLength ?? .max, try await body.fill(buffer) > 0 {
                guard writer.length + Int64(buffer.count) <= limitBytes else {
                    throw HTTPError.tooLarge(limitBytes)
                }
                try await writer.append(buffer, 0..<buffer.count, memoryBytes: &memoryBytes)
                buffer.removeAll()
            }
            return writer.finish()
        })
    }
}
