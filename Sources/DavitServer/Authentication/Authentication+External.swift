internal import DavitAccess
internal import DavitHTTP
internal import Synchronization

/// Users without an account here, whose passwords are verified elsewhere.
extension Authentication {
    /// Returns the attempt to log in with a name that has no account here; nil if passwords are not verified
    /// elsewhere, or if the name is that of an account, even of a disabled one.
    func externalDecision(
        user: [UInt8], password: [UInt8], key: CredentialKeys.Key?, _ request: HTTPRequest, now: Int64
    ) -> Decision? {
        guard let external else { return nil }
        let standing = state.withLock { $0.accounts.standing(of: user) }
        switch standing {
        case .account: return nil
        case .disabled: return .refused(.credentials(isStale: false))
        case .unknown: break
        }
        // An empty password would be an unauthenticated bind, which directories accept (RFC 4513 §5.1.2).
        guard let key, let name = String(validating: user, as: UTF8.self),
            Accounts.problem(ofName: name) == nil,
            1...Accounts.limitBytes ~= password.count, !password.contains(where: \.isControl),
            let text = String(validating: password, as: UTF8.self)
        else { return .refused(.credentials(isStale: false)) }
        let origin = Origin(request, name: user)
        let attempt = ExternalLogins.Attempt(
            key: key, name: name, password: text, peer: origin.peer, account: origin.account,
            address: origin.address, network: origin.network)
        let recent = external.recall(key)
        // Clients that have logged in keep access during a guessing attack from another network.
        if case .right(_, _, let peer, _)? = recent, let recent,
            PeerNetwork(of: peer) == PeerNetwork(of: origin.peer)
        {
            return decision(for: recent)
        }
        let wait = state.withLock {
            $0.failures.wait(address: origin.address, account: origin.account, now: now)
        }
        if let wait { return .refused(.tooMany(waitSeconds: wait)) }
        return recent.map(decision) ?? .external(attempt)
    }

    /// Decides about a request whose password must be verified elsewhere.
    func decide(_ attempt: ExternalLogins.Attempt) async -> Decision {
        guard let external else { return .refused(.busy) }
        let (outcome, isFirst) = await external.verify(attempt) { [self] entry in
            state.withLock { state in
                let pair = AccountAddressPair(account: entry.account, address: entry.address)
                let hasFailed = state.failures.hasFailed(address: entry.address, now: now())
                return state.proven[pair] == true
                    ? (hasFailed ? .unknown : .proven) : (hasFailed ? .failed : .unknown)
            }
        }
        if isFirst {
            let now = now()
            switch outcome {
            case .right:
                let pair = AccountAddressPair(account: attempt.account, address: attempt.address)
                let isKnown = state.withLock { state in
                    defer { state.proven.set(true, for: pair) }
                    return state.proven[pair] == true
                }
                if !isKnown { auditLogin(attempt.name, from: attempt.peer) }
            case .wrong:
                auditFailure(attempt.name, from: attempt.peer)
                let seconds = state.withLock {
                    $0.failures.failed(address: attempt.address, account: attempt.account, now: now)
                }
                if seconds > 0 { report(attempt.peer, seconds) }
                didFail(attempt.peer)
            default: break
            }
        }
        return decision(for: outcome)
    }

    private func decision(for outcome: ExternalLogins.Outcome) -> Decision {
        switch outcome {
        case .right(let name, let groups, _, let number):
            // The service may spell the name as an account here, to which the password does not belong.
            guard case .unknown = state.withLock({ $0.accounts.standing(of: Array(name.utf8)) }),
                Accounts.problem(ofName: name) == nil
            else { return .refused(.credentials(isStale: false)) }
            return .admittedElsewhere(Principal(.account, name, groups: groups), number: number)
        case .wrong, .disabled: return .refused(.credentials(isStale: false))
        case .unavailable(let seconds): return .refused(.unavailable(seconds: seconds))
        case .busy: return .refused(.busy)
        case .lineFull: return .refused(.lineFull)
        case .cancelled: return .refused(.cancelled)
        }
    }
}
