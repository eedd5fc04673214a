package import DavitHTTP

/// The site of the page that sent a request, as reported by the browser.
package enum RequestInitiator: Sendable {
    /// A page of this server, or a direct action of the user.
    case own
    /// A page of another site, or contradictory information.
    case other
    /// No information; the client is probably not a browser.
    case unknown
}

/// The names of a server in addition to the one in Host.
package struct ServerNames: Sendable {
    /// All names. Without a port, the port is the default of the scheme.
    fileprivate let names: [HostField]
    /// The names that browsers reach only over TLS.
    fileprivate let secure: [[UInt8]]

    /// - Parameters:
    ///   - names: hosts, each with the port if it is not the default of the scheme.
    ///   - secure: the hosts that browsers reach only over TLS, without ports.
    package init(_ names: [String], secure: [String]) {
        self.names = names.compactMap { HostField(parsing: $0.utf8.span) }
        self.secure = secure.map { Array($0.lowercased().utf8) }
    }
}

extension HTTPRequest {
    /// Returns the site of the page that sent this request, from Sec-Fetch-Site (Fetch Metadata §2.2) or
    /// Origin (RFC 6454 §7).
    package func site(names: ServerNames) -> RequestInitiator {
        switch string(named: "Sec-Fetch-Site") {
        case "same-origin", "none": return .own
        case .some: return .other
        case nil: break
        }
        switch count(of: .origin) {
        case 0: return .unknown
        case 1: return isOwn(origin: bytes(of: .origin) ?? [], names) ? .own : .other
        default: return .other
        }
    }

    /// Whether the request loads a top-level document (Fetch Metadata §2.1, §2.3), not a frame, image or
    /// script.
    package var isNavigation: Bool {
        string(named: "Sec-Fetch-Mode") == "navigate" && string(named: "Sec-Fetch-Dest") == "document"
    }

    /// Whether `origin` (RFC 6454 §6.1) is this server.
    private func isOwn(origin: [UInt8], _ names: ServerNames) -> Bool {
        // `null` is the origin of untrusted pages, such as sandboxed ones.
        guard let colon = origin.firstIndex(of: UInt8(ascii: ":")), origin[colon...].starts(with: "://".utf8),
            let page = HostField(parsing: origin.span.extracting((colon + 3)..<origin.count))
        else { return false }
        let isPageSecure = origin[..<colon].elementsEqual("https".utf8)
        guard isPageSecure || origin[..<colon].elementsEqual("http".utf8) else { return false }
        // A page loaded without TLS may have been forged on the network. An https page on a plain connection
        // is possible behind a proxy that terminates TLS.
        if isSecure, !isPageSecure { return false }
        let isSecureName = names.secure.contains(page.host)
        let isName = names.names.contains {
            $0.matches(page, isSecure: isPageSecure, otherIsSecure: isPageSecure)
        }
        if isName, isPageSecure || !isSecureName { return true }
        if isSecureName, !isPageSecure, page.port == nil { return false }
        // Forms of other sites cannot set proxy fields.
        let hosts = [forwardedHost, authority ?? bytes(of: .host)]
        return hosts.contains { host in
            guard let host, let server = HostField(parsing: host.span) else { return false }
            return server.isSameServer(as: page)
        }
    }
}
