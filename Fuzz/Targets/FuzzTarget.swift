/// The fuzz targets, named like the command-line argument and the folder of the corpus.
package enum FuzzTarget: String, CaseIterable, Sendable {
    case head, chunked, multipart, range, ifheader, fields
    case parts, digests, uploads, forwarded, xml, synctoken, userfile, zipnames, yaml

    /// Parses an input, and ends the process if an invariant is broken.
    package func run(_ input: [UInt8]) {
        switch self {
        case .head: fuzzHead(input)
        case .chunked: fuzzChunked(input)
        case .multipart: fuzzMultipart(input)
        case .range: fuzzRange(input)
        case .ifheader: fuzzIfHeader(input)
        case .fields: fuzzFields(input)
        case .parts: fuzzParts(input)
        case .digests: fuzzDigests(input)
        case .uploads: fuzzUploads(input)
        case .forwarded: fuzzForwarded(input)
        case .xml: fuzzXML(input)
        case .synctoken: fuzzSyncToken(input)
        case .userfile: fuzzUserFile(input)
        case .zipnames: fuzzZIPNames(input)
        case .yaml: fuzzYAML(input)
        }
    }
}

/// Ends the process if the condition is false; the driver keeps the input.
package func invariant(_ holds: Bool, _ name: StaticString) {
    if !holds { fatalError("broken: \(name)") }
}

/// Splits the input: the first byte selects a variant, the rest is the input of the parser.
func divided(_ input: [UInt8]) -> (choice: Int, rest: [UInt8]) {
    (Int(input.first ?? 0), Array(input.dropFirst()))
}
