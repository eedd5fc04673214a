/// The decoded fields of a query or form, in the order sent; names may repeat.
public struct FormFields: Sendable {
    /// A name with its value.
    public struct Field: Hashable, Sendable {
        /// The decoded name.
        public var name: String
        /// The decoded value; empty without `=`.
        public var value: String

        /// Creates a field from decoded text.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The reason why a form was rejected. Offsets are in bytes from its start.
    public enum ParseError: Error, Hashable, Sendable {
        /// A `%` that is not followed by two hexadecimal digits.
        case brokenEscape(offset: Int)
        /// Bytes that are invalid in the charset of the form, in the name or value that begins at this
        /// offset.
        case malformedText(offset: Int)
        /// The form has more fields than the limit.
        case tooManyFields(limit: Int)
    }

    private var fields: [Field] = []

    /// Creates a collection with these fields, in this order.
    public init(_ fields: [Field] = []) { self.fields = fields }

    /// Returns the value of the first field with this name.
    public subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

    /// Returns the values of all fields with this name, in order.
    public func all(_ name: String) -> [String] {
        fields.compactMap { $0.name == name ? $0.value : nil }
    }
}

extension FormFields: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { fields.count }
    public subscript(position: Int) -> Field { fields[position] }
}

extension FormFields {
    /// Parses a query. Never fails, because queries are often typed by hand: a `%` without two hexadecimal
    /// digits is left unchanged, and invalid UTF-8 is replaced.
    public init(query: [UInt8]) {
        Self.forEachComponent(of: query.span) { name, value in
            fields.append(Field(name: Self.lenientText(name, query), value: Self.lenientText(value, query)))
        }
    }

    /// Parses a query into bytes, for resource names, which need not be UTF-8.
    package static func bytes(of query: [UInt8]) -> [(name: [UInt8], value: [UInt8])] {
        var fields: [(name: [UInt8], value: [UInt8])] = []
        forEachComponent(of: query.span) { name, value in
            fields.append((decode(name, query.span).bytes, decode(value, query.span).bytes))
        }
        return fields
    }

    /// Parses `application/x-www-form-urlencoded` (URL Standard §5.1) strictly.
    ///
    /// - Parameters:
    ///   - limitFields: maximum number of fields.
    ///   - charset: the charset of the decoded text.
    public init(parsing form: [UInt8], limitFields: Int, charset: Charset = .utf8) throws(ParseError) {
        var failure: ParseError?
        Self.forEachComponent(of: form.span) { name, value in
            guard failure == nil else { return }
            guard fields.count < limitFields else {
                failure = .tooManyFields(limit: limitFields)
                return
            }
            do throws(ParseError) {
                fields.append(
                    Field(
                        name: try Self.text(name, form, charset), value: try Self.text(value, form, charset)))
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }

    /// Calls `body` with the ranges of each name and its value. Components are separated by `&`; empty ones
    /// are skipped.
    private static func forEachComponent(
        of bytes: borrowing Span<UInt8>, _ body: (_ name: Range<Int>, _ value: Range<Int>) -> Void
    ) {
        var start = 0
        var equals: Int?
        for index in 0...bytes.count {
            if index == bytes.count || bytes[index] == UInt8(ascii: "&") {
                if index > start {
                    body(start..<(equals ?? index), (equals.map { $0 + 1 } ?? index)..<index)
                }
                start = index + 1
                equals = nil
            } else if bytes[index] == UInt8(ascii: "="), equals == nil {
                equals = index
            }
        }
    }

    private static func text(
        _ range: Range<Int>, _ form: [UInt8], _ charset: Charset
    ) throws(ParseError) -> String {
        let (bytes, brokenEscape) = decode(range, form.span)
        if let brokenEscape { throw .brokenEscape(offset: brokenEscape) }
        do throws(Charset.DecodingError) {
            return try charset.decode(bytes)
        } catch {
            throw .malformedText(offset: range.lowerBound)
        }
    }

    private static func lenientText(_ range: Range<Int>, _ query: [UInt8]) -> String {
        String(decoding: decode(range, query.span).bytes, as: UTF8.self)
    }

    /// Decodes a component. Unlike in other percent-encoded text, `+` means a space.
    /// - Returns: the decoded bytes, with malformed escapes unchanged, and the offset of the first malformed
    ///   escape.
    private static func decode(
        _ range: Range<Int>, _ form: borrowing Span<UInt8>
    ) -> (bytes: [UInt8], brokenEscape: Int?) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(range.count)
        var brokenEscape: Int?
        let component = form.extracting(range)
        var index = 0
        while index < component.count {
            let byte = component[index]
            index += 1
            if byte == UInt8(ascii: "+") {
                bytes.append(UInt8(ascii: " "))
            } else if byte != UInt8(ascii: "%") {
                bytes.append(byte)
            } else if let escaped = PercentCoding.escapedByte(component, at: index - 1) {
                bytes.append(escaped)
                index += 2
            } else {
                bytes.append(byte)
                brokenEscape = brokenEscape ?? range.lowerBound + index - 1
            }
        }
        return (bytes, brokenEscape)
    }
}

extension HTTPRequest {
    /// The fields of the query. Decoded on each access.
    public var query: FormFields { target.rawQuery.map { FormFields(query: $0) } ?? FormFields() }
}
