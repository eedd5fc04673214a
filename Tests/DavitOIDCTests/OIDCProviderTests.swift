#if TLS
import DavitHTTP
import DavitServer
import Synchronization
import Testing

@testable import DavitOIDC

/// The provider's documents are cached and fetched again: with a clock and responses of the test.
struct OIDCProviderTests {
    /// A provider without a network.
    final class Fake: OIDCFetcher {
        struct State {
            var keys: [String] = []
            var token = ""
            var issuer = "https://login.example.org"
            var fails = false
            var requests: [OIDCRequest] = []
            var time: Int64 = 1_800_000_000
        }

        let state = Mutex(State())

        func fetch(_ request: OIDCRequest) throws(OIDCError) -> OIDCResponse {
            let (text, fails) = state.withLock { state -> (String, Bool) in
                state.requests.append(request)
                let text =
                    switch request.url {
                    case "https://login.example.org/keys":
                        #"{"keys":[\#(state.keys.joined(separator: ","))]}"#
                    case "https://login.example.org/token": #"{"id_token":"\#(state.token)"}"#
                    default:
                        """
                        {"issuer":"\(state.issuer)","authorization_endpoint":"https://login.example.org/auth",
                        "token_endpoint":"https://login.example.org/token",
                        "jwks_uri":"https://login.example.org/keys"}
                        """
                    }
                return (text, state.fails)
            }
            if fails { throw .unavailable("down") }
            return OIDCResponse(status: 200, bytes: Array(text.utf8))
        }

        func count(_ path: String) -> Int {
            state.withLock { $0.requests.count { $0.url.hasSuffix(path) } }
        }

        func set(_ change: (inout State) -> Void) { state.withLock { change(&$0) } }
        var time: Int64 { state.withLock { $0.time } }
    }

    private let fake = Fake()
    private let provider: OIDCProvider
    private let attempt = SignInAttempt(
        redirectURL: "https://files/r", state: "s", nonce: "n-1", verifier: "v")
    private static let answer = FormFields(query: Array("code=c&state=s".utf8))

    init() {
        let fake = fake
        provider = OIDCProvider(
            OIDCSettings(issuer: "https://login.example.org", clientID: "davit"), fetcher: fake,
            wallClock: { fake.time }, monotonicClock: { fake.time })
    }

    private func claims() -> String {
        IDTokenTests.claims(["exp": "\(fake.time + 300)", "iat": "\(fake.time)"])
    }

    private func isInvalid(_ found: SignInVerification) -> Bool {
        if case .invalid = found { true } else { false }
    }

    @Test func usersAreVerified() async throws {
        let key = try TestKey("RS256", id: "a")
        let (text, json) = (try key.token(claims()), key.json())
        fake.set { ($0.keys, $0.token) = ([json], text) }
        #expect(await provider.verify(Self.answer, attempt) == .right(name: "anna", groups: []))
        // Documents are cached for an hour, and codes are not.
        #expect(await provider.verify(Self.answer, attempt) == .right(name: "anna", groups: []))
        #expect(fake.count("configuration") == 1 && fake.count("/keys") == 1 && fake.count("/token") == 2)
        fake.set { $0.time += 3601 }
        let later = try key.token(claims())
        fake.set { $0.token = later }
        #expect(await provider.verify(Self.answer, attempt) == .right(name: "anna", groups: []))
        #expect(fake.count("configuration") == 2 && fake.count("/keys") == 2)
        // The token of another sign-in.
        let other = SignInAttempt(redirectURL: "https://files/r", state: "s", nonce: "n-2", verifier: "v")
        #expect(
            await provider.verify(Self.answer, other) == .invalid(reason: IDToken.Problem.claim("nonce").text)
        )
    }

    @Test func keysCanBeReplaced() async throws {
        let (old, new) = (try TestKey("ES256", id: "a"), try TestKey("EdDSA", id: "b"))
        let (first, second) = (try old.token(claims()), try new.token(claims()))
        let (oldJSON, newJSON) = (old.json(), new.json())
        fake.set { ($0.keys, $0.token) = ([oldJSON], first) }
        #expect(await provider.verify(Self.answer, attempt) == .right(name: "anna", groups: []))
        fake.set { $0.time += 60 }
        fake.set { ($0.keys, $0.token) = ([newJSON], second) }
        #expect(await provider.verify(Self.answer, attempt) == .right(name: "anna", groups: []))
        #expect(fake.count("/keys") == 2)
        // The provider no longer publishes the old key.
        fake.set { $0.token = first }
        #expect(isInvalid(await provider.verify(Self.answer, attempt)))
    }

    @Test func unknownKeysAreRequestedOnceAMinute() async throws {
        let (known, unknown) = (try TestKey("ES256", id: "a"), try TestKey("ES256", id: "b"))
        let (token, json) = (try unknown.token(claims()), known.json())
        fake.set { ($0.keys, $0.token) = ([json], token) }
        for _ in 0..<5 { #expect(isInvalid(await provider.verify(Self.answer, attempt))) }
        #expect(fake.count("/keys") == 1)
        fake.set { $0.time += 60 }
        for _ in 0..<5 { #expect(isInvalid(await provider.verify(Self.answer, attempt))) }
        #expect(fake.count("/keys") == 2)
    }

    @Test func unusableMetadataAreRequestedOnceInFiveSeconds() async {
        fake.set { $0.issuer = "https://other.example.org" }
        for _ in 0..<5 {
            guard case .invalid = await provider.url(for: attempt) else { return #expect(Bool(false)) }
        }
        #expect(fake.count("configuration") == 1)
        fake.set {
            $0.time += 5
            $0.issuer = "https://login.example.org"
        }
        guard case .url(let url) = await provider.url(for: attempt) else { return #expect(Bool(false)) }
        #expect(url.hasPrefix("https://login.example.org/auth?response_type=code&client_id=davit&"))
    }

    @Test func outagesAreReported() async throws {
        fake.set { $0.fails = true }
        #expect(await provider.url(for: attempt) == .unavailable(reason: "down"))
        #expect(await provider.verify(Self.answer, attempt) == .unavailable(reason: "down"))
        // Whatever the metadata are, a denial needs no request to the provider.
        fake.set { $0.fails = false }
        _ = await provider.url(for: attempt)
        fake.set { $0.fails = true }
        let denial = FormFields(query: Array("error=access_denied&state=s".utf8))
        #expect(await provider.verify(denial, attempt) == .denied)
        #expect(fake.count("/token") == 0)
    }
}
#endif
