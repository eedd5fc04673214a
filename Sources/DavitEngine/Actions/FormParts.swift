internal import DavitHTTP
internal import DavitServer

/// The parts of a `multipart/form-data` (RFC 7578), one after the other, as they come: nothing of a file is kept.
///
/// Used by the task of the request alone.
final class FormParts {
    /// A form can name all files of a folder.
    private static let limits: MultipartLimits = {
        var limits = MultipartLimits()
        limits.parts = 100_000
        return limits
    }()
    /// What is kept always leaves room for more.
    private static let bufferBytes = 64 << 10

    private let body: any RequestBody
    private var parser: MultipartParser
    private let buffer = IOBuffer(capacity: FormParts.bufferBytes)
    /// How much of the buffer has been used.
    private var index = 0
    /// Content of the current part that nobody has taken yet.
    private var pending = 0..<0
    /// Counts the parts, so that who reads one that has passed gets nothing.
    private var number = 0
    private var isInPart = false
    private var isAtEnd = false

    /// - Throws: 415 for what is no such form, 400 for one without boundary.
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

    /// The next part; what is left of the one before is dropped.
    /// - Returns: nil behind the last one.
    /// - Throws: 400 and 413 for a form that is none; what the connection throws.
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

    /// The content of a part that is no file.
    /// - Parameter limitBytes: over it 413.
    func text(_ content: Content, limitBytes: Int) async throws(WebDAVError) -> String {
        let text = IOBuffer(capacity: limitBytes + 1)
        while text.freeCount > 0, try await read(content.number, into: text) > 0 {}
        if text.freeCount == 0 { throw WebDAVError(.contentTooLarge) }
        return unsafe text.withBytes { unsafe String(decoding: $0, as: UTF8.self) }
    }

    /// One step of the parser.
    /// - Returns: the head of a part that begins.
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

    /// Reads what follows the form; nobody needs it (RFC 2046 §5.1.1).
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

    /// The content of one part, as a PUT gets it.
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
