/// `Content-Digest`, `Repr-Digest` and the corresponding `Want-` fields (RFC 9530): structured field
/// dictionaries (RFC 9651 §3.2).
package enum DigestField {
    /// Parses the digests of a field. Unknown algorithms are ignored (§2); if a key is repeated, the last
    /// value applies.
    ///
    /// - Throws: `malformed` if the value is not a dictionary of byte sequences. RFC 9651 §4.2 permits
    ///   treating such a message as malformed, and clients that send a digest expect it to be verified.
    package static func parse(_ value: borrowing Span<UInt8>) throws(DigestError) -> [ContentDigest] {
        var found: [ContentDigest] = []
        try forEachMember(value) { (key, item) throws(DigestError) in
            guard let item, item.count >= 2, item.first == colon, item.last == colon else { throw .malformed }
            var text = Array(item.dropFirst().dropLast())
            // Some clients omit the padding, which recipients should accept (RFC 9651 §4.2.7).
            while !text.count.isMultiple(of: 4) { text.append(UInt8(ascii: "=")) }
            guard let bytes = Base64.decode(text.span) else { throw .malformed }
            guard let algorithm = algorithm(key) else { return }
            found.removeAll { $0.algorithm == algorithm }
            found.append(ContentDigest(algorithm, bytes))
        }
        if found.count < 2 { return found }
        return DigestAlgorithm.allCases.compactMap { algorithm in found.first { $0.algorithm == algorithm } }
    }

    /// Parses a `Want-` field into the supported algorithms with a nonzero preference, most preferred first
    /// (§4). A malformed field is ignored.
    package static func parsePreference(_ value: borrowing Span<UInt8>) -> [DigestAlgorithm] {
        var preferences: [DigestAlgorithm: Int] = [:]
        do throws(DigestError) {
            try forEachMember(value) { (key, item) throws(DigestError) in
                guard let algorithm = algorithm(key) else { return }
                let weight = item.flatMap { $0.withSpan { $0.decimalValue } } ?? 0
                preferences[algorithm] = weight <= 10 ? Int(weight) : 0
            }
        } catch {
            return []
        }
        // Algorithms with equal preferences keep the order of the cases, in which the secure ones are first.
        let known = DigestAlgorithm.allCases.filter { preferences[$0, default: 0] > 0 }
        return known.enumerated().sorted { a, b in
            let (left, right) = (preferences[a.element, default: 0], preferences[b.element, default: 0])
            return left != right ? left > right : a.offset < b.offset
        }.map(\.element)
    }

    /// Returns the field value for a digest.
    package static func encode(_ digest: ContentDigest) -> String {
        "\(digest.algorithm.key)=:\(Base64.encode(digest.bytes)):"
    }

    // MARK: Dictionaries

    private static let colon = UInt8(ascii: ":")

    private static func algorithm(_ key: ArraySlice<UInt8>) -> DigestAlgorithm? {
        key.withSpan { key in
            for algorithm in DigestAlgorithm.allCases where key.equalsIgnoringCase(algorithm.key) {
                return algorithm
            }
            return nil
        }
    }

    /// Calls `body` for each member with its key and its item without parameters; the item is nil for a key
    /// without a value.
    private static func forEachMember(
        _ value: borrowing Span<UInt8>,
        _ body: (_ key: ArraySlice<UInt8>, _ item: ArraySlice<UInt8>?) throws(DigestError) -> Void
    ) throws(DigestError) {
        let bytes = [UInt8](copying: value)
        var rest = bytes[...]
        skip(&rest) { $0.isWhitespace }
        if rest.isEmpty { return }
        while true {
            let key = take(&rest) { $0.isKeyCharacter }
            guard let first = key.first, first.isKeyStart else { throw .malformed }
            var item: ArraySlice<UInt8>?
            if rest.first == UInt8(ascii: "=") {
                rest.removeFirst()
                item = try takeItem(&rest)
            }
            try skipParameters(&rest)
            try body(key, item)
            skip(&rest) { $0.isWhitespace }
            if rest.isEmpty { return }
            guard rest.first == UInt8(ascii: ",") else { throw .malformed }
            rest.removeFirst()
            skip(&rest) { $0.isWhitespace }
        }
    }

    /// Takes a byte sequence, number, token or string without decoding it. Inner lists are not supported;
    /// davit does not need them.
    private static func takeItem(_ rest: inout ArraySlice<UInt8>) throws(DigestError) -> ArraySlice<UInt8> {
        guard let first = rest.first else { throw .malformed }
        if first == colon || first == UInt8(ascii: "\"") {
            var end = rest.startIndex + 1
            while end < rest.endIndex, rest[end] != first {
                end += first != colon && rest[end] == UInt8(ascii: "\\") ? 2 : 1
            }
            guard end < rest.endIndex else { throw .malformed }
            defer { rest = rest[(end + 1)...] }
            return rest[...end]
        }
        let item = take(&rest) { $0.isTokenCharacter || $0 == colon || $0 == UInt8(ascii: "/") || $0 == 63 }
        if item.isEmpty { throw .malformed }
        return item
    }

    private static func skipParameters(_ rest: inout ArraySlice<UInt8>) throws(DigestError) {
        while rest.first == UInt8(ascii: ";") {
            rest.removeFirst()
            skip(&rest) { $0 == UInt8(ascii: " ") }
            guard let first = take(&rest, while: { $0.isKeyCharacter }).first, first.isKeyStart else {
                throw .malformed
            }
            if rest.first == UInt8(ascii: "=") {
                rest.removeFirst()
                _ = try takeItem(&rest)
            }
        }
    }

    private static func skip(_ rest: inout ArraySlice<UInt8>, while isSkipped: (UInt8) -> Bool) {
        _ = take(&rest, while: isSkipped)
    }

    private static func take(
        _ rest: inout ArraySlice<UInt8>, while isTaken: (UInt8) -> Bool
    ) -> ArraySlice<UInt8> {
        let end = rest.firstIndex { !isTaken($0) } ?? rest.endIndex
        defer { rest = rest[end...] }
        return rest[..<end]
    }
}

extension UInt8 {
    /// `lcalpha / "*"` (RFC 9651 §3.1.2).
    fileprivate var isKeyStart: Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) || self == UInt8(ascii: "*")
    }

    fileprivate var isKeyCharacter: Bool {
        isKeyStart || isDigit || self == UInt8(ascii: "_") || self == UInt8(ascii: "-")
            || self == UInt8(ascii: ".")
    }
}
