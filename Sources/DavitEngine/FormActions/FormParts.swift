internal import DavitHTTP
internal import DavitServer

/// The parts of a `multipart/form-data` body (RFC 7578), read in order as they arrive, without temporary files.
///
/// Not thread-safe: only the task of the request may use it.
final class FormParts {
    /// The limits of the parser. The number of parts suffices for a form that names all files of a large folder.
    private static let limits: MultipartLimits = {
        var limits = MultipartLimits()
        limits.parts = 100_000
        return limits
    }()
    /// The size of the buffer in bytes. The parser leaves fewer bytes than this unconsumed, so the buffer always has free
    /// space.
    private static let bufferBytes = 64 << 10

    private let body: any RequestBody
    private var parser: MultipartParser
    private let buffer = IOBuffer(capacity: FormParts.bufferBytes)
    /// The number of bytes of the buffer that the parser has consumed.
    private var index = 0
    /// The range of the buffer that contains unread content of the current part.
    private var pending = 0..<0
    /// The number of the current part; reads of an earlier part return nothing.
    private var number = 0
    private var isInPart = false
    private var isAtEnd = false

    /// - Throws: 415 for another media type; 400 if the boundary is missing or invalid.
    init(of request: HTTPRequest) throws(WebDAVError) {
        guard let type = request.contentType, type.essence == "multipart/form-data" else {
            throw WebDAVError(.unsupportedMediaType)
        }
        guard let boundary = type.parameters["boundary"],
            let parser = MultipartParser(boundary: boundary, limits: Self.limits)
        else { throw WebDAVError(.badRequest) }
        self.parser = parser
        body = request.body
    }

    /// Skips unread content of the current part, and returns the next part.
    /// - Returns: nil after the last part.
    /// - Throws: 400, 413 or 415 for an invalid form; connection errors.
    func next() async throws(WebDAVError) -> (head: PartHead, content: Content)? {
        while isInPart {
            pending = 0..<0
            try await advance()
        }
        while !isAtEnd {
            if let head = try await advance() {
                number += 1
                return (head, Content(of: self, number))
            }
        }
        return nil
    }

    /// Returns the content of a part that is not a file.
    /// - Parameter limitBytes: the maximum size in bytes; longer content is refused with 413.
    func text(_ content: Content, limitBytes: Int) async throws(WebDAVError) -> String {
        let text = IOBuffer(capacity: limitBytes + 1)
        while text.freeCount > 0, try await read(content.number, into: text) > 0 {}
        if text.freeCount == 0 { throw WebDAVError(.contentTooLarge) }
        return unsafe text.withBytes { unsafe String(decoding: $0, as: UTF8.self) }
    }

    /// Advances the parser by one step.
    /// - Returns: the head of a part if one begins; otherwise nil.
    @discardableResult
    private func advance() async throws(WebDAVError) -> PartHead? {
        switch try event() {
        case .part(let head):
            isInPart = true
            return head
        case .data(let range): pending = range
        case .partEnd: isInPart = false
        case .end:
            isAtEnd = true
            try await drop()
        case .needMore: try await fill()
        }
        return nil
    }

    private func event() throws(WebDAVError) -> MultipartParser.Event {
        do throws(MultipartError) {
            return try unsafe buffer.withBytes { bytes throws(MultipartError) in
                try parser.next(in: unsafe bytes.bindMemory(to: UInt8.self).span, at: &index)
            }
        } catch {
            switch error {
            case .malformed, .truncated, .trailingData: throw WebDAVError(.badRequest)
            case .transferEncoding: throw WebDAVError(.unsupportedMediaType)
            case .tooManyParts, .headTooLarge: throw WebDAVError(.contentTooLarge)
            }
        }
    }

    private func fill() async throws(WebDAVError) {
        buffer.removeFirst(index)
        parser.didDrop(index)
        index = 0
        let count: Int
        do throws(HTTPError) { count = try await body.read(into: buffer) } catch {
            throw WebDAVError(connection: error)
        }
        if count == 0 { throw WebDAVError(.badRequest) }
    }

    /// Discards the epilogue of the body, which has no meaning (RFC 2046 §5.1.1).
    private func drop() async throws(WebDAVError) {
        do throws(HTTPError) {
            repeat { buffer.removeAll() } while try await body.read(into: buffer) > 0
        } catch {
            throw WebDAVError(connection: error)
        }
    }

    private func read(_ part: Int, into target: IOBuffer) async throws(WebDAVError) -> Int {
        if target.freeCount == 0 { return 0 }
        while part == number, isInPart {
            if !pending.isEmpty {
                let taken = unsafe buffer.withBytes {
                    unsafe target.append(UnsafeRawBufferPointer(rebasing: $0[pending]))
                }
                pending = (pending.lowerBound + taken)..<pending.upperBound
                return taken
            }
            try await advance()
        }
        return 0
    }

    /// The content of a part as a request body for PUT.
    final class Content: RequestBody {
        private let parts: FormParts
        fileprivate let number: Int

        fileprivate init(of parts: FormParts, _ number: Int) {
            self.parts = parts
            self.number = number
        }

        var isPresent: Bool { true }
        var declaredLength: Int64? { nil }

        func read(into buffer: IOBuffer) async throws(HTTPError) -> Int {
            do throws(WebDAVError) { return try await parts.read(number, into: buffer) } catch {
                throw error.connectionError ?? HTTPError(error.status, "The form is malformed.")
            }
        }
    }
}
