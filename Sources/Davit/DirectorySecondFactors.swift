#if TLS
internal import DavitAccounts
internal import DavitServer

/// The second factors in the database of accounts.
struct DirectorySecondFactors: SecondFactorStore {
    let directory: AccountDirectory

    func factor(of account: String) -> SecondFactor? {
        directory.secondFactor(of: account).map {
            SecondFactor(
                secret: $0.secret, createdAt: $0.createdAt, usedStep: $0.usedStep,
                recoveryHashes: $0.recoveryHashes)
        }
    }

    func set(
        _ factor: SecondFactor?, of account: String, keeping session: Int64?
    ) throws(SessionStoreError) {
        let stored = factor.map {
            StoredSecondFactor(
                secret: $0.secret, createdAt: $0.createdAt, usedStep: $0.usedStep,
                recoveryHashes: $0.recoveryHashes)
        }
        _ = try commit(.setSecondFactor(account: account, stored, keepingSession: session))
    }

    func use(step: Int64, of account: String) throws(SessionStoreError) -> Bool {
        try commit(.useCode(account: account, step: step))
    }

    func use(recoveryHash: [UInt8], of account: String) throws(SessionStoreError) -> Bool {
        try commit(.useRecoveryCode(account: account, hash: recoveryHash))
    }

    /// - Returns: false if the code was used before.
    private func commit(_ change: AccountChange) throws(SessionStoreError) -> Bool {
        do throws(AccountError) {
            try directory.commit([change])
            return true
        } catch {
            if case .codeNotUsable = error { return false }
            throw SessionStoreError(reason: error.text)
        }
    }
}
#endif
