package import DavitHTTP

/// Whose page has sent a request, as its browser says.
package enum RequestSite: Sendable {
    /// A page of this server, or the browser's user.
    case own
    /// A page of another site, or one that says so in two ways.
    case other
    /// No browser says anything.
    case unknown
}

/// What a server is called besides what stands in Host.
package struct ServerNames: Sendable {
    /// In lower case.
    fileprivate let names: [[UInt8]]
    /// Those of them that browsers reach over TLS alone.
    fileprivate let secure: [[UInt8]]

    package init(_ names: [String], secure: [String]) {
        self.names = names.map { Array($0.lowercased().utf8) }
        self.secure = secure.map { Array($0.lowercased().utf8) }
    }
}

extension HTTPRequest {
    /// Whose page has sent this: in Sec-Fetch-Site (Fetch Metadata §2.2), or else in Origin (RFC 6454 §7).
    package func site(names: ServerNames) -> RequestSite {
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

    /// Whether this fills a tab of the browser (Fetch Metadata §2.1, §2.3): no frame, no picture, no script.
    package var isNavigation: Bool {
        string(named: "Sec-Fetch-Mode") == "navigate" && string(named: "Sec-Fetch-Dest") == "document"
    }

    /// True if an origin (RFC 6454 §6.1) is this server.
    private func isOwn(origin: [UInt8], _ names: ServerNames) -> Bool {
        // `null` is the origin of pages that may not be trusted, such as those in a sandbox.
        guard let colon = origin.firstIndex(of: UInt8(ascii: ":")), origin[colon...].starts(with: "://".utf8),
            let page = HostField(parsing: origin.span.extracting((colon + 3)..<origin.count))
        else { return false }
        let isPageSecure = origin[..<colon].elementsEqual("https".utf8)
        guard isPageSecure || origin[..<colon].elementsEqual("http".utf8) else { return false }
        // A page that came without TLS may be anybody's who is on the way; the other way around, a proxy may have ended it.
        if isSecure, !isPageSecure { return false }
        let isSecureName = names.secure.contains(page.host)
        if names.names.contains(page.host), isPageSecure || !isSecureName { return true }
        if isSecureName, !isPageSecure, page.port == nil { return false }
        // A form of another site cannot set the fields of proxies.
        let hosts = [forwardedOrigin?.host, authority ?? bytes(of: .host)]
        return hosts.contains { host in
            guard let host, let server = HostField(parsing: host.span) else { return false }
            return server.isSameServer(as: page)
        }
    }
}
