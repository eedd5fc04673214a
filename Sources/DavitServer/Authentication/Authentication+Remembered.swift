internal import DavitHTTP
internal import Synchronization

/// Basic credentials that repeat on a connection, as in nearly all requests, are admitted without looking them up.
extension Authentication {
    /// The credentials of the last request that was admitted on a connection.
    final class RememberedLogin: Sendable {
        /// The middleware that admitted the request.
        private let owner: UInt64
        /// The generation of its accounts; the credentials may have been revoked in a later one.
        private let generation: Int
        /// The value of Authorization.
        private let value: [UInt8]
        private let remote: NetworkAddress
        private let expiry: Int64
        let login: Login

        fileprivate init(
            _ owner: Authentication, generation: Int, _ value: borrowing Span<UInt8>,
            _ remote: NetworkAddress,
            expiry: Int64, _ login: Login
        ) {
            self.owner = owner.serial
            self.generation = generation
            var copy: [UInt8] = []
            copy.append(copying: value)
            self.value = copy
            self.remote = remote
            self.expiry = expiry
            self.login = login
        }

        fileprivate func isCurrent(_ owner: Authentication, _ remote: NetworkAddress) -> Bool {
            self.owner == owner.serial && self.remote.hasSameHost(as: remote)
                && generation == owner.generation.load(ordering: .acquiring) && expiry > owner.now()
        }

        /// Compares all bytes, because a proxy can use the connection for several clients, who must not learn from the
        /// duration how much of a guess is right.
        fileprivate func matches(_ other: borrowing Span<UInt8>) -> Bool {
            guard other.count == value.count else { return false }
            var difference: UInt8 = 0
            for index in 0..<value.count { difference |= value[index] ^ other[index] }
            return difference == 0
        }
    }

    /// Returns what a request is admitted with, if its credentials are those of the request before it.
    func remembered(_ request: HTTPRequest) -> Login? {
        guard let details = request.memory.login as? RememberedLogin, !request.isForwarded,
            let remote = request.endpoints?.remote, details.isCurrent(self, remote),
            request.withOnlyValue(of: .authorization, { details.matches($0) }) == true
        else { return nil }
        return details.login
    }

    /// Remembers credentials for later requests from the same address.
    /// - Parameters:
    ///   - generation: read before the credentials were looked up.
    ///   - expiry: when they must be looked up again.
    func remember(
        _ value: borrowing Span<UInt8>, of request: HTTPRequest, generation: Int, expiry: Int64,
        _ login: Login
    ) {
        guard !request.isForwarded, let remote = request.endpoints?.remote else { return }
        request.memory.login = RememberedLogin(
            self, generation: generation, value, remote, expiry: expiry, login)
    }
}

extension NetworkAddress {
    fileprivate func hasSameHost(as other: NetworkAddress) -> Bool {
        low == other.low && high == other.high && family == other.family && scope == other.scope
    }
}
