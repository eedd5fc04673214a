/// The fields of a response, stored in wire format: `Name: value CRLF`, one line after another.
///
/// Appending copies into one buffer and creates no String per field.
public struct HTTPFields: Sendable {
    /// Complete field lines, each with its CRLF.
    public private(set) var encoded: [UInt8] = []
    private var present = FieldNameSet()

    /// Creates an empty collection.
    public init() {}

    /// Whether the collection contains a field of this name. O(1).
    public func contains(_ name: FieldName) -> Bool { present.contains(name) }

    /// Appends a field with a constant value, which must not contain CR, LF or NUL.
    public mutating func append(_ name: FieldName, _ value: StaticString) {
        begin(name)
        appendText(value)
        end()
    }

    /// Appends a field with text in UTF-8. CR, LF and NUL are replaced by spaces, to prevent field injection.
    public mutating func append(_ name: FieldName, _ value: String) {
        begin(name)
        appendSafely(value.utf8)
        end()
    }

    /// Appends a field with a value of bytes. CR, LF and NUL are replaced by spaces.
    public mutating func append(_ name: FieldName, _ value: some Sequence<UInt8>) {
        begin(name)
        appendSafely(value)
        end()
    }

    /// Appends a field with a decimal number.
    public mutating func append(_ name: FieldName, _ value: Int64) {
        begin(name)
        encoded.appendDecimal(value)
        end()
    }

    /// Appends a field whose value `write` appends to its argument, without creating an array for it.
    /// - Parameter write: must not append CR, LF or NUL, nor change the existing content.
    package mutating func append(_ name: FieldName, writing write: (inout [UInt8]) -> Void) {
        begin(name)
        write(&encoded)
        end()
    }

    /// Appends a field whose name has no case in ``FieldName``.
    ///
    /// If the name does have a case, ``contains(_:)`` and the other methods find the field by that case.
    public mutating func append(named name: String, _ value: String) {
        let known = FieldName(parsing: Array(name.utf8).span)
        if known != .other { present.insert(known) }
        appendSafely(name.utf8)
        encoded.append(UInt8(ascii: ":"))
        encoded.append(UInt8(ascii: " "))
        appendSafely(value.utf8)
        end()
    }

    /// The value of the field with this name; nil if there is none. The values of several fields are joined
    /// by a comma and a space (RFC 9110 §5.3); for `Set-Cookie`, the result has no defined meaning. Setting a
    /// value replaces all fields with this name; setting nil removes them. O(size of the fields).
    public subscript(name: FieldName) -> String? {
        get { contains(name) ? self[name.text.description] : nil }
        set {
            remove(name)
            if let newValue { append(name, newValue) }
        }
    }

    /// Like the subscript by ``FieldName``, for any name; names are compared case-insensitively.
    public subscript(name: String) -> String? {
        get {
            let lines = encoded.split(separator: UInt8(ascii: "\n"))
            let values = lines.filter { Self.isNamed(name, $0) }.map { Self.value(of: $0) }
            return values.isEmpty ? nil : values.joined(separator: ", ")
        }
        set {
            remove(named: name)
            if let newValue { append(named: name, newValue) }
        }
    }

    /// Returns the value of the first field with this name, or nil. O(size of the fields).
    package func first(_ name: FieldName) -> String? {
        guard contains(name) else { return nil }
        return first(named: name.text.description)
    }

    /// Like ``first(_:)``, for any name; names are compared case-insensitively.
    package func first(named name: String) -> String? {
        let lines = encoded.split(separator: UInt8(ascii: "\n"))
        return lines.first { Self.isNamed(name, $0) }.map { Self.value(of: $0) }
    }

    private static func isNamed(_ name: String, _ line: ArraySlice<UInt8>) -> Bool {
        line.prefix { $0 != UInt8(ascii: ":") }
            .elementsEqual(name.utf8) { $0.lowercasedASCII == $1.lowercasedASCII }
    }

    private static func value(of line: ArraySlice<UInt8>) -> String {
        var value = line.drop { $0 != UInt8(ascii: ":") }.dropFirst()
        if value.last == UInt8(ascii: "\r") { value.removeLast() }
        while value.first == UInt8(ascii: " ") { value.removeFirst() }
        return String(decoding: value, as: UTF8.self)
    }

    /// Calls `body` with the trimmed value of each field with this name. O(size of the fields).
    package func forEachValue<E: Error>(
        of name: FieldName, _ body: (borrowing Span<UInt8>) throws(E) -> Void
    ) throws(E) {
        guard contains(name) else { return }
        for line in encoded.split(separator: UInt8(ascii: "\n")) where Self.name(of: line) == name {
            // Drop the name, the colon, and the CR at the end.
            let value = Array(line.dropFirst(name.text.utf8CodeUnitCount + 1).dropLast())
            try body(value.span.extracting(value.span.trimmedRange))
        }
    }

    /// Removes all fields with this name. O(size of the fields).
    public mutating func remove(_ name: FieldName) {
        guard contains(name) else { return }
        let lines = encoded.split(separator: UInt8(ascii: "\n"))
        encoded.removeAll(keepingCapacity: true)
        for line in lines where Self.name(of: line) != name {
            encoded.append(contentsOf: line)
            encoded.append(UInt8(ascii: "\n"))
        }
        present.remove(name)
    }

    private mutating func remove(named name: String) {
        let known = FieldName(parsing: Array(name.utf8).span)
        guard known == .other else { return remove(known) }
        let lines = encoded.split(separator: UInt8(ascii: "\n"))
        encoded.removeAll(keepingCapacity: true)
        for line in lines where !Self.isNamed(name, line) {
            encoded.append(contentsOf: line)
            encoded.append(UInt8(ascii: "\n"))
        }
    }

    /// Appends the fields of `other` whose names have a case in ``FieldName`` and are not present in this
    /// collection.
    public mutating func appendMissing(_ other: HTTPFields) {
        let before = present
        for line in other.encoded.split(separator: UInt8(ascii: "\n")) {
            let name = Self.name(of: line)
            guard name != .other, !before.contains(name) else { continue }
            present.insert(name)
            encoded.append(contentsOf: line)
            encoded.append(UInt8(ascii: "\n"))
        }
    }

    private static func name(of line: ArraySlice<UInt8>) -> FieldName {
        FieldName(parsing: Array(line.prefix { $0 != UInt8(ascii: ":") }).span)
    }

    private mutating func begin(_ name: FieldName) {
        present.insert(name)
        if encoded.isEmpty { encoded.reserveCapacity(384) }
        appendText(name.text)
        encoded.append(UInt8(ascii: ":"))
        encoded.append(UInt8(ascii: " "))
    }

    private mutating func appendText(_ text: StaticString) {
        unsafe encoded.append(
            contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    private mutating func end() {
        encoded.append(UInt8(ascii: "\r"))
        encoded.append(UInt8(ascii: "\n"))
    }

    private mutating func appendSafely(_ value: some Sequence<UInt8>) {
        let start = encoded.count
        // Append in one call: iterating over a sequence of another module costs a call per byte.
        let isCopied: Void? = value.withContiguousStorageIfAvailable { bytes in
            unsafe encoded.append(contentsOf: bytes)
        }
        if isCopied == nil { encoded.append(contentsOf: value) }
        for index in start..<encoded.count where encoded[index] <= 13 {
            let byte = encoded[index]
            if byte == 13 || byte == 10 || byte == 0 { encoded[index] = UInt8(ascii: " ") }
        }
    }
}
