package import DavitAccess
package import DavitHTTP
internal import Synchronization

/// Names and passwords that are sent in another way than in an Authorization field, such as in a form.
extension Authentication {
    /// The result of ``signIn(name:password:_:)``.
    package enum SignInResult: Hashable, Sendable {
        /// - Parameter number: identifies the account and its password; see ``number(of:)``.
        case admitted(name: String, number: UInt64)
        /// The user has no account here; the password was verified elsewhere.
        case admittedElsewhere(Principal)
        /// The name is unknown or the password is wrong.
        case wrong
        /// Too many attempts failed; the password was not checked.
        case tooMany(waitSeconds: Int64)
        /// The server is too busy to check the password.
        case busy
    }

    /// Whether passwords may be sent to the server, which is the case if it offers Basic.
    package var acceptsPasswords: Bool { state.withLock { $0.schemes.contains(.basic) } }

    /// Checks a name and a password in the same way as those in a Basic field: with the same cache, queue and
    /// delays after failures.
    /// - Parameter request: the request that contains them; determines the address of the client.
    package func signIn(name: [UInt8], password: [UInt8], _ request: HTTPRequest) async -> SignInResult {
        let first = checkPassword(user: name, password, key: nil, isFromForm: true, request)
        let decision =
            switch first {
            case .slow(let attempt):
                await decide(attempt) {
                    checkPassword(user: name, password, key: nil, isFromForm: true, request)
                }
            case .external(let attempt): await decide(attempt)
            default: first
            }
        return switch decision {
        // A session has all rights of its account, which an app password may not have.
        case .admitted(let login, _):
            login.appPassword == nil ? .admitted(name: login.name, number: login.number) : .wrong
        case .admittedElsewhere(let principal, _): .admittedElsewhere(principal)
        case .refused(.credentials), .refused(.otherTarget): .wrong
        case .refused(.tooMany(let seconds)): .tooMany(waitSeconds: seconds)
        case .refused(.lineFull): .tooMany(waitSeconds: 1)
        case .refused(.busy), .refused(.cancelled), .refused(.unavailable), .slow, .external: .busy
        }
    }

    /// Returns the number that identifies an account and its current password; nil if there is no such
    /// account. The number changes with the password.
    package func number(of name: String) -> UInt64? {
        state.withLock { state in
            guard let (account, isKnown) = state.accounts.account(named: Array(name.utf8)), isKnown else {
                return nil
            }
            return account.number
        }
    }

    /// Whether an admitted request has neither credentials of its own nor a user whom a trusted proxy reports, so that a session
    /// admitted it.
    package func isAdmittedBySession(_ request: HTTPRequest) -> Bool {
        !request.contains(.authorization) && !(admitsForwarded && request.forwardedIdentity != nil)
    }

    /// Sets an action that is called when a service no longer accepts a login that it accepted before.
    /// - Parameter action: receives the ``HTTPRequest/credentialNumber`` of its requests, and the names of users who have been
    ///   disabled.
    package func onExternalRevocation(
        _ action: @escaping @Sendable (_ numbers: Set<UInt64>, _ names: Set<String>) -> Void
    ) { external?.onRevocation(action) }

    /// Whether there is neither an account nor a disabled account with this name, so that it can be that of a user whom
    /// another service knows.
    package func canBeElsewhere(_ name: String) -> Bool {
        guard case .unknown = state.withLock({ $0.accounts.standing(of: Array(name.utf8)) }) else {
            return false
        }
        return true
    }

    /// Returns the remaining wait in seconds before a client may try another secret for an account; nil if it
    /// may try now.
    package func wait(for name: String, _ request: HTTPRequest) -> Int64? {
        let origin = Origin(request, name: Array(name.utf8))
        let now = now()
        return state.withLock {
            $0.failures.wait(address: origin.address, account: origin.account, now: now)
        }
    }

    /// Records that a client has sent a wrong secret other than the password, such as a code.
    package func recordFailure(for name: String, _ request: HTTPRequest) {
        recordFailure(Origin(request, name: Array(name.utf8)), name: Array(name.utf8), now: now())
    }
}
