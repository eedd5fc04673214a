/// The fields of a request, by name. A view of the head, created without a copy; use it while the request is
/// handled.
///
/// ```swift
/// let agent = request.fields[.userAgent]
/// let key = request.fields["X-Api-Key"]
/// for field in request.fields { print(field.name, field.value) }
/// ```
/// Names are compared case-insensitively. Invalid UTF-8 in values is replaced;
/// ``HTTPRequest/withValue(of:_:)`` returns the bytes.
public struct RequestFields {
    private let request: HTTPRequest

    init(_ request: HTTPRequest) { self.request = request }

    /// The value of the field with this name, without surrounding white space; nil if it was not sent. The
    /// values of several fields are joined by ", " (RFC 9110 §5.3). Creates a new string on each access,
    /// unless the field is absent.
    public subscript(name: FieldName) -> String? {
        request.combinedBytes(of: name).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The value of the field with this name, which need not have a case in ``FieldName``. A name without a
    /// case is compared with the names of all fields.
    public subscript(name: String) -> String? {
        let known = FieldName(parsing: Array(name.utf8).span)
        guard known == .other else { return self[known] }
        var combined: String?
        for line in request.lines where line.name == .other && isName(of: line, name) {
            let value = text(line.valueRange)
            combined = combined.map { "\($0), \(value)" } ?? value
        }
        return combined
    }

    /// Whether a field with this name was sent. O(1).
    public func contains(_ name: FieldName) -> Bool { request.contains(name) }

    private func isName(of line: HTTPRequest.FieldLine, _ name: String) -> Bool {
        request.head[line.nameRange].elementsEqual(name.utf8) { $0.lowercasedASCII == $1.lowercasedASCII }
    }

    private func text(_ range: Range<Int>) -> String {
        String(decoding: request.head[range], as: UTF8.self)
    }
}

extension RequestFields: Sequence {
    /// A field as it was sent.
    public struct Field: Hashable, Sendable {
        /// The name as sent; compare it case-insensitively.
        public let name: String
        /// The value, without surrounding white space.
        public let value: String
    }

    /// Returns the fields one by one in the order in which they were sent, including repeated names.
    public func makeIterator() -> AnyIterator<Field> {
        var index = 0
        return AnyIterator {
            guard index < request.lines.count else { return nil }
            let line = request.lines[index]
            index += 1
            return Field(name: text(line.nameRange), value: text(line.valueRange))
        }
    }
}

extension HTTPRequest {
    /// The fields of the head, by name: `request.fields[.userAgent]`.
    public var fields: RequestFields { RequestFields(self) }

    /// Named ``fields`` here, as in RFC 9110.
    @available(*, unavailable, renamed: "fields")
    public var headers: RequestFields { fields }
}
