internal import DavitAccounts
internal import DavitEngine
internal import DavitHTTP
internal import DavitServer

/// The sessions of all users, for administrators.
extension AdministrationEndpoint {
    func listSessions(_ visit: PageContext) async throws(HTTPError) -> HTTPResponse {
        let (accounts, limit) = (accounts, Self.limitItems)
        return try await work(visit) { () throws(AccountError) -> JSONWriter? in
            let sessions = try accounts.sessions(of: nil)
            var json = JSONWriter()
            json.object {
                $0.member("sessions", sessions.prefix(limit)) {
                    // A string, because numbers in JavaScript have only 53 bits.
                    $0.member("id", String($1.id))
                    $0.member("account", $1.account)
                    $0.member("device", $1.device)
                    $0.member("created", Self.time($1.createdAt))
                    $0.member("used", Self.time($1.usedAt))
                    $0.member("usedFrom", $1.address)
                }
                $0.member("isComplete", sessions.count <= limit)
            }
            return json
        }
    }

    /// Ends the session with the ID in `end`.
    func endSession(_ visit: PageContext) async throws(HTTPError) -> HTTPResponse {
        let fields = try await JSONFields(of: visit.request)
        guard let id = Int64(try fields.required("end")) else {
            throw HTTPError(.unprocessableContent, "The session is invalid.")
        }
        // This request must not end with its session.
        visit.request.credentialNumber = 0
        let (accounts, origin) = (accounts, Self.origin(of: visit))
        return try await work(visit) { () throws(AccountError) -> JSONWriter? in
            try accounts.endSession(id, from: origin)
            return nil
        }
    }
}
