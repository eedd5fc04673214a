internal import DavitCrypto
internal import DavitHTTP
internal import Synchronization

#if TLS
/// The Digest scheme (RFC 7616).
extension Authentication {
    /// Lifetime of a nonce in nanoseconds. After half of that time, responses contain a new nonce in
    /// `nextnonce`.
    static let nonceLifetime: Int64 = 300_000_000_000

    /// Returns a challenge (§3.3). Only SHA-256 challenges offer `userhash`, because clients that need MD5
    /// predate it.
    func challenge(_ algorithm: DigestSecret.Algorithm, _ nonce: [UInt8], isStale: Bool) -> [UInt8] {
        var text = Array("Digest realm=\"".utf8) + realm
        text += Array("\", nonce=\"".utf8) + nonce
        text += Array("\", opaque=\"".utf8) + opaque
        text += Array("\", algorithm=\(algorithm.name), qop=\"auth\", charset=UTF-8".utf8)
        if algorithm == .sha256 { text += Array(", userhash=true".utf8) }
        if isStale { text += Array(", stale=true".utf8) }
        return text
    }

    func checkDigest(_ credentials: DigestCredentials, _ request: HTTPRequest) -> Decision {
        let refused = Decision.refused(.credentials(isStale: false))
        guard let algorithm = Self.algorithm(credentials.algorithm), credentials.realm == realm else {
            return refused
        }
        guard request.isFor(uri: credentials.uri) else { return .refused(.otherTarget) }
        let now = now()
        let nonce = nonceGenerator.read(credentials.nonce)
        let found = state.withLock { state -> Found in
            guard let (account, isKnown) = Self.account(of: credentials.user, in: state.accounts),
                state.accounts.settings.schemes.contains(where: { $0.algorithm == algorithm })
            else { return .nothing }
            let last = nonce.flatMap { state.nonces.credential(of: $0.number) }
            let candidates = candidates(of: account, algorithm, first: last)
            if candidates.isEmpty { return .nothing }
            let origin = Origin(request, name: isKnown ? Array(account.name.utf8) : credentials.user.bytes)
            // A client that has logged in before is not delayed by the failures of others at its address.
            // An old nonce does not count, because its client may only know a password that has been revoked.
            let isEstablished =
                isKnown
                && nonce.map {
                    $0.time > now - Self.nonceLifetime
                        && state.nonces.isKnown($0.number, account: origin.account)
                } ?? false
            if !isEstablished,
                let wait = state.failures.wait(address: origin.address, account: origin.account, now: now)
            {
                return .wait(wait)
            }
            return .account(candidates, isKnown: isKnown, origin)
        }
        switch found {
        case .nothing: return refused
        case .wait(let seconds): return .refused(.tooMany(waitSeconds: seconds))
        case .account(let candidates, let isKnown, let origin):
            let answer = Self.answer(credentials, method: request.method)
            let right = candidates.first {
                (try? $0.secret.verifies(credentials.response, for: answer)) ?? false
            }
            guard let right, isKnown else {
                recordFailure(origin, name: credentials.user.bytes, now: now)
                return refused
            }
            // The client has proven that it knows the password. If its nonce cannot be used, it only needs a new
            // one (§3.3, stale).
            guard let nonce, credentials.opaque.map({ $0 == opaque }) ?? true,
                take(credentials.count, of: nonce, origin, credential: right.login.number, now: now)
            else { return .refused(.credentials(isStale: true)) }
            // Each nonce begins with the count 1.
            if credentials.count == 1 {
                auditLogin(right.login.name, from: origin.peer, right.login.appPassword?.id)
            }
            return .admitted(right.login, info: info(credentials, right.secret, nonce, now: now))
        }
    }

    /// A secret of an account, and what a client that knows it is admitted with.
    private struct Candidate {
        let secret: DigestSecret
        let login: Login
    }

    private enum Found {
        case nothing
        case wait(Int64)
        case account([Candidate], isKnown: Bool, Origin)
    }

    /// Returns the secrets with which a client can answer a challenge: those of the password of the account and of its app
    /// passwords.
    /// - Parameter first: the number of the credential that is compared first, because it was right before.
    private func candidates(
        of account: Accounts.Account, _ algorithm: DigestSecret.Algorithm, first: UInt64?
    ) -> [Candidate] {
        var candidates: [Candidate] = []
        if account.allowsAccountPassword, let secret = account.secret.digest(algorithm) {
            candidates.append(Candidate(secret: secret, login: Login(account)))
        }
        guard let appPasswords, !account.appPasswords.isEmpty else { return candidates }
        let seconds = appPasswords.seconds()
        for password in account.appPasswords where !password.isExpired(at: seconds) {
            for secret in password.secret.digests where secret.algorithm == algorithm {
                candidates.append(Candidate(secret: secret, login: Login(account, password)))
            }
        }
        guard let first else { return candidates }
        return candidates.filter { $0.login.number == first } + candidates.filter { $0.login.number != first }
    }

    private func take(
        _ count: UInt32, of nonce: NonceGenerator.Content, _ origin: Origin, credential: UInt64, now: Int64
    ) -> Bool {
        let oldest = now - Self.nonceLifetime
        guard nonce.time > oldest else { return false }
        return state.withLock {
            $0.nonces.take(
                count, of: nonce.number, time: nonce.time, account: origin.account, credential: credential,
                oldest: oldest)
        }
    }

    /// Returns the Authentication-Info value (§3.5), which proves that the server also knows the password, and
    /// includes a new nonce once half the lifetime of the current one has passed.
    private func info(
        _ credentials: DigestCredentials, _ secret: DigestSecret, _ nonce: NonceGenerator.Content, now: Int64
    ) -> [UInt8]? {
        // The value is computed like that of the request's `response`, but with an empty method.
        var answer = Self.answer(credentials, method: .get)
        answer.method = []
        guard let proof = try? secret.response(to: answer) else { return nil }
        var text = Array("rspauth=\"".utf8) + proof
        text += Array("\", qop=auth, nc=".utf8) + credentials.countDigits
        text += Array(", cnonce=\"".utf8) + credentials.clientNonce + [UInt8(ascii: "\"")]
        if now - nonce.time > Self.nonceLifetime / 2, let next = nonceGenerator.make(now: now) {
            text += Array(", nextnonce=\"".utf8) + next + [UInt8(ascii: "\"")]
        }
        return text
    }

    private static func answer(
        _ credentials: DigestCredentials, method: HTTPMethod
    ) -> DigestSecret.Answer {
        DigestSecret.Answer(
            method: Array(method.rawValue.utf8), uri: credentials.uri, nonce: credentials.nonce,
            count: credentials.countDigits, clientNonce: credentials.clientNonce)
    }

    private static func account(
        of user: DigestCredentials.User, in accounts: Accounts
    ) -> (account: Accounts.Account, isKnown: Bool)? {
        switch user {
        case .name(let name): accounts.account(named: name)
        case .hash(let digits): accounts.account(hashed: digits.map(\.lowercasedASCII))
        }
    }

    /// Returns the algorithm with this name, or MD5 without a name (§3.4); nil for unsupported algorithms,
    /// such as the `-sess` variants.
    private static func algorithm(_ name: [UInt8]?) -> DigestSecret.Algorithm? {
        guard let name else { return .md5 }
        return DigestSecret.Algorithm.allCases.first {
            Array($0.name.utf8).map(\.lowercasedASCII) == name.map(\.lowercasedASCII)
        }
    }
}

extension DigestCredentials.User {
    fileprivate var bytes: [UInt8] {
        switch self {
        case .name(let bytes), .hash(let bytes): bytes
        }
    }
}

extension HTTPRequest {
    /// Whether `uri` identifies the target of this request (RFC 7616 §3.4.6): the target as received, or the
    /// same target with or without scheme, host and prefix, which a proxy may have added or removed.
    fileprivate func isFor(uri: [UInt8]) -> Bool {
        let start = (head.firstIndex(of: UInt8(ascii: " ")) ?? head.endIndex - 1) + 1
        let end = head[start...].firstIndex(of: UInt8(ascii: " ")) ?? head.endIndex
        let sent = Array(head[start..<end])
        if sent.hasSameBytes(as: uri) { return true }
        guard let own = Self.parse(sent, method), let other = Self.parse(uri, method),
            own.rawPath == other.rawPath || mountPath + own.rawPath == other.rawPath,
            own.rawQuery == other.rawQuery
        else { return false }
        guard let named = other.authority else { return true }
        return named.map(\.lowercasedASCII)
            == (own.authority ?? bytes(of: .host))?.map(\.lowercasedASCII)
    }

    private static func parse(_ text: [UInt8], _ method: HTTPMethod) -> RequestTarget? {
        var target = RequestTarget()
        do throws(HTTPError) { try target.parse(text.span, method: method) } catch { return nil }
        return target
    }
}
#endif
