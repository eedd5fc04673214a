public import DavitHTTP

/// A form sent as `multipart/form-data` (RFC 7578).
public struct MultipartForm: Sendable {
    /// A part with a file name.
    public struct Upload: Sendable {
        /// The name of the form control.
        public let name: String
        /// The file name sent by the client, without any path; empty if no file was selected.
        public let fileName: String
        /// The content type sent by the client.
        public let contentType: ContentType?
        /// The content, in memory or in an unnamed file; deleted when the last reference is released, unless
        /// the file has been moved.
        public let file: TemporaryFile
    }

    /// The parts without a file name, as text, in the order sent.
    public let fields: FormFields
    /// The files, in the order sent.
    public let files: [Upload]

    /// Returns the value of the first field with this name.
    public subscript(name: String) -> String? { fields[name] }

    /// Returns the first file of this control.
    public func file(_ name: String) -> Upload? { files.first { $0.name == name } }

    /// Returns all files of this control.
    public func files(_ name: String) -> [Upload] { files.filter { $0.name == name } }
}

extension BodyReader where Value == MultipartForm {
    /// Reads `multipart/form-data`. Fields are kept in memory, and so are files up to 256 KiB in total; each of
    /// the others is stored in a temporary file. The action is called once the entire content has arrived.
    ///
    /// A field is decoded in the charset of its part, else in the charset that the field `_charset_` specifies
    /// (RFC 7578 §4.6), else in UTF-8.
    public static func multipart(limits: MultipartLimits = MultipartLimits()) -> Self {
        Self(withFiles: { request, files in
            guard let type = request.contentType, type.essence == "multipart/form-data" else {
                throw HTTPError(.unsupportedMediaType, "Expected a multipart form.")
            }
            guard let boundary = type.parameters["boundary"],
                let parser = MultipartParser(boundary: boundary, limits: limits)
            else { throw HTTPError(.badRequest, "The form boundary is missing or invalid.") }
            let body = try request.decodedBody(limitBytes: limits.contentBytes)
            var receiver = MultipartReceiver(files: files, limits: limits, body.declaredLength)
            try await receiver.receive(body, parser)
            return try receiver.form()
        })
    }
}

/// Receives the parts of a form and stores each as a field or a file.
private struct MultipartReceiver {
    private enum Part {
        case none
        case field(PartHead, [UInt8])
        case file(PartHead, TemporaryWriter)
    }

    private let temporary: TemporaryFiles
    private let limits: MultipartLimits
    /// The length of the content if known; passed to the first file, so that a form that exceeds the
    /// available space is rejected early.
    private let expectedBytes: Int64?
    private var part = Part.none
    private var fields: [(head: PartHead, bytes: [UInt8])] = []
    private var files: [MultipartForm.Upload] = []
    private var fieldBytes = 0
    private var fileBytes: Int64 = 0
    private var fileCount = 0
    private var memoryBytes = BodyChunks.memoryBytes

    init(files: TemporaryFiles, limits: MultipartLimits, _ expectedBytes: Int64?) {
        temporary = files
        self.limits = limits
        self.expectedBytes = expectedBytes
    }

    /// Reads the entire content, to detect data after the form.
    mutating func receive(_ body: any RequestBody, _ parser: consuming MultipartParser) async throws {
        // Unparsed bytes never fill the buffer, unless it contains the entire content.
        let largest = max(BodyChunks.bufferBytes, 2 * limits.partHeadBytes)
        let length = body.declaredLength.map { Int(min($0, Int64(largest))) } ?? largest
        let buffer = IOBuffer(capacity: max(length, 1))
        var received: Int64 = 0
        while true {
            let before = buffer.count
            let isAtEnd = try await body.fill(buffer) == before
            received += Int64(buffer.count - before)
            // The limit also covers the data between the parts.
            if received > limits.contentBytes { throw HTTPError.tooLarge(limits.contentBytes) }
            var index = 0
            // Merge consecutive data of one part, so that content resembling delimiters does not cause many
            // small writes.
            var data = 0..<0
            while true {
                let event = try Self.event(&parser, buffer, &index)
                if case .data(let range) = event {
                    data = data.isEmpty ? range : data.lowerBound..<range.upperBound
                    continue
                }
                if !data.isEmpty { try await take(buffer, data) }
                data = 0..<0
                if case .part(let head) = event { try begin(head) }
                if event == .partEnd { end() }
                if event == .end { return try await Self.drop(body, buffer, index, received) }
                if event == .needMore { break }
            }
            if isAtEnd {
                do throws(MultipartError) { try parser.endOfContent(unused: buffer.count) } catch {
                    throw error.httpError
                }
            }
            buffer.removeFirst(index)
            parser.didDrop(index)
        }
    }

    /// Reads and discards the epilogue after the form (RFC 2046 §5.1.1).
    /// - Throws: 400 if it exceeds ``MultipartLimits/trailerBytes``.
    private static func drop(
        _ body: any RequestBody, _ buffer: IOBuffer, _ index: Int, _ received: Int64
    ) async throws {
        let offset = received - Int64(buffer.count - index)
        var count = buffer.count - index
        buffer.removeAll()
        while count <= MultipartLimits.trailerBytes {
            let more = try await body.read(into: buffer)
            if more == 0 { return }
            count += more
            buffer.removeAll()
        }
        throw MultipartError.trailingData(offset: offset).httpError
    }

    private static func event(
        _ parser: inout MultipartParser, _ buffer: IOBuffer, _ index: inout Int
    ) throws(HTTPError) -> MultipartParser.Event {
        do throws(MultipartError) {
            return try unsafe buffer.withBytes { bytes throws(MultipartError) in
                try parser.next(in: unsafe bytes.bindMemory(to: UInt8.self).span, at: &index)
            }
        } catch {
            throw error.httpError
        }
    }

    private mutating func begin(_ head: PartHead) throws(HTTPError) {
        guard head.fileName != nil else {
            part = .field(head, [])
            return
        }
        fileCount += 1
        guard fileCount <= limits.files else {
            throw HTTPError(.contentTooLarge, "The form has more than \(limits.files) files.")
        }
        let expected = fileCount == 1 ? expectedBytes : nil
        part = .file(head, TemporaryWriter(in: temporary, expectedBytes: expected))
    }

    private mutating func take(_ buffer: IOBuffer, _ range: Range<Int>) async throws {
        switch part {
        case .none: break
        case .field(let head, var bytes):
            fieldBytes += range.count
            guard fieldBytes <= limits.fieldBytes else {
                throw HTTPError(
                    .contentTooLarge, "The form fields exceed \(limits.fieldBytes) bytes.")
            }
            part = .none
            unsafe buffer.withBytes { unsafe bytes.append(contentsOf: $0[range]) }
            part = .field(head, bytes)
        case .file(let head, var writer):
            fileBytes += Int64(range.count)
            guard fileBytes <= limits.fileBytes else {
                throw HTTPError(
                    .contentTooLarge, "The uploaded files exceed \(limits.fileBytes) bytes.")
            }
            // Release the reference in `part`, so that appending does not copy.
            part = .none
            try await writer.append(buffer, range, memoryBytes: &memoryBytes)
            part = .file(head, writer)
        }
    }

    private mutating func end() {
        switch part {
        case .none: break
        case .field(let head, let bytes): fields.append((head, bytes))
        case .file(let head, let writer):
            files.append(
                .init(
                    name: head.name, fileName: head.fileName ?? "", contentType: head.contentType,
                    file: writer.finish()))
        }
        part = .none
    }

    /// - Throws: 415 for an unsupported charset, 400 for text that is malformed in its charset.
    consuming func form() throws(HTTPError) -> MultipartForm {
        let common = fields.first { $0.head.name == "_charset_" }?.bytes
        var texts: [FormFields.Field] = []
        for (head, bytes) in fields {
            let label = head.contentType?.parameters["charset"] ?? common
            texts.append(.init(name: head.name, value: try Self.text(bytes, label)))
        }
        return MultipartForm(fields: FormFields(texts), files: files)
    }

    private static func text(_ bytes: [UInt8], _ label: [UInt8]?) throws(HTTPError) -> String {
        let charset: Charset
        do throws(Charset.Unsupported) {
            charset =
                try label.map { label throws(Charset.Unsupported) in try Charset(label: label) } ?? .utf8
        } catch {
            throw HTTPError(.unsupportedMediaType, "Unsupported charset in a form field.")
        }
        do throws(Charset.DecodingError) {
            return try charset.decode(bytes)
        } catch {
            throw HTTPError(.badRequest, "Malformed text at byte \(error.offset) of a form field.")
        }
    }
}
