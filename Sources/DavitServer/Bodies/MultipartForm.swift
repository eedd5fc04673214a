public import DavitHTTP

/// A form that was sent as `multipart/form-data` (RFC 7578).
public struct MultipartForm<File: TemporaryFile> {
    /// A part with a file name. Its content disappears with the form, unless the file was given another place.
    public struct Upload {
        /// Of the control that it was chosen in.
        public let name: String
        /// What the client calls it, without any path; empty where no file was chosen.
        public let fileName: String
        /// What the client says it is.
        public let contentType: ContentType?
        public let content: File
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

extension BodyReader {
    /// `multipart/form-data`: fields in memory, files in `storage` while they come.
    ///
    /// A field is text in the charset its part names, else in that of the field `_charset_` (RFC 7578 §4.6), else UTF-8.
    public static func multipart<Storage: TemporaryStorage>(
        in storage: Storage, limits: MultipartLimits = MultipartLimits()
    ) -> Self where Value == MultipartForm<Storage.File> {
        Self { request throws(HTTPError) in
            guard let type = request.contentType, type.essence == "multipart/form-data" else {
                throw HTTPError(.unsupportedMediaType, "A multipart form is expected here.")
            }
            guard let boundary = type.parameters["boundary"],
                let parser = MultipartParser(boundary: boundary, limits: limits)
            else { throw HTTPError(.badRequest, "The form has no boundary.") }
            // What is kept has the limits of the parts.
            let body = try request.decodedBody(limitBytes: .max)
            var receiver = MultipartReceiver(storage: storage, limits: limits)
            try await receiver.receive(body, parser)
            return try receiver.form()
        }
    }
}

/// Puts the parts of a form where they belong.
private struct MultipartReceiver<Storage: TemporaryStorage> {
    private enum Part {
        case none
        case field(PartHead, [UInt8])
        case file(PartHead, Storage.File)
    }

    private let storage: Storage
    private let limits: MultipartLimits
    private var part = Part.none
    private var fields: [(head: PartHead, bytes: [UInt8])] = []
    private var files: [MultipartForm<Storage.File>.Upload] = []
    private var fieldBytes = 0
    private var fileBytes: Int64 = 0

    init(storage: Storage, limits: MultipartLimits) {
        self.storage = storage
        self.limits = limits
    }

    /// Reads up to the last delimiter; what follows it is left to the connection.
    mutating func receive(
        _ body: any RequestBody, _ parser: consuming MultipartParser
    ) async throws(HTTPError) {
        // What is kept always leaves room for more, unless all of the content is in the buffer.
        let largest = max(BodyChunks.bufferBytes, 2 * limits.partHeadBytes)
        let length = body.declaredLength.map { Int(min($0, Int64(largest))) } ?? largest
        let buffer = IOBuffer(capacity: max(length, 1))
        while true {
            let before = buffer.count
            let isAtEnd = try await body.fill(buffer) == before
            var index = 0
            var needsMore = false
            while !needsMore {
                switch try Self.event(&parser, buffer, &index) {
                case .needMore: needsMore = true
                case .part(let head): try await begin(head)
                case .data(let range): try await take(buffer, range)
                case .partEnd: end()
                case .end: return
                }
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

    private mutating func begin(_ head: PartHead) async throws(HTTPError) {
        part = head.fileName == nil ? .field(head, []) : .file(head, try await storage.makeFile())
    }

    private mutating func take(_ buffer: IOBuffer, _ range: Range<Int>) async throws(HTTPError) {
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
        case .file(_, let file):
            fileBytes += Int64(range.count)
            guard fileBytes <= limits.fileBytes else {
                throw HTTPError(
                    .contentTooLarge, "The files of the form are longer than \(limits.fileBytes) bytes.")
            }
            try await file.append(buffer, range)
        }
    }

    private mutating func end() {
        switch part {
        case .none: break
        case .field(let head, let bytes): fields.append((head, bytes))
        case .file(let head, let file):
            files.append(
                .init(
                    name: head.name, fileName: head.fileName ?? "", contentType: head.contentType,
                    content: file))
        }
        part = .none
    }

    /// - Throws: 415 for a charset that is not read, 400 for text that is malformed in its charset.
    consuming func form() throws(HTTPError) -> MultipartForm<Storage.File> {
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
