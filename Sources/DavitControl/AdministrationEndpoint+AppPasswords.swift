internal import DavitAccess
internal import DavitAccounts
internal import DavitEngine
internal import DavitHTTP
internal import DavitQRCode
internal import DavitServer

/// The app passwords of the account that sends the request.
extension AdministrationEndpoint {
    func listAppPasswords(_ visit: PageContext) async throws(HTTPError) -> HTTPResponse {
        let (accounts, name) = (accounts, visit.principal.name ?? "")
        let needsPassword = accounts.needsPassword(visit)
        return try await work(visit) { () throws(AccountError) -> JSONWriter? in
            let passwords = try accounts.ownAppPasswords(of: name)
            var json = JSONWriter()
            json.object {
                $0.member("needsPassword", needsPassword)
                $0.member("passwords", passwords.sorted { $0.created > $1.created }) {
                    $0.member("id", $1.id)
                    $0.member("label", $1.label)
                    $0.member("path", $1.limit?.path.encodedText)
                    $0.member("rights", $1.limit?.rights.description)
                    $0.member("created", Self.time($1.created))
                    $0.member("expires", $1.expiry.map(Self.time))
                    $0.member("used", ($1.lastUse?.time).map(Self.time))
                    $0.member("usedFrom", $1.lastUse?.address)
                }
            }
            return json
        }
    }

    static func time(_ seconds: Int64) -> String {
        String(decoding: HTTPDate.iso8601(Timestamp(seconds: seconds)), as: UTF8.self)
    }

    /// Creates an app password, and returns it, or removes the one with the ID in `remove`.
    ///
    /// An app password outlives a session, so a session alone must not suffice to create one: `password` must then be the
    /// password of the account.
    func changeAppPasswords(_ visit: PageContext) async throws(HTTPError) -> HTTPResponse {
        let fields = try await JSONFields(of: visit.request)
        let name = visit.principal.name ?? ""
        if let id = fields["remove"] {
            return try await commit([.removeAppPassword(account: name, id: id)], visit)
        }
        let new = NewAppPassword(
            account: name, label: try fields.required("label"), path: try path(fields, visit),
            rights: try rights(fields), days: try days(fields))
        var credential = visit.request.credentialNumber
        if accounts.needsPassword(visit) {
            switch await accounts.confirm(fields["password"], visit) {
            case .confirmed(let number): credential = number
            case .refused(let response): return response
            }
        }
        let (accounts, origin, verified) = (accounts, Self.origin(of: visit), credential)
        return try await work(visit) { () throws(AccountError) -> JSONWriter? in
            let (password, id) = try accounts.issue(
                new, on: visit.share, by: AccountEditor(visit.principal), with: verified, from: origin)
            var json = JSONWriter()
            json.object {
                $0.member("id", id)
                $0.member("password", password.text)
                $0.member("code", QRCode(encoding: password.text)?.svg())
            }
            return json
        }
    }

    private func path(_ fields: JSONFields, _ visit: PageContext) throws(HTTPError) -> ResourcePath? {
        guard let text = fields["path"] else { return nil }
        guard let path = Self.path(text), path.isRoot || visit.rights(at: path, isCollection: true).isKnown
        else { throw HTTPError(.unprocessableContent, "The path is invalid.") }
        return path
    }

    private func days(_ fields: JSONFields) throws(HTTPError) -> Int? {
        guard let text = fields["days"] else { return nil }
        guard let days = Int(text), NewAppPassword.dayRange.contains(days) else {
            throw HTTPError(.unprocessableContent, "The number of days is invalid.")
        }
        return days
    }
}
