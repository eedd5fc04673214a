internal import DavitAccess
internal import DavitAccounts
package import DavitEngine
package import DavitHTTP
internal import DavitServer
internal import DavitStore

/// Lets accounts list and change accounts, groups, rules, locks and uploads over HTTP, in JSON. The operations are those of the
/// `davit` commands, within the rights of the account.
package struct AdministrationEndpoint: ShareAdministration {
    /// The maximum number of accounts, groups, rules, locks or uploads in a response.
    static let limitItems = 5000

    /// The maximum length of a path in a request, percent-encoded.
    static let limitPathBytes = 12 << 10

    let accounts: AccountAdmin

    package init(_ accounts: AccountAdmin) { self.accounts = accounts }

    package func response(
        to visit: PageContext, about subject: AdministrationSubject
    ) async throws(HTTPError) -> HTTPResponse {
        // App passwords and links are for programs that need files.
        guard visit.principal.kind == .account || visit.principal.kind == .certificate else {
            throw HTTPError(.forbidden)
        }
        let isChange = visit.request.method == .post
        switch subject {
        case .access:
            guard visit.rights.mayManage else { throw HTTPError(.forbidden) }
            return isChange ? try await setRule(visit) : try await listRules(visit)
        case .accounts:
            try requireAdministrator(visit)
            return isChange ? try await changeAccounts(visit) : try await listAccounts(visit)
        case .appPasswords:
            guard visit.target.isRoot else { throw HTTPError(.notFound) }
            return isChange ? try await changeAppPasswords(visit) : try await listAppPasswords(visit)
        case .sessions:
            try requireAdministrator(visit)
            return isChange ? try await endSession(visit) : try await listSessions(visit)
        case .locks:
            try requireAdministrator(visit)
            return isChange ? try await breakLock(visit) : try await listLocks(visit)
        case .uploads:
            try requireAdministrator(visit)
            return isChange ? try await cancelUpload(visit) : try await listUploads(visit)
        }
    }

    /// - Throws: 404 if the target is not the root; 403 for accounts without the right to manage it.
    private func requireAdministrator(_ visit: PageContext) throws(HTTPError) {
        guard visit.target.isRoot else { throw HTTPError(.notFound) }
        guard visit.rights.mayManage else { throw HTTPError(.forbidden) }
    }

    // MARK: Rules

    private func listRules(_ visit: PageContext) async throws(HTTPError) -> HTTPResponse {
        let accounts = accounts
        return try await work(visit) { () throws(AccountError) -> JSONWriter? in
            FolderRules(try accounts.contents(), try accounts.directory()?.homes, visit).json
        }
    }

    /// Sets or removes the rule for `subject` in the folder, or in `path` below it.
    private func setRule(_ visit: PageContext) async throws(HTTPError) -> HTTPResponse {
        let fields = try await JSONFields(of: visit.request)
        guard let subject = AccessRule.Subject(parsing: try fields.required("subject")) else {
            throw HTTPError(.unprocessableContent, "The subject is invalid.")
        }
        var path = visit.target
        if let text = fields["path"] {
            guard let other = Self.path(text), visit.target.contains(other) else {
                throw HTTPError(.unprocessableContent, "The path is not in this folder.")
            }
            path = other
        }
        guard let rights = try rights(fields) else {
            guard fields.contains("rights") else {
                throw HTTPError(.unprocessableContent, "A required member is missing.")
            }
            return try await commit([.removeRule(subject, path)], visit)
        }
        return try await commit([.setRule(AccessRule(subject, path, rights))], visit)
    }

    /// Decodes a percent-encoded path; returns nil if it is too long or malformed.
    static func path(_ text: String) -> ResourcePath? {
        guard text.utf8.count <= limitPathBytes, let bytes = PercentCoding.decode(Array(text.utf8)) else {
            return nil
        }
        return ResourcePath(segments: bytes.split(separator: UInt8(ascii: "/")))
    }

    func rights(_ fields: JSONFields) throws(HTTPError) -> Rights? {
        guard let text = fields["rights"] else { return nil }
        guard let rights = Rights(parsing: text) else {
            throw HTTPError(.unprocessableContent, "The rights are invalid.")
        }
        return rights
    }

    // MARK: Accounts and groups

    private func listAccounts(_ visit: PageContext) async throws(HTTPError) -> HTTPResponse {
        let accounts = accounts
        return try await work(visit) { () throws(AccountError) -> JSONWriter? in
            let contents = try accounts.contents()
            var json = JSONWriter()
            let limit = Self.limitItems
            json.object {
                $0.member("accounts", contents.accounts.prefix(limit)) {
                    $0.member("name", $1.name)
                    $0.member("isEnabled", $1.isEnabled)
                }
                $0.member("groups", contents.groups.sorted { $0.key < $1.key }.prefix(limit)) {
                    $0.member("name", $1.key)
                    $0.member("members", $1.value.sorted())
                }
                $0.member("rules", contents.rules.prefix(limit)) { $0.members(of: $1, showsPath: true) }
                $0.member(
                    "isComplete",
                    max(contents.accounts.count, contents.groups.count, contents.rules.count) <= limit)
            }
            return json
        }
    }

    private func changeAccounts(_ visit: PageContext) async throws(HTTPError) -> HTTPResponse {
        let fields = try await JSONFields(of: visit.request)
        let action = try fields.required("action")
        switch action {
        case "add-account", "set-password":
            let (name, password) = (try fields.required("name"), try fields.required("password"))
            let rights = action == "add-account" ? try rights(fields) : nil
            let secret = try await hash(password, visit)
            if action == "set-password" {
                return try await commit([.setSecret(account: name, secret: secret)], visit)
            }
            let added = AccountChange.addAccount(StoredAccount(name: name, secret: secret))
            let rule = rights.map { AccountChange.setRule(AccessRule(.user(name), .root, $0)) }
            return try await commit([added] + (rule.map { [$0] } ?? []), visit)
        default:
            guard let change = try change(action, fields) else {
                throw HTTPError(.unprocessableContent, "The action is unknown.")
            }
            return try await commit([change], visit)
        }
    }

    private func change(_ action: String, _ fields: JSONFields) throws(HTTPError) -> AccountChange? {
        switch action {
        case "enable": .setEnabled(account: try fields.required("name"), isEnabled: true)
        case "disable": .setEnabled(account: try fields.required("name"), isEnabled: false)
        case "remove-account": .removeAccount(try fields.required("name"))
        case "add-group": .addGroup(try fields.required("group"))
        case "remove-group": .removeGroup(try fields.required("group"))
        case "add-member":
            .addMember(account: try fields.required("name"), group: try fields.required("group"))
        case "remove-member":
            .removeMember(account: try fields.required("name"), group: try fields.required("group"))
        default: nil
        }
    }

    /// Returns the hash of a new password. Takes 50 to 100 ms on another thread.
    private func hash(
        _ password: String, _ visit: PageContext
    ) async throws(HTTPError) -> String {
        try await visit.offload { () -> Result<String, Accounts.Problem> in
            do throws(Accounts.Problem) {
                try Accounts.check(password: password)
                return .success(try Accounts.scryptText(password: password))
            } catch {
                return .failure(error)
            }
        }.value { HTTPError(.unprocessableContent, $0.text) }
    }

    // MARK: Locks

    private func listLocks(_ visit: PageContext) async throws(HTTPError) -> HTTPResponse {
        let admin = LockAdmin(share: visit.share, origin: "the page")
        let locks = try await visit.offload { () -> Result<[ListedLock], StoreError> in
            do throws(StoreError) {
                return .success(try admin.locks(from: 0, limit: Self.limitItems + 1))
            } catch {
                return .failure(error)
            }
        }.value { _ in HTTPError(.internalServerError, "The locks could not be read.") }
        var json = JSONWriter()
        json.object {
            $0.member("locks", locks.prefix(Self.limitItems)) {
                $0.member("path", $1.path.encodedPath)
                $0.member("token", $1.token)
                $0.member("isExclusive", $1.isExclusive)
                $0.member("isDeep", $1.isDeep)
                $0.member("owner", $1.owner)
                $0.member("account", $1.principal)
                $0.member("created", $1.created.map { String(decoding: HTTPDate.iso8601($0), as: UTF8.self) })
                $0.member("expires", HTTPDate.iso8601($1.expiry))
            }
            $0.member("isComplete", locks.count <= Self.limitItems)
        }
        return .json(json)
    }

    private func breakLock(_ visit: PageContext) async throws(HTTPError) -> HTTPResponse {
        let token = try await JSONFields(of: visit.request).required("token")
        let admin = LockAdmin(share: visit.share, origin: Self.origin(of: visit))
        switch try await visit.offload({ admin.end(.token(token)) }) {
        case .lines(let lines) where lines.isEmpty: throw HTTPError(.notFound, "There is no such lock.")
        case .lines: return HTTPResponse(status: .noContent)
        case .refused: throw HTTPError(.serviceUnavailable, "The locked resource is in use.")
        }
    }

    // MARK: Uploads

    private func listUploads(_ visit: PageContext) async throws(HTTPError) -> HTTPResponse {
        let admin = UploadAdmin(share: visit.share, origin: "the page")
        let uploads = try await visit.offload { admin.uploads(from: 0, limit: Self.limitItems + 1) }
        var json = JSONWriter()
        json.object {
            $0.member("uploads", uploads.prefix(Self.limitItems)) {
                $0.member("id", $1.id)
                $0.member("path", $1.path.encodedPath)
                $0.member("account", $1.account)
                $0.member("network", $1.network)
                $0.member("received", $1.received)
                $0.member("length", $1.length)
                $0.member("expires", HTTPDate.iso8601($1.expiry))
            }
            $0.member("isComplete", uploads.count <= Self.limitItems)
        }
        return .json(json)
    }

    private func cancelUpload(_ visit: PageContext) async throws(HTTPError) -> HTTPResponse {
        let id = try await JSONFields(of: visit.request).required("id")
        let admin = UploadAdmin(share: visit.share, origin: Self.origin(of: visit))
        switch try await visit.offload({ admin.cancel(id) }) {
        case .lines(let lines) where lines.isEmpty: throw HTTPError(.notFound, "There is no such upload.")
        case .lines: return HTTPResponse(status: .noContent)
        case .refused: throw HTTPError(.serviceUnavailable, "The upload cannot be cancelled now.")
        }
    }

    // MARK: Changes

    func commit(_ changes: [AccountChange], _ visit: PageContext) async throws(HTTPError)
        -> HTTPResponse
    {
        let accounts = accounts
        return try await work(visit) { () throws(AccountError) -> JSONWriter? in
            try accounts.commit(
                changes, on: visit.share, by: AccountEditor(visit.principal), from: Self.origin(of: visit))
            return nil
        }
    }

    static func origin(of visit: PageContext) -> String {
        "\(visit.principal.name ?? "") at \(visit.request.peerAddress)"
    }

    /// Runs blocking work on another thread. Without a value, the response is 204. Its errors become problems in JSON
    /// (RFC 9457).
    func work(
        _ visit: PageContext, _ body: @escaping @Sendable () throws(AccountError) -> JSONWriter?
    ) async throws(HTTPError) -> HTTPResponse {
        let result = try await visit.offload { () -> Result<JSONWriter?, AccountError> in
            do throws(AccountError) { return .success(try body()) } catch { return .failure(error) }
        }
        switch result {
        case .success(let json): return json.map { .json($0) } ?? HTTPResponse(status: .noContent)
        case .failure(let error):
            if case .failed(let reason) = error { accounts.report(reason) }
            return error.response
        }
    }
}

extension Result where Success: Sendable {
    /// Returns the value.
    /// - Throws: the error that corresponds to a failure.
    fileprivate func value(_ error: (Failure) -> HTTPError) throws(HTTPError) -> Success {
        switch self {
        case .success(let value): return value
        case .failure(let failure): throw error(failure)
        }
    }
}

extension AccountError {
    /// The response to a request that was refused. The last component of `type` identifies the reason.
    fileprivate var response: HTTPResponse {
        let (status, type): (HTTPStatus, String) =
            switch self {
            case .accountExists: (.conflict, "account-exists")
            case .unknownAccount: (.conflict, "unknown-account")
            case .groupExists: (.conflict, "group-exists")
            case .unknownGroup: (.conflict, "unknown-group")
            case .isMember: (.conflict, "is-member")
            case .isNotMember: (.conflict, "is-not-member")
            case .noRule: (.conflict, "no-rule")
            case .tooManyRules, .notPermitted(.tooManyRules): (.conflict, "too-many-rules")
            case .isMoving, .moveConflict, .unknownMove, .outdated: (.serviceUnavailable, "failed")
            case .unknownAppPassword: (.conflict, "unknown-app-password")
            case .appPasswordExists: (.serviceUnavailable, "failed")
            case .tooManyAppPasswords: (.conflict, "too-many-app-passwords")
            case .badLabel: (.unprocessableContent, "bad-label")
            case .noSecondFactor: (.conflict, "no-second-factor")
            case .unknownSession: (.conflict, "unknown-session")
            case .codeNotUsable: (.conflict, "code-not-usable")
            case .notPermitted(.lastAdministrator): (.conflict, "last-administrator")
            case .notPermitted(.grantsMore): (.forbidden, "grants-more")
            case .notPermitted(.notManager): (.forbidden, "not-manager")
            case .credentialChanged: (.forbidden, "credential-changed")
            case .refused: (.unprocessableContent, "failed")
            case .failed: (.serviceUnavailable, "failed")
            }
        // The text of other errors contains paths of the server.
        if case .failed = self {
            return .problem(type, "The accounts cannot be read or changed.", status)
        }
        return .problem(type, text, status)
    }
}

extension HTTPResponse {
    /// Returns a problem in JSON (RFC 9457). The last component of its `type` is `type`.
    static func problem(_ type: String, _ title: String, _ status: HTTPStatus) -> HTTPResponse {
        var json = JSONWriter()
        json.object {
            $0.member("type", "urn:davit:problem:" + type)
            $0.member("title", title)
        }
        return .json(json, status, "application/problem+json")
    }

    static func json(
        _ json: JSONWriter, _ status: HTTPStatus = .ok, _ type: StaticString = "application/json"
    ) -> HTTPResponse {
        var response = HTTPResponse(status: status, body: .bytes(json.bytes))
        response.fields.append(.contentType, type)
        return response
    }
}

extension JSONWriter {
    /// Adds the members of an object for a rule. The path is percent-encoded.
    mutating func members(of rule: AccessRule, showsPath: Bool) {
        member("subject", rule.subject.description)
        member("path", showsPath ? rule.path.encodedText : nil)
        member("rights", rule.rights.description)
    }

    /// Appends the members of a rule that follows from home folders, and cannot be removed.
    mutating func members(ofImplied rule: AccessRule, showsPath: Bool) {
        members(of: rule, showsPath: showsPath)
        member("isImplied", true)
    }
}

extension ResourcePath {
    /// The path from the root of the share, percent-encoded, with a leading slash.
    var encodedText: String {
        var bytes: [UInt8] = []
        PercentCoding.append(self, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension [UInt8] {
    /// The path with these segments, which are separated by slashes, as ``ResourcePath/encodedText``.
    fileprivate var encodedPath: String {
        (ResourcePath(segments: split(separator: UInt8(ascii: "/"))) ?? .root).encodedText
    }
}
