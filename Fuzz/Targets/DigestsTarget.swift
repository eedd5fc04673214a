import DavitHTTP

/// `Content-Digest`, `Repr-Digest`, `Want-Repr-Digest` (RFC 9530) and `OC-Checksum`: every accepted value
/// parses to the same digests after it is written out.
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
    invariant(Set(digests.map(\.algorithm)).count == digests.count, "one digest per algorithm")
    let text = digests.map(DigestField.encode).joined(separator: ", ")
    invariant((try? DigestField.parse(Array(text.utf8).span)) == digests, "same digests after writing")
}

private func checkPreferences(_ bytes: [UInt8]) {
    let algorithms = DigestField.parsePreference(bytes.span)
    invariant(Set(algorithms).count == algorithms.count, "no repeated algorithm")
}

private func checkChecksums(_ bytes: [UInt8]) {
    guard let digests = try? ChecksumList.parse(bytes.span) else { return }
    for digest in digests {
        invariant(digest.bytes.count == digest.algorithm.byteCount, "digest of the correct length")
    }
    let text = ChecksumList.encode(digests)
    invariant((try? ChecksumList.parse(Array(text.utf8).span)) == digests, "same checksums after writing")
}
