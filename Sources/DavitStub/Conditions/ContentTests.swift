internal import DavitHTTP
internal import DavitSQLite
internal import DavitXML

/// Tests of the content of a request as a whole.
struct ContentTests: Sendable {
    enum DigestTest: String, CaseIterable, Sendable {
        /// There must be a digest, and it must match the content.
        case required
        /// If there is a digest, it must match the content.
        case correct
    }

    private enum Language: String, CaseIterable { case xml, json }

    private let minBytes: Int64?
    private let maxBytes: Int64?
    private let wellFormed: Language?
    private let schema: SchemaTest?
    /// The type, and the subtype unless any is allowed.
    private let media: (type: String, subtype: String?)?
    /// The limits of width and height in pixels.
    private let width: ClosedRange<Int64>?, height: ClosedRange<Int64>?
    let digest: DigestTest?
    /// In lower-case hexadecimal digits.
    let sha256: String?
    let isEmpty: Bool

    init(_ reader: inout RuleReader, column: String, folder: String) throws(RuleError) {
        minBytes = try reader.integer("minLength", 0...Int64.max)
        maxBytes = try reader.integer("maxLength", 0...Int64.max)
        wellFormed = try reader.choice("wellFormed")
        let (relaxNG, xsd) = (try reader.text("relaxNG"), try reader.text("xsd"))
        if relaxNG != nil, xsd != nil { throw RuleError(column: "\(column).xsd", "excludes relaxNG") }
        if let source = relaxNG ?? xsd {
            let name = relaxNG == nil ? "xsd" : "relaxNG"
            schema = try SchemaTest(
                source, relaxNG == nil ? .xsd : .relaxNG, column: "\(column).\(name)", folder: folder)
        } else {
            schema = nil
        }
        if let text = try reader.text("media") {
            let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, MediaSignature.types.contains(where: { $0.hasPrefix("\(parts[0])/") }),
                parts[1] == "*" || MediaSignature.types.contains(text)
            else {
                let all = MediaSignature.types.joined(separator: ", ")
                throw RuleError(column: "\(column).media", "not one of \(all), or with * as the second part")
            }
            media = (parts[0], parts[1] == "*" ? nil : parts[1])
        } else {
            media = nil
        }
        width = try Self.pixels(&reader, "Width", column)
        height = try Self.pixels(&reader, "Height", column)
        digest = try reader.choice("digest")
        sha256 = try reader.text("sha256")?.lowercased()
        if let sha256, HexText.decode(Array(sha256.utf8))?.count != 32 {
            throw RuleError(column: "\(column).sha256", "not 64 hexadecimal digits")
        }
        isEmpty =
            minBytes == nil && maxBytes == nil && wellFormed == nil && schema == nil && media == nil
            && width == nil
            && height == nil && digest == nil && sha256 == nil
    }

    private static func pixels(
        _ reader: inout RuleReader, _ name: String, _ column: String
    ) throws(RuleError) -> ClosedRange<Int64>? {
        let least = try reader.integer("min\(name)", 0...1_000_000)
        let most = try reader.integer("max\(name)", 0...1_000_000)
        guard least != nil || most != nil else { return nil }
        guard least ?? 0 <= most ?? .max else {
            throw RuleError(column: "\(column).max\(name)", "is less than the minimum")
        }
        return (least ?? 0)...(most ?? .max)
    }

    /// Returns what is wrong with the content; nil if nothing is.
    func problem(in content: ReceivedContent) -> String? {
        if let minBytes, content.length < minBytes { return "is shorter than \(minBytes) bytes" }
        if let maxBytes, content.length > maxBytes { return "is longer than \(maxBytes) bytes" }
        if wellFormed != nil || schema != nil, !content.isComplete {
            return "is longer than 4 MiB and cannot be examined"
        }
        switch wellFormed {
        case .xml:
            if let problem = XMLText.problem(of: content.bytes) { return problem }
        case .json: if JSONParser.parse(content.bytes) == nil { return "is not JSON" }
        case nil: break
        }
        if let problem = schema?.problem(of: content.bytes) { return problem }
        if let problem = mediaProblem(content.bytes) { return problem }
        if digest == .required, !content.hasDigest, content.digestProblem == nil { return "has no digest" }
        if digest != nil, let problem = content.digestProblem { return problem }
        if let sha256 {
            let found = content.sha256.map { String(decoding: HexText.encode($0), as: UTF8.self) }
            if found != sha256 { return "has another SHA-256 digest: \(found ?? "unknown")" }
        }
        return nil
    }

    private func mediaProblem(_ bytes: [UInt8]) -> String? {
        guard media != nil || width != nil || height != nil else { return nil }
        let found = MediaSignature.type(of: bytes)
        if let media {
            let wanted = "\(media.type)/\(media.subtype ?? "*")"
            guard let found else { return "is not \(wanted), but of an unknown kind" }
            let matches = media.subtype == nil ? found.hasPrefix("\(media.type)/") : found == wanted
            if !matches { return "is not \(wanted), but \(found)" }
        }
        guard width != nil || height != nil else { return nil }
        guard let size = ImageSize.of(bytes) else { return "is not an image whose size can be read" }
        for (name, value, limits) in [("wide", size.width, width), ("high", size.height, height)] {
            if let limits, !limits.contains(Int64(value)) { return "is \(value) pixels \(name)" }
        }
        return nil
    }
}
