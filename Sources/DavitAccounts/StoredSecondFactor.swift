/// What a user proves in addition to the password, as it is stored.
public struct StoredSecondFactor: Hashable, Sendable {
    /// The key of the codes.
    public let secret: [UInt8]
    /// When it was turned on, in seconds since 1970.
    public let createdAt: Int64
    /// The time step of the last accepted code; no code of this step or an earlier one is accepted.
    public var usedStep: Int64
    /// The hashes of the recovery codes that have not been used.
    public var recoveryHashes: Set<[UInt8]>

    public init(secret: [UInt8], createdAt: Int64, usedStep: Int64, recoveryHashes: Set<[UInt8]>) {
        self.secret = secret
        self.createdAt = createdAt
        self.usedStep = usedStep
        self.recoveryHashes = recoveryHashes
    }
}
