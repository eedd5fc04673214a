public import DavitHTTP

/// A form that was sent as `multipart/form-data` (RFC 7578).
public struct MultipartForm: Sendable {
    /// A part with a file name. Its content disappears with the form, unless the file was given another place.
    public struct Upload: Sendable {
        /// Of the control that it was chosen in.
        public let name: String
        /// What the client calls it, without any path; empty where no file was chosen.
        public let fileName: String
        /// What the client says it is.
        public let contentType: ContentType?
        /// The content, in memory or in a file without a name; gone with the last who holds it.
        public let file: TemporaryFile
    }

    /// The parts without a file name, as text, in the order sent.
    public let fields: FormFields
    /// The files, in the order sent.
    public let files: [Upload]

    /// The value of the first field with this name.
    public subscript(name: String) -> String? { fields[name] }

    /// The first file of this control.
    public func file(_ name: String) -> Upload? { files.first { $0.name == name } }

    /// All files of this control.
    public func files(_ name: String) -> [Upload] { files.filter { $0.name == name } }
}

extension BodyReader where Value == MultipartForm {
    /// `multipart/form-data`: fields in memory; files in memory up to 256 KiB together, else each in a file while it
    /// comes. The action is called when all of the content is there, down to its last byte.
    ///
    /// A field is text in the charset its part names, else in that of the field `_charset_` (RFC 7578 §4.6), else UTF-8.
    public static func multipart(limits: MultipartLimits = MultipartLimits()) -> Self {
        Self(withFiles: { request, files in
            guard let type = request.contentType, type.essence == "multipart/form-data" else {
                throw HTTPError(.unsupportedMediaType, "A multipart form is expected here.")
            }
            guard let boundary = type.parameters["boundary"],
                let parser = MultipartParser(boundary: boundary, limits: limits)
            else { throw HTTPError(.badRequest, "The form has no boundary.") }
            let body = try request.decodedBody(limitBytes: limits.contentBytes)
            var receiver = MultipartReceiver(files: files, limits: limits, body.declaredLength)
            try await receiver.receive(body, parser)
            return try receiver.form()
        })
    }
}

/// Puts the parts of a form where they belong.
private struct MultipartReceiver {
    private enum Part {
        case none
        case field(PartHead, [UInt8])
        case file(PartHead, TemporaryWriter)
    }

    private let temporary: TemporaryFiles
    private let limits: MultipartLimits
    /// Of the whole content; the first file is told, so that one that has no room is refused early.
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

    /// Reads all of the content: what is cut behind the form is cut, too.
    mutating func receive(_ body: any RequestBody, _ parser: consuming MultipartParser) async throws {
        // What is kept always leaves room for more, unless all of the content is in the buffer.
        let largest = max(BodyChunks.bufferBytes, 2 * limits.partHeadBytes)
        let length = body.declaredLength.map { Int(min($0, Int64(largest))) } ?? largest
        let buffer = IOBuffer(capacity: max(length, 1))
        var received: Int64 = 0
        while true {
            let before = buffer.count
            let isAtEnd = try await body.fill(buffer) == before
            received += Int64(buffer.count - before)
            // Also what stands between the parts counts.
            if received > limits.contentBytes { throw HTTPError.tooLarge(limits.contentBytes) }
            var index = 0
            // Of one part; text like a delimiter must not cost a call each time.
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

    /// Reads what follows the form; nobody needs it (RFC 2046 §5.1.1).
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
                    .contentTooLarge, "The fields of the form are longer than \(limits.fieldBytes) bytes.")
            }
            part = .none
            unsafe buffer.withBytes { unsafe bytes.append(contentsOf: $0[range]) }
            part = .field(head, bytes)
        case .file(let head, var writer):
            fileBytes += Int64(range.count)
            guard fileBytes <= limits.fileBytes else {
                throw HTTPError(
                    .contentTooLarge, "The files of the form are longer than \(limits.fileBytes) bytes.")
            }
            // So that what it holds is not copied.
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

    /// - Throws: 415 for a charset that is not read, 400 for text that is malformed in its charset.
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
            throw HTTPError(.unsupportedMediaType, "The charset of a field is not one this server reads.")
        }
        do throws(Charset.DecodingError) {
            return try charset.decode(bytes)
        } catch {
            throw HTTPError(.badRequest, "A field of the form is malformed at its byte \(error.offset).")
        }
    }
}
