internal import DavitAccess
package import DavitHTTP
internal import DavitServer

/// Responds to requests about accounts, rights, locks and uploads: GET and POST of a collection with a query, in JSON.
package protocol ShareAdministration: Sendable {
    /// - Parameter visit: the collection. For POST, a page of this server has sent the request.
    /// - Throws: an error that is answered with its status.
    func response(
        to visit: PageContext, about subject: AdministrationSubject
    ) async throws(HTTPError) -> HTTPResponse
}

/// What a request is about: the only name in the query of the request.
package enum AdministrationSubject: String, CaseIterable, Sendable {
    /// Who has which rights in the collection.
    case access
    /// Accounts, groups and all rules; only at the root.
    case accounts
    /// The app passwords of the account; only at the root.
    case appPasswords = "app-passwords"
    /// The sessions of all users; only at the root.
    case sessions
    /// All locks; only at the root.
    case locks
    /// All open uploads; only at the root.
    case uploads
}

extension ShareAdministration {
    /// Returns the reply to a request; nil if it is not about administration.
    /// - Parameter share: the share as the client sees it.
    func reply(to request: HTTPRequest, by share: Share) -> Reply? {
        guard request.hasQuery, let query = request.target.rawQuery,
            let subject = AdministrationSubject.allCases.first(where: {
                query.prefix { $0 != UInt8(ascii: "&") }.elementsEqual($0.rawValue.utf8)
            })
        else { return nil }
        switch request.method {
        case .get, .head: break
        // Other requests with this query, such as those of resumable uploads, are refused by their own methods.
        case .post where !request.contains(.tusResumable): break
        default: return nil
        }
        return .pending { () async throws(HTTPError) in
            do throws(WebDAVError) {
                if request.method == .post, request.site(names: share.origins.serverNames) != .own {
                    throw WebDAVError(.forbidden)
                }
                let context = try RequestContext(request, now: share.now())
                let visit = try await PageContext(to: context, share)
                return try await respond(to: visit, about: subject)
            } catch {
                return try error.responseOrRethrow()
            }
        }
    }

    private func respond(
        to visit: PageContext, about subject: AdministrationSubject
    ) async throws(WebDAVError) -> HTTPResponse {
        do throws(HTTPError) {
            var response = try await response(to: visit, about: subject)
            response.fields.append(.cacheControl, "no-store")
            response.fields.append(.xContentTypeOptions, "nosniff")
            return response
        } catch {
            throw WebDAVError(connection: error)
        }
    }
}
