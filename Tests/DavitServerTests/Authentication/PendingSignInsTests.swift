#if TLS
import DavitServer
import Testing

struct PendingSignInsTests {
    private let seconds = SessionFixture.Seconds()
    private let credential = SessionCredential(number: 1, secondFactor: [1])

    private func table() -> PendingSignIns { PendingSignIns(now: { [seconds] in seconds.now }) }

    @Test func tokensAllowSomeAttempts() throws {
        let table = table()
        let token = try #require(table.begin("anna", credential))
        for _ in 0..<PendingSignIns.attemptLimit {
            #expect(table.attempt(token)?.account == "anna")
        }
        #expect(table.attempt(token) == nil)
        #expect(table.attempt("") == nil)
    }

    @Test func tokensExpireAndEnd() throws {
        let table = table()
        let (first, second) = (
            try #require(table.begin("anna", credential)), try #require(table.begin("anna", credential))
        )
        table.end(first)
        #expect(table.attempt(first) == nil)
        seconds.advance(299)
        #expect(table.attempt(second) != nil)
        seconds.advance(1)
        #expect(table.attempt(second) == nil)
    }

    /// An account cannot remove the sign-ins of others.
    @Test func limitsRemoveTheOldest() throws {
        let table = table()
        let ben = try #require(table.begin("ben", credential))
        var tokens: [String] = []
        for _ in 0...PendingSignIns.perAccount {
            seconds.advance(1)
            tokens.append(try #require(table.begin("anna", credential)))
        }
        #expect(table.attempt(tokens[0]) == nil)
        #expect(tokens[1...].allSatisfy { table.attempt($0) != nil })
        #expect(table.attempt(ben) != nil)
        for number in 0..<PendingSignIns.total { _ = table.begin("\(number)", credential) }
        #expect(table.attempt(ben) == nil)
    }

    /// A client that guesses codes knows the password, so all addresses wait.
    @Test func wrongCodesDelayTheAccount() {
        let table = table()
        for _ in 0..<9 {
            table.recordWrongCode(for: "anna")
            #expect(table.wait(for: "anna") == nil)
        }
        table.recordWrongCode(for: "anna")
        #expect(table.wait(for: "anna") == 1)
        #expect(table.wait(for: "ben") == nil)
        for _ in 0..<20 { table.recordWrongCode(for: "anna") }
        #expect(table.wait(for: "anna") == 3600)
        seconds.advance(3600)
        #expect(table.wait(for: "anna") == nil)
        table.recordWrongCode(for: "anna")
        #expect(table.wait(for: "anna") == 3600)
        table.recordRightCode(for: "anna")
        #expect(table.wait(for: "anna") == nil)
    }
}
#endif
