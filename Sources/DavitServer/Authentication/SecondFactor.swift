#if TLS
internal import DavitCrypto
internal import DavitHTTP

/// What a user proves in addition to the password: a ``TimeCode``, or one of the recovery codes.
package struct SecondFactor: Hashable, Sendable {
    /// The number of recovery codes.
    package static let recoveryCodeCount = 10
    /// Length of a recovery code in bytes: 80 random bits.
    private static let recoveryCodeBytes = 10

    /// The key of the codes.
    package let secret: [UInt8]
    /// When it was turned on, in seconds since 1970.
    package let createdAt: Int64
    /// No code of this time step or of an earlier one is accepted.
    package var usedStep: Int64
    /// The hashes of the recovery codes that have not been used.
    package var recoveryHashes: Set<[UInt8]>

    package init(secret: [UInt8], createdAt: Int64, usedStep: Int64, recoveryHashes: Set<[UInt8]>) {
        self.secret = secret
        self.createdAt = createdAt
        self.usedStep = usedStep
        self.recoveryHashes = recoveryHashes
    }

    /// Returns new recovery codes in base32, in groups of four characters.
    package static func makeRecoveryCodes() -> [String] {
        (0..<recoveryCodeCount).map { _ in grouped(Base32.encode(RandomBytes.make(count: recoveryCodeBytes)))
        }
    }

    /// Returns the hash under which a recovery code is stored; nil if the text cannot be one. The codes are random, so
    /// a fast hash suffices.
    package static func hash(ofRecoveryCode text: String) -> [UInt8]? {
        guard let code = Base32.decode(text), code.count == recoveryCodeBytes else { return nil }
        do throws(CryptoError) { return try Digest.of(code.span, .sha256) } catch { return nil }
    }

    /// Returns text in groups of four characters, which are easier to read and to type.
    package static func grouped(_ text: String) -> String {
        var grouped = ""
        for (index, character) in text.enumerated() {
            if index > 0, index.isMultiple(of: 4) { grouped += "-" }
            grouped.append(character)
        }
        return grouped
    }
}

/// Storage for second factors. Calls other than ``factor(of:)`` block.
package protocol SecondFactorStore: Sendable {
    /// Returns the second factor of an account; nil without one. Does not block.
    func factor(of account: String) -> SecondFactor?
    /// Sets or removes the second factor of an account.
    /// - Parameter session: the only session of the account that does not end.
    func set(_ factor: SecondFactor?, of account: String, keeping session: Int64?) throws(SessionStoreError)
    /// Records that the code of a time step was used.
    /// - Returns: false if this code or a later one was used before.
    func use(step: Int64, of account: String) throws(SessionStoreError) -> Bool
    /// Removes a recovery code.
    /// - Returns: false if there is no such code.
    func use(recoveryHash: [UInt8], of account: String) throws(SessionStoreError) -> Bool
}
#endif
