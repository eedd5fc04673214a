#if TLS
import DavitCrypto
import Testing

struct KeyedDigestTests {
    /// The messages have lengths around the multiples of the block size of SHA-256, 64 bytes.
    @Test(arguments: [0, 1, 16, 64])
    func codeIsTheDigestOfKeyAndMessage(keyLength: Int) throws {
        let key = (0..<keyLength).map { UInt8($0) }
        let coder = try KeyedDigest(key: key)
        for length in [0, 1, 40, 54, 55, 56, 63, 64, 65, 119, 120, 1000] {
            let message = (0..<length).map { UInt8(truncatingIfNeeded: $0 * 7) }
            let code = try coder.code(for: message.span)
            #expect(try code.bytes == Digest.of(key + message, .sha256))
            #expect(try coder.code(for: message.span) == code)
            #expect(try coder.code(for: (message + [0]).span) != code)
        }
    }

    @Test func keyedDigestCanBeUsedConcurrently() async throws {
        let coder = try KeyedDigest(key: Array("key".utf8))
        let wanted = try (0..<100).map { number in try coder.code(for: [UInt8(number)].span) }
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    (0..<20_000).allSatisfy { turn in
                        let message = [UInt8(turn % 100)]
                        return (try? coder.code(for: message.span)) == wanted[turn % 100]
                    }
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }
}
#endif
