public import DavitHTTP

/// How a route wants the content of its requests.
///
/// Content over a limit is 413, malformed content 400 with the offset, and a type, charset or coding that cannot be
/// read 415; in each case the action is not called. The codings gzip and deflate are undone, and limits hold for the
/// content as sent and for what comes out of it; content that becomes more than 200 times as long is 413.
public struct BodyReader<Value>: Sendable {
    let read: @Sendable (HTTPRequest, TemporaryFiles) async throws -> Value

    /// - Parameter read: called on the event loop of the connection, once for each request. It may throw anything, as
    ///   an action may; see ``Router``.
    public init(_ read: @escaping @Sendable (HTTPRequest) async throws -> Value) {
        self.read = { request, _ in try await read(request) }
    }

    /// - Parameter read: also gets the place for what is too long for memory.
    public init(withFiles read: @escaping @Sendable (HTTPRequest, TemporaryFiles) async throws -> Value) {
        self.read = read
    }
}

extension BodyReader where Value == [UInt8] {
    /// The bytes, decoded.
    public static func bytes(limitBytes: Int = 1 << 20) -> Self {
        Self { request throws(HTTPError) in try await request.content(limitBytes: limitBytes) }
    }
}

extension BodyReader where Value == String {
    /// Text in the charset of Content-Type, which is one of ``DavitHTTP/Charset``; UTF-8 where it names none.
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
    /// `application/x-www-form-urlencoded`.
    public static func form(limitBytes: Int = 1 << 20, limitFields: Int = 1000) -> Self {
        Self { request throws(HTTPError) in
            guard request.contentType?.essence == "application/x-www-form-urlencoded" else {
                throw HTTPError(.unsupportedMediaType, "A URL-encoded form is expected here.")
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
            HTTPError(.badRequest, "The form has a broken percent-escape at byte \(offset).")
        case .malformedText(let offset):
            HTTPError(.badRequest, "The form has malformed text in what begins at byte \(offset).")
        case .tooManyFields(let limit):
            HTTPError(.contentTooLarge, "The form has more than \(limit) fields.")
        }
    }
}

extension BodyReader where Value == BodyChunks {
    /// The content as it comes, in whatever coding it is.
    public static var stream: Self {
        Self { request throws(HTTPError) in BodyChunks(request.body) }
    }
}

extension BodyReader where Value == TemporaryFile {
    /// Content of any length, whatever its type: up to 256 KiB in memory, else in a file while it comes.
    ///
    /// The action is called when all of it is there. Where the length is told and there is no room for it, the answer is
    /// 507 before anything is read.
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
