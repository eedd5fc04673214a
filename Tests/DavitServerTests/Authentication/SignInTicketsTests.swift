#if TLS
import DavitHTTP
import DavitServer
import Testing

/// What browsers present when they return from a provider.
struct SignInTicketsTests {
    private let tickets = SignInTickets()
    private static let now: Int64 = 1_800_000_000

    private func make(_ destination: String = "/a?b") throws -> (ticket: SignInTickets.Ticket, value: String)
    {
        try #require(tickets.make(to: destination, now: Self.now))
    }

    @Test func ticketsAreValidForTenMinutes() throws {
        let (ticket, value) = try make()
        #expect(ticket.destination == "/a?b")
        #expect(tickets.open(value, now: Self.now) == ticket)
        #expect(tickets.open(value, now: Self.now + 600) == ticket)
        #expect(tickets.open(value, now: Self.now + 601) == nil)
        // The clock has been set back.
        #expect(tickets.open(value, now: Self.now - 1) == nil)
        // A ticket of another process.
        #expect(SignInTickets().open(value, now: Self.now) == nil)
    }

    @Test func changedTicketsAreRefused() throws {
        let value = try make().value
        let bytes = try #require(Base64URL.decode(value.utf8))
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= 1
            #expect(tickets.open(Base64URL.encode(changed), now: Self.now) == nil)
        }
        for count in 0..<value.utf8.count {
            #expect(tickets.open(String(value.prefix(count)), now: Self.now) == nil)
        }
        for text in ["", "=", value + "A", value + "=", "é", String(repeating: "A", count: 5000)] {
            #expect(tickets.open(text, now: Self.now) == nil)
        }
    }

    @Test func destinationsAreLimited() throws {
        let long = "/" + String(repeating: "x", count: SignInTickets.destinationBytes - 1)
        let (ticket, value) = try make(long)
        // Browsers limit cookies to 4096 bytes.
        #expect(value.utf8.count < 3000 && tickets.open(value, now: Self.now) == ticket)
        #expect(tickets.make(to: long + "x", now: Self.now) == nil)
    }

    @Test func secretsDifferAndBelongToTheTicket() throws {
        let (first, second) = (try make(), try make())
        let attempt = try #require(tickets.attempt(of: first.ticket, redirectURL: "https://a"))
        let opened = try #require(tickets.open(first.value, now: Self.now))
        #expect(tickets.attempt(of: opened, redirectURL: "https://a") == attempt)
        let other = try #require(tickets.attempt(of: second.ticket, redirectURL: "https://a"))
        let texts = [attempt, other].flatMap { [$0.state, $0.nonce, $0.verifier] }
        #expect(Set(texts).count == 6)
        // RFC 7636 §4.1: a verifier has at least 43 unreserved characters.
        #expect(texts.allSatisfy { $0.utf8.count == 43 && $0.utf8.allSatisfy(\.isUnreserved) })
        // The cookie does not reveal them.
        #expect(texts.allSatisfy { !first.value.contains($0) })
        let elsewhere = SignInTickets()
        #expect(elsewhere.attempt(of: first.ticket, redirectURL: "https://a") != attempt)
    }
}
#endif
