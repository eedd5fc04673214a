import DavitHTTP

/// `Content-Digest`, `Repr-Digest`, `Want-Repr-Digest` (RFC 9530) and `OC-Checksum`: what is accepted is accepted again,
/// with the same bytes, when it is written out.
func fuzzDigests(_ input: [UInt8]) {
    let (choice, bytes) = divided(input)
    switch choice % 3 {
    case 0: checkDigestField(bytes)
    case 1: checkPreferences(bytes)
    default: checkChecksums(bytes)
    }
}

private func checkDigestField(_ bytes: [UInt8]) {
    guard let digests = try? DigestField.parse(bytes.span) else { return }
    invariant(Set(digests.map(\.algorithm)).count == digests.count, "one digest for each algorithm")
    let text = digests.map(DigestField.encode).joined(separator: ", ")
    invariant((try? DigestField.parse(Array(text.utf8).span)) == digests, "the same digests written out")
}

private func checkPreferences(_ bytes: [UInt8]) {
    let algorithms = DigestField.parseWish(bytes.span)
    invariant(Set(algorithms).count == algorithms.count, "each algorithm once")
}

private func checkChecksums(_ bytes: [UInt8]) {
    guard let digests = try? ChecksumList.parse(bytes.span) else { return }
    for digest in digests {
        invariant(digest.bytes.count == digest.algorithm.byteCount, "a digest of the right length")
    }
    let text = ChecksumList.encode(digests)
    invariant((try? ChecksumList.parse(Array(text.utf8).span)) == digests, "the same checksums written out")
}
