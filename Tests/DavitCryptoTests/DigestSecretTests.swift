#if TLS
import DavitCrypto
import Testing

/// The examples of RFC 7616 §3.9.1.
struct DigestSecretTests {
    static let nonce = Array("7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v".utf8)
    static let clientNonce = Array("f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ".utf8)
    static let answer = DigestSecret.Answer(
        method: Array("GET".utf8), uri: Array("/dir/index.html".utf8), nonce: nonce,
        count: Array("00000001".utf8), clientNonce: clientNonce)

    static let examples: [(algorithm: DigestSecret.Algorithm, response: String)] = [
        (.md5, "8ca523f5e9506fed4657c9700eebdbec"),
        (.sha256, "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
    ]

    static func secret(
        _ algorithm: DigestSecret.Algorithm, password: String = "Circle of Life"
    ) throws -> DigestSecret {
        try DigestSecret(
            user: Array("Mufasa".utf8), realm: Array("http-auth@example.org".utf8),
            password: Array(password.utf8), algorithm: algorithm)
    }

    @Test(arguments: examples)
    func responsesMatchTheExamplesOfTheRFC(algorithm: DigestSecret.Algorithm, response: String) throws {
        let secret = try Self.secret(algorithm)
        #expect(try secret.response(to: Self.answer) == Array(response.utf8))
        #expect(try secret.verifies(Array(response.utf8), for: Self.answer))
        #expect(try !secret.verifies(Array(response.uppercased().utf8), for: Self.answer))
        #expect(try !secret.verifies([], for: Self.answer))
        #expect(
            try !Self.secret(algorithm, password: "circle of life")
                .verifies(Array(response.utf8), for: Self.answer))
    }

    @Test(arguments: examples)
    func everyFieldAffectsTheResponse(algorithm: DigestSecret.Algorithm, response: String) throws {
        let secret = try Self.secret(algorithm)
        let changes: [@Sendable (inout DigestSecret.Answer) -> Void] = [
            { $0.method = Array("PUT".utf8) }, { $0.uri.append(63) }, { $0.nonce[0] ^= 1 },
            { $0.count[7] += 1 }, { $0.clientNonce[0] ^= 1 },
        ]
        for change in changes {
            var answer = Self.answer
            change(&answer)
            #expect(try !secret.verifies(Array(response.utf8), for: answer))
        }
    }

    @Test(arguments: DigestSecret.Algorithm.allCases)
    func secretIsRestoredFromItsDigits(algorithm: DigestSecret.Algorithm) throws {
        let secret = try Self.secret(algorithm)
        let upperCase = Array(String(decoding: secret.digits, as: UTF8.self).uppercased().utf8)
        let kept = try #require(DigestSecret(digits: upperCase, algorithm: algorithm))
        #expect(try kept.response(to: Self.answer) == secret.response(to: Self.answer))
    }

    @Test func invalidDigitsAreRefused() {
        for digits in ["", "0", String(repeating: "0", count: 63), String(repeating: "g", count: 64)] {
            #expect(DigestSecret(digits: Array(digits.utf8), algorithm: .sha256) == nil)
            #expect(DigestSecret(digits: Array(digits.utf8), algorithm: .md5) == nil)
        }
        let digits = Array(String(repeating: "0", count: 64).utf8)
        #expect(DigestSecret(digits: digits, algorithm: .sha256) != nil)
        #expect(DigestSecret(digits: digits, algorithm: .md5) == nil)
    }
}
#endif
