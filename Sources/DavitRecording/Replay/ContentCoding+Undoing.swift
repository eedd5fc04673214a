internal import DavitZlib

/// Removes the content codings of a response (RFC 9110 §8.4).
package enum CodedContent {
    /// The maximum length of decoded content in bytes.
    private static let limitBytes: Int64 = 256 * 1024 * 1024

    /// Decodes content.
    ///
    /// - Parameter codings: the value of `Content-Encoding`.
    /// - Returns: nil if the content does not match its codings, if a coding is unknown, or if the decoded
    ///   content is too long.
    package static func decoded(_ bytes: [UInt8], codings: String?) -> [UInt8]? {
        var content = bytes
        for coding in (codings ?? "").split(separator: ",").reversed() {
            let format: Inflater.Format
            switch coding.filter({ $0 != " " && $0 != "\t" }).lowercased() {
            case "gzip", "x-gzip": format = .gzip
            case "deflate": format = .deflate
            case "identity", "": continue
            default: return nil
            }
            guard let expanded = expanded(content, format) else { return nil }
            content = expanded
        }
        return content
    }

    private static func expanded(_ bytes: [UInt8], _ format: Inflater.Format) -> [UInt8]? {
        let limit = ExpansionLimit(bytes: limitBytes, ratio: 2000)
        guard var inflater = try? Inflater(format, limit: limit) else { return nil }
        var result: [UInt8] = []
        var room = [UInt8](repeating: 0, count: 64 * 1024)
        var used = 0
        while true {
            let progress = unsafe bytes.withUnsafeBytes { input in
                unsafe room.withUnsafeMutableBytes { output in
                    try? unsafe inflater.transform(
                        UnsafeRawBufferPointer(rebasing: input[used...]), into: output)
                }
            }
            guard let progress else { return nil }
            used += progress.consumed
            result += room[..<progress.produced]
            if progress.isAtEnd, used == bytes.count { return result }
            // No progress is possible, for example because the input is truncated.
            if progress.consumed == 0, progress.produced == 0 { return nil }
        }
    }
}
