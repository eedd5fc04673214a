/// The checksum format of ownCloud and its clients, used in `OC-Checksum` and the property `checksums`:
/// `SHA1:2fd4… MD5:9e10…`.
package enum ChecksumList {
    /// Parses a list of checksums. Unknown algorithms are skipped.
    ///
    /// - Throws: `malformed` for an element without an algorithm, or with malformed digits for a known
    ///   algorithm.
    package static func parse(_ value: borrowing Span<UInt8>) throws(DigestError) -> [ContentDigest] {
        var digests: [ContentDigest] = []
        let words = [UInt8](copying: value).split { $0.isWhitespace || $0 == UInt8(ascii: ",") }
        for word in words {
            guard let colon = word.firstIndex(of: UInt8(ascii: ":")), colon > word.startIndex else {
                throw .malformed
            }
            guard let algorithm = algorithm(word[..<colon]) else { continue }
            var digits = Array(word[(colon + 1)...])
            // Adler-32 is formatted as a number; some clients omit its leading zeros.
            if algorithm == .adler32, !digits.isEmpty {
                while digits.count < 2 * algorithm.byteCount { digits.insert(UInt8(ascii: "0"), at: 0) }
            }
            guard let bytes = HexText.decode(digits), bytes.count == algorithm.byteCount else {
                throw .malformed
            }
            digests.append(ContentDigest(algorithm, bytes))
        }
        return digests
    }

    /// Formats a list of checksums with lower-case digits.
    package static func encode(_ digests: [ContentDigest]) -> String {
        digests.map { digest in
            let digits = String(decoding: HexText.encode(digest.bytes), as: UTF8.self)
            return "\(digest.algorithm.checksumName):\(digits)"
        }.joined(separator: " ")
    }

    private static func algorithm(_ name: ArraySlice<UInt8>) -> DigestAlgorithm? {
        let upper = name.map { (97...122).contains($0) ? $0 - 32 : $0 }
        return DigestAlgorithm.allCases.first { upper.elementsEqual($0.checksumName.description.utf8) }
    }
}
