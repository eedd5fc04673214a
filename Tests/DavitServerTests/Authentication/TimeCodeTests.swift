#if TLS
import DavitCrypto
import DavitHTTP
import DavitServer
import Testing

struct TimeCodeTests {
    /// The secret of RFC 6238 Appendix B.
    private static let secret = Array("12345678901234567890".utf8)

    /// RFC 6238 Appendix B, mode SHA1, the last six of eight digits.
    static let codes: [(seconds: Int64, code: String)] = [
        (59, "287082"), (1_111_111_109, "081804"), (1_111_111_111, "050471"), (1_234_567_890, "005924"),
        (2_000_000_000, "279037"), (20_000_000_000, "353130"),
    ]

    @Test(arguments: codes)
    func codesAreThoseOfTheRFC(row: (seconds: Int64, code: String)) {
        #expect(TimeCode.code(Self.secret, step: TimeCode.step(at: row.seconds)) == row.code)
    }

    /// RFC 4226 Appendix D: the codes of the first ten counters.
    @Test func countersAreThoseOfTheRFC() {
        let codes = (0..<10).map { TimeCode.code(Self.secret, step: $0) }
        #expect(
            codes == [
                "755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871",
                "520489",
            ])
    }

    /// RFC 6238 §5.2: the code of one step before or after is accepted, and each code once.
    @Test func clocksMayDifferByOneStep() {
        let now: Int64 = 1_700_000_010
        let current = TimeCode.step(at: now)
        for offset in Int64(-3)...3 {
            let code = TimeCode.code(Self.secret, step: current + offset) ?? ""
            let found = TimeCode.step(of: code, Self.secret, at: now, after: 0)
            #expect(found == (abs(offset) <= 1 ? current + offset : nil), "\(offset)")
            let later = TimeCode.step(of: code, Self.secret, at: now, after: current)
            #expect(later == (offset == 1 ? current + 1 : nil), "\(offset)")
        }
    }

    @Test func otherTextsAreNoCodes() {
        for text in ["", "28708", "2870820", "287 082", "x87082", "２８７０８２"] {
            #expect(TimeCode.step(of: text, Self.secret, at: 59, after: 0) == nil)
        }
        #expect(TimeCode.step(of: "287082", Self.secret, at: 59, after: 0) == 1)
    }

    @Test func recoveryCodesAreRandomAndReadable() throws {
        let codes = SecondFactor.makeRecoveryCodes()
        #expect(Set(codes).count == SecondFactor.recoveryCodeCount)
        for code in codes {
            #expect(code.split(separator: "-").map(\.count) == [4, 4, 4, 4])
            let hash = try #require(SecondFactor.hash(ofRecoveryCode: code))
            #expect(hash.count == 32)
            #expect(SecondFactor.hash(ofRecoveryCode: code.lowercased().replacing("-", with: " ")) == hash)
        }
        for text in [
            "", "287082", "AAAA", String(codes[0].dropLast()), codes[0] + "AAAAAAAA", "0000-0000-0000-0000",
        ] {
            #expect(SecondFactor.hash(ofRecoveryCode: text) == nil)
        }
    }
}
#endif
