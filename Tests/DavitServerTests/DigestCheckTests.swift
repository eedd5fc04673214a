import DavitHTTP
import DavitServer
import Testing

/// Digests of content in pieces, in builds with and without OpenSSL.
struct DigestCheckTests {
    private static let hello = ContentDigest(.adler32, [0x06, 0x2c, 0x02, 0x15])

    private func feed(_ check: DigestCheck, _ pieces: [String]) {
        for piece in pieces {
            let buffer = IOBuffer(capacity: 16)
            _ = buffer.append(Array(piece.utf8))
            check.update(buffer)
        }
    }

    @Test(arguments: [["hello"], ["he", "llo"], ["h", "", "e", "l", "l", "o"], ["", "hello", ""]])
    func resultDoesNotDependOnThePieces(pieces: [String]) throws {
        let check = try #require(DigestCheck([Self.hello]))
        feed(check, pieces)
        #expect(check.isRight())
    }

    @Test(arguments: [["hellp"], ["hello", "o"], ["hell"], []])
    func otherContentIsDetected(pieces: [String]) throws {
        let check = try #require(DigestCheck([Self.hello]))
        feed(check, pieces)
        #expect(!check.isRight())
    }

    @Test func everyDigestMustMatch() throws {
        let wrong = ContentDigest(.adler32, [0, 0, 0, 1])
        let check = try #require(DigestCheck([wrong, Self.hello]))
        feed(check, ["hello"])
        #expect(!check.isRight())
    }

    @Test func emptyListNeedsNoCheck() { #expect(DigestCheck([]) == nil) }

    @Test func availableAlgorithmsDependOnTheBuild() {
        #if TLS
        #expect(DigestAlgorithm.allCases.allSatisfy(RunningDigest.isAvailable))
        #else
        // RFC 9530 §2: unsupported digest algorithms are ignored.
        #expect(DigestAlgorithm.allCases.filter(RunningDigest.isAvailable) == [.adler32])
        #expect(DigestCheck([ContentDigest(.sha256, [])]) == nil)
        #endif
    }
}
