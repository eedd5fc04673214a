#if TLS
internal import DavitCrypto
internal import DavitHTTP
#endif

/// A sample of content, taken while the content is transferred: the bytes if they are within a limit,
/// otherwise the length and the digest or, if the content repeats a single byte, that byte.
package struct ContentSample {
    private let limitBytes: Int
    private var bytes: [UInt8] = []
    private(set) package var count: Int64 = 0
    private var digest: SampleDigest?
    /// Whether part of the content was missed.
    private var hasGap = false
    /// The first byte of the content. If `isUniform` is true, all content so far repeats it.
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
            let begun = SampleDigest()
            unsafe bytes.withUnsafeBytes { unsafe begun.update($0) }
            bytes = []
            digest = begun
        }
        unsafe digest?.update(piece)
    }

    /// Records that `missed` bytes of the content were not seen.
    package mutating func skip(_ missed: Int64) {
        count += missed
        hasGap = true
        bytes = []
        digest = nil
    }

    /// Ends the sample; nothing may be appended afterwards.
    package mutating func finish() -> RecordedContent {
        if hasGap { return .omitted(count: count, digest: nil) }
        guard let digest else { return .bytes(bytes) }
        if isUniform, let onlyByte, let length = Int(exactly: count) { return .fill(onlyByte, count: length) }
        return .omitted(count: count, digest: digest.finish())
    }
}

/// Computes the SHA-256 of content. Without the trait TLS the result is nil, and omitted content is recorded
/// by its length alone.
final class SampleDigest {
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

    /// Returns lowercase hexadecimal digits, or nil if no digest is available.
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
    /// The digest that ``ContentSample`` would record; nil if it is not available.
    var digest: String? {
        switch self {
        case .bytes(let bytes):
            let digest = SampleDigest()
            unsafe bytes.withUnsafeBytes { unsafe digest.update($0) }
            return digest.finish()
        case .fill(let byte, let count): return Self.digest(of: [byte], count: Int64(count))
        case .omitted(_, let digest): return digest
        }
    }

    /// Returns the digest of `pattern`, repeated to `count` bytes.
    static func digest(of pattern: [UInt8], count: Int64) -> String? {
        let digest = SampleDigest()
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
