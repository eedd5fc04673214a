package import DavitHTTP

/// The header fields of a part (RFC 7578 §4).
package struct PartHead: Hashable, Sendable {
    /// The name of the form control; a part of a nested `multipart/mixed` has the name of the enclosing part.
    package var name: String
    /// The file name without any path; nil if the part is not a file, empty if no file was selected.
    package var fileName: String?
    package var contentType: ContentType?

    package init(name: String, fileName: String? = nil, contentType: ContentType? = nil) {
        self.name = name
        self.fileName = fileName
        self.contentType = contentType
    }

    /// Parses a part header.
    /// - Parameters:
    ///   - bytes: lines with their line terminators; a line that begins with white space continues the
    ///     previous one.
    ///   - offset: the offset of the first byte, for errors.
    ///   - outerName: the name of the enclosing part; nil for a part of the form itself.
    init(
        parsing bytes: borrowing Span<UInt8>, offset: Int64, inside outerName: String?
    ) throws(MultipartError) {
        var disposition: ContentDisposition?
        for (name, value) in try Self.fields(bytes, offset) {
            switch FieldName(parsing: name.span) {
            case .contentDisposition:
                guard disposition == nil, let parsed = ContentDisposition(formData: value.span) else {
                    throw .malformed(offset: offset)
                }
                disposition = parsed
            case .contentType:
                guard let parsed = ContentType(parsing: value.span) else { throw .malformed(offset: offset) }
                contentType = parsed
            default:
                if name.span.equalsIgnoringCase("content-transfer-encoding") {
                    try Self.checkTransferEncoding(value.span, offset)
                }
            }
        }
        // §4.2: every part must have a name.
        guard let name = outerName ?? disposition?.name else { throw .malformed(offset: offset) }
        self.name = name
        fileName = disposition?.fileName
    }

    /// Checks Content-Transfer-Encoding, which is deprecated for HTTP (§4.7): accepts only encodings that
    /// leave the content unchanged.
    private static func checkTransferEncoding(
        _ value: borrowing Span<UInt8>, _ offset: Int64
    ) throws(MultipartError) {
        if value.equalsIgnoringCase("7bit") || value.equalsIgnoringCase("8bit")
            || value.equalsIgnoringCase("binary")
        {
            return
        }
        throw .transferEncoding(offset: offset)
    }

    private static func fields(
        _ bytes: borrowing Span<UInt8>, _ offset: Int64
    ) throws(MultipartError) -> [(name: [UInt8], value: [UInt8])] {
        var fields: [(name: [UInt8], value: [UInt8])] = []
        var start = 0
        for index in 0..<bytes.count where bytes[index] == 10 {
            guard index > start, bytes[index - 1] == 13 else {
                throw .malformed(offset: offset + Int64(index))
            }
            let line = bytes.extracting(start..<index - 1)
            if let first = fields.indices.last, !line.isEmpty, line[0].isWhitespace {
                fields[first].value.append(32)
                fields[first].value.append(copying: line.extracting(line.trimmedRange))
            } else {
                var end = 0
                guard let name = FieldParameters.takeToken(line, &end), end < line.count,
                    line[end] == UInt8(ascii: ":")
                else { throw .malformed(offset: offset + Int64(start)) }
                let value = line.extracting(end + 1..<line.count)
                fields.append((name, [UInt8](copying: value.extracting(value.trimmedRange))))
            }
            start = index + 1
        }
        return fields
    }
}
