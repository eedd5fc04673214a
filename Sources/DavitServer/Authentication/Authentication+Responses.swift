internal import DavitHTTP
internal import Synchronization

/// The responses to requests that are not admitted.
extension Authentication {
    func answer(_ refusal: Refusal, to request: HTTPRequest) -> HTTPResponse {
        switch refusal {
        case .credentials(let isStale):
            var response = HTTPResponse.text(
                "Authentication required.\n", status: .unauthorized)
            if request.method == .options { response.fields.appendMissing(optionsFields) }
            appendChallenges(to: &response.fields, isStale: isStale)
            return response
        case .tooMany(let seconds):
            var response = HTTPResponse.text(
                "Too many failed logins from your address. Try again in \(seconds) s.\n",
                status: .tooManyRequests)
            response.fields.append(.retryAfter, seconds)
            return response
        case .otherTarget:
            return .text("These Digest credentials are for another request target.\n", status: .badRequest)
        case .busy, .cancelled:
            if case .busy = refusal { logRefusal("logins waiting", request) }
            return .error(
                .serviceUnavailable, "The server is too busy to check the password. Try again later.")
        case .unavailable(let seconds):
            var response = HTTPResponse.error(
                .serviceUnavailable, "The password cannot be checked at present. Try again later.")
            response.fields.remove(.retryAfter)
            response.fields.append(.retryAfter, seconds)
            return response
        case .lineFull:
            logRefusal("logins waiting from one address", request)
            var response = HTTPResponse.text(
                "Too many logins from your address are waiting. Try again later.\n", status: .tooManyRequests)
            response.fields.append(.retryAfter, Int64(1))
            return response
        }
    }

    private func logRefusal(_ cause: StaticString, _ request: HTTPRequest) {
        // The log only compares times with each other, so a monotonic clock is suitable.
        let now = Timestamp(seconds: self.now() / 1_000_000_000)
        limitLog.refused(cause, account: nil, address: request.peerAddress, now: now)
    }

    /// Appends one field per challenge, because some clients read only the first challenge of a list.
    private func appendChallenges(to fields: inout HTTPFields, isStale: Bool) {
        // A client that knows the password and used an expired nonce continues with Digest, also if the server no longer
        // offers it to clients that may have another password.
        let schemes = state.withLock { isStale ? $0.accounts.settings.schemes : $0.schemes }
        #if TLS
        let nonce = schemes.contains(where: \.isDigest) ? nonceGenerator.make(now: now()) : nil
        #endif
        // Clients that choose Digest do not fall back to Basic, which passwords that are verified elsewhere need.
        for scheme in schemes where external == nil || scheme == .basic {
            #if TLS
            if let algorithm = scheme.algorithm {
                guard let nonce else { continue }
                fields.append(.wwwAuthenticate, challenge(algorithm, nonce, isStale: isStale))
                continue
            }
            #endif
            // Use the same realm for the entire server; otherwise clients ask for the password again in each
            // folder.
            fields.append(
                .wwwAuthenticate,
                #"Basic realm="\#(String(decoding: realm, as: UTF8.self))", charset="UTF-8""#)
        }
    }
}
