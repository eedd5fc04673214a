#if TLS
internal import DavitHTTP
internal import DavitServer

/// The second factor: the code after the password, and turning it on and off.
extension AccountEndpoint {
    /// The result of a code.
    private enum CodeResult {
        case right
        case wrong
        case wait(seconds: Int64)
        /// The store failed, or too much work is waiting.
        case busy

        var failure: SignInView.Failure? {
            switch self {
            case .right: nil
            case .wrong: .wrongCode
            case .wait(let seconds): .wait(seconds: seconds)
            case .busy: .busy
            }
        }
    }

    // MARK: Signing in

    /// Checks the code after the password, and begins the session.
    func checkCode(
        _ request: HTTPRequest, _ form: FormFields, _ current: SessionTable.Entry?,
        _ authentication: Authentication
    ) async throws(HTTPError) -> HTTPResponse {
        let token = form["pending"] ?? ""
        guard let entry = pending.attempt(token),
            credential(of: entry.account, authentication) == entry.credential
        else { return refusal(.wrong, request, form) }
        let result = await check(form["code"] ?? "", of: entry.account, request, authentication)
        guard let failure = result.failure else {
            pending.end(token)
            return try await begin(entry.account, entry.credential, request, form, current, authentication)
        }
        return codeForm(token, failure, request, form)
    }

    /// Checks a code or a recovery code and marks it as used.
    private func check(
        _ text: String, of account: String, _ request: HTTPRequest, _ authentication: Authentication
    ) async -> CodeResult {
        guard let factors, let factor = factors.factor(of: account) else { return .wrong }
        if let seconds = authentication.wait(for: account, request) { return .wait(seconds: seconds) }
        let code = text.filter { $0 != " " }
        let isUsed: Bool?
        if let hash = SecondFactor.hash(ofRecoveryCode: code) {
            isUsed = await use { () throws(SessionStoreError) in
                try factors.use(recoveryHash: hash, of: account)
            }
        } else {
            if let seconds = pending.wait(for: account) { return .wait(seconds: seconds) }
            guard let step = TimeCode.step(of: code, factor.secret, at: now(), after: factor.usedStep) else {
                return wrong(account, request, authentication)
            }
            isUsed = await use { () throws(SessionStoreError) in try factors.use(step: step, of: account) }
        }
        switch isUsed {
        case true?:
            pending.recordRightCode(for: account)
            return .right
        case false?: return wrong(account, request, authentication)
        case nil: return .busy
        }
    }

    private func wrong(
        _ account: String, _ request: HTTPRequest, _ authentication: Authentication
    ) -> CodeResult {
        pending.recordWrongCode(for: account)
        authentication.recordFailure(for: account, request)
        return .wrong
    }

    /// - Returns: nil if the store failed or too much work is waiting.
    private func use(
        _ body: @escaping @Sendable () throws(SessionStoreError) -> Bool
    ) async -> Bool? {
        let result = await work.run { () -> Bool? in
            do throws(SessionStoreError) { return try body() } catch { return nil }
        }
        return result ?? nil
    }

    // MARK: Turning it on and off

    /// Performs an action of the account page.
    func changeFactor(
        _ action: AccountAction, _ request: HTTPRequest, _ form: FormFields, _ account: String,
        _ current: SessionTable.Entry?, _ authentication: Authentication
    ) async throws(HTTPError) -> HTTPResponse {
        guard let factors, let number = authentication.number(of: account) else {
            throw HTTPError(.notFound, "Two-step sign-in is not available on this server.")
        }
        let factor = factors.factor(of: account)
        if action == .startFactor || action == .setFactor {
            if factor != nil { return redirect(request, query: AccountRoute.query) }
            return action == .startFactor
                ? setup(request, account, TimeCode.makeSecret(), nil)
                : try await turnOn(request, form, account, current, authentication)
        }
        guard let factor else { return redirect(request, query: AccountRoute.query) }
        let result = await check(form["code"] ?? "", of: account, request, authentication)
        if let failure = result.failure { return page(for: request, of: account, failure: failure) }
        if action == .removeFactor {
            return await set(nil, of: account, number, current, authentication)
                ? redirect(request, query: AccountRoute.query)
                : page(for: request, of: account, failure: .busy)
        }
        // The check has recorded its use in the store.
        return await setCodes(
            factors.factor(of: account) ?? factor, request, account, number, current, authentication)
    }

    private func setup(
        _ request: HTTPRequest, _ account: String, _ secret: [UInt8], _ failure: SignInView.Failure?
    ) -> HTTPResponse {
        let view = FactorSetupView(
            frame: AccountFrame(request, title: title), account: account, issuer: title, secret: secret,
            failure: failure)
        return view.response()
    }

    /// Turns the second factor on, if the user has the password and the app has the secret. The secret is that of the
    /// form: only its user can have sent it, and could have chosen another one.
    private func turnOn(
        _ request: HTTPRequest, _ form: FormFields, _ account: String, _ current: SessionTable.Entry?,
        _ authentication: Authentication
    ) async throws(HTTPError) -> HTTPResponse {
        guard let secret = Base32.decode(form["secret"] ?? ""), secret.count == TimeCode.secretBytes else {
            throw HTTPError(.badRequest, "The secret is missing.")
        }
        let password = Array((form["password"] ?? "").utf8)
        let number: UInt64
        switch await authentication.signIn(name: Array(account.utf8), password: password, request) {
        case .admitted(_, let verified): number = verified
        case .wrong, .admittedElsewhere: return setup(request, account, secret, .wrong)
        case .tooMany(let seconds): return setup(request, account, secret, .wait(seconds: seconds))
        case .busy: return setup(request, account, secret, .busy)
        }
        let code = (form["code"] ?? "").filter { $0 != " " }
        guard let step = TimeCode.step(of: code, secret, at: now(), after: 0) else {
            return setup(request, account, secret, .wrongCode)
        }
        let factor = SecondFactor(secret: secret, createdAt: now(), usedStep: step, recoveryHashes: [])
        return await setCodes(factor, request, account, number, current, authentication)
    }

    /// Stores a second factor with new recovery codes, and shows them.
    private func setCodes(
        _ factor: SecondFactor, _ request: HTTPRequest, _ account: String, _ number: UInt64,
        _ current: SessionTable.Entry?, _ authentication: Authentication
    ) async -> HTTPResponse {
        let codes = SecondFactor.makeRecoveryCodes()
        var factor = factor
        factor.recoveryHashes = Set(codes.compactMap { SecondFactor.hash(ofRecoveryCode: $0) })
        guard factor.recoveryHashes.count == codes.count,
            await set(factor, of: account, number, current, authentication)
        else { return page(for: request, of: account, failure: .busy) }
        return RecoveryCodesView(frame: AccountFrame(request, title: title), codes: codes).response()
    }

    /// Stores a second factor. Ends all sessions of the account except that of the request.
    /// - Parameter number: identifies the account and the password that permit the change.
    /// - Returns: whether it is stored.
    private func set(
        _ factor: SecondFactor?, of account: String, _ number: UInt64, _ current: SessionTable.Entry?,
        _ authentication: Authentication
    ) async -> Bool {
        guard let factors, authentication.number(of: account) == number else { return false }
        let id = current?.session.id
        if let id { sessions.bind(id, of: account, to: nil) }
        let isStored = await use { () throws(SessionStoreError) in
            try factors.set(factor, of: account, keeping: id)
            return true
        }
        if let id {
            // The session must not outlive a change of the password in the meantime.
            if let credential = credential(of: account, authentication), credential.number == number {
                sessions.bind(id, of: account, to: credential)
                if self.credential(of: account, authentication) != credential {
                    await sessions.end([id], of: account)
                }
            } else {
                await sessions.end([id], of: account)
            }
        }
        return isStored == true
    }
}
#endif
