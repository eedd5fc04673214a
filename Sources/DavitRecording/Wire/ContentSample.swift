#if TLS
internal import DavitCrypto
internal import DavitHTTP
#endif

/// Content as it passes: all of it up to a limit, above that only its length and its digest, or the byte that all of it is.
package struct ContentSample {
    private let limitBytes: Int
    private var bytes: [UInt8] = []
    private(set) package var count: Int64 = 0
    private var digest: ContentDigest?
    /// Part of it was missed.
    private var hasGap = false
    /// The byte that all of it is, as far as it came.
    private var onlyByte: UInt8?
    private var isUniform = true

    package init(limitBytes: Int) { self.limitBytes = limitBytes }

    package mutating func append(_ piece: UnsafeRawBufferPointer) {
        count += Int64(piece.count)
        guard !hasGap else { return }
        if isUniform {
            if onlyByte == nil { onlyByte = unsafe piece.first }
            isUniform = unsafe piece.allSatisfy { [onlyByte] in $0 == onlyByte }
        }
        if digest == nil, count <= Int64(limitBytes) {
            unsafe bytes.append(contentsOf: piece)
            return
        }
        if digest == nil {
            let begun = ContentDigest()
            unsafe bytes.withUnsafeBytes { unsafe begun.update($0) }
            bytes = []
            digest = begun
        }
        unsafe digest?.update(piece)
    }

    /// So many bytes came and were missed.
    package mutating func skip(_ missed: Int64) {
        count += missed
        hasGap = true
        bytes = []
        digest = nil
    }

    /// Ends the sample; nothing is to be appended afterwards.
    package mutating func finish() -> RecordedContent {
        if hasGap { return .omitted(count: count, digest: nil) }
        guard let digest else { return .bytes(bytes) }
        if isUniform, let onlyByte, let length = Int(exactly: count) { return .fill(onlyByte, count: length) }
        return .omitted(count: count, digest: digest.finish())
    }
}

/// SHA-256 of content. Without the trait TLS there is none, and content that is not recorded has its length alone.
final class ContentDigest {
    #if TLS
    private var state: Digest?

    init() { state = try? Digest(.sha256) }

    func update(_ bytes: UnsafeRawBufferPointer) {
        let span = unsafe bytes.bindMemory(to: UInt8.self).span
        guard (try? state?.update(span)) != nil else {
            state = nil
            return
        }
    }

    /// In hexadecimal digits; nil where there is none.
    func finish() -> String? {
        guard let digest = state.take(), let bytes = try? digest.finish() else { return nil }
        return String(decoding: HexText.encode(bytes), as: UTF8.self)
    }
    #else
    func update(_ bytes: UnsafeRawBufferPointer) {}

    func finish() -> String? { nil }
    #endif
}

extension RecordedContent {
    /// The digest that ``ContentSample`` would have; nil where there is none.
    var digest: String? {
        switch self {
        case .bytes(let bytes):
            let digest = ContentDigest()
            unsafe bytes.withUnsafeBytes { unsafe digest.update($0) }
            return digest.finish()
        case .fill(let byte, let count): return Self.digest(of: [byte], count: Int64(count))
        case .omitted(_, let digest): return digest
        }
    }

    /// The digest of a pattern that is repeated until there are `count` bytes.
    static func digest(of pattern: [UInt8], count: Int64) -> String? {
        let digest = ContentDigest()
        let repeats = max(1, 64 * 1024 / pattern.count)
        let piece = Array(repeatElement(pattern, count: repeats).joined())
        var left = count
        while left > 0 {
            let taken = Int(min(left, Int64(piece.count)))
            unsafe piece.withUnsafeBytes {
                unsafe digest.update(UnsafeRawBufferPointer(rebasing: $0[..<taken]))
            }
            left -= Int64(taken)
        }
        return digest.finish()
    }
}
