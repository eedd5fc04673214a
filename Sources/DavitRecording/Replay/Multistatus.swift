internal import DavitHTTP
internal import DavitXML

/// The body of a 207 (RFC 4918 §13), as a client parses it.
struct Multistatus {
    struct Property {
        let name: ComparedProperty
        /// The status of the propstat that contains the property.
        let status: Int
        let element: XMLElement

        var text: String { element.text }
    }

    struct Response {
        /// The href as written in the body.
        let href: String
        /// The status of the response element itself.
        let status: Int?
        let properties: [Property]

        /// The decoded path, without the host.
        var path: [UInt8] { Multistatus.path(href) }
    }

    static let namespace = "DAV:"

    let responses: [Response]
    /// The children of the root element that are not responses.
    let others: [XMLElement]

    /// Returns nil if the root element is not `multistatus`.
    init?(_ document: XMLDocument) {
        let root = document.root
        guard root.isNamed("multistatus", in: "DAV:") else { return nil }
        responses = root.children.filter { $0.isNamed("response", in: "DAV:") }.map { Self.response($0) }
        others = root.children.filter { !$0.isNamed("response", in: "DAV:") }
    }

    /// Parses a response with limits above those for requests.
    static func document(_ bytes: [UInt8]) -> XMLDocument? {
        var limits = XMLLimits()
        limits.bytes = 256 * 1024 * 1024
        limits.nodes = 10_000_000
        return try? XMLDocument.parse(bytes, limits: limits)
    }

    private static func response(_ element: XMLElement) -> Response {
        var href = ""
        var ownStatus: Int?
        var properties: [Property] = []
        for child in element.children {
            if child.isNamed("href", in: "DAV:") {
                href = child.text
            } else if child.isNamed("status", in: "DAV:") {
                ownStatus = status(child.text)
            } else if child.isNamed("propstat", in: "DAV:") {
                properties += Self.properties(child)
            }
        }
        return Response(href: href, status: ownStatus, properties: properties)
    }

    private static func properties(_ propstat: XMLElement) -> [Property] {
        let line = propstat.children.first { $0.isNamed("status", in: "DAV:") }?.text ?? ""
        let code = status(line) ?? 0
        guard let prop = propstat.children.first(where: { $0.isNamed("prop", in: "DAV:") }) else { return [] }
        return prop.children.map {
            Property(
                name: ComparedProperty(namespace: $0.namespace, local: $0.local), status: code, element: $0)
        }
    }

    /// Parses a status line such as `HTTP/1.1 200 OK`.
    private static func status(_ line: String) -> Int? {
        let words = line.split(separator: " ", maxSplits: 2)
        guard words.count >= 2, words[0].hasPrefix("HTTP/") else { return nil }
        return Int(words[1])
    }

    /// Returns the decoded path of an href, without scheme and host.
    static func path(_ href: String) -> [UInt8] {
        var text = href[...]
        if let scheme = text.firstRange(of: "://"), !text[..<scheme.lowerBound].contains("/") {
            text = text[scheme.upperBound...]
            text = text[(text.firstIndex(of: "/") ?? text.endIndex)...]
        }
        let bytes = Array(text.utf8)
        return PercentCoding.decode(bytes) ?? bytes
    }

    func response(at href: String) -> Response? {
        let path = Self.path(href)
        return responses.first { $0.path == path }
    }
}

/// An active lock in a response to LOCK or in a `lockdiscovery` (RFC 4918 §14.1).
struct ActiveLockView {
    let token: String
    let timeout: String
    let owner: String
    let depth: String
    let root: String
    /// `exclusive` or `shared`.
    let scope: String

    init(_ element: XMLElement) {
        func child(_ name: StaticString) -> XMLElement? {
            element.children.first { $0.isNamed(name, in: "DAV:") }
        }
        func trimmed(_ text: String?) -> String {
            let parts = (text ?? "").split(whereSeparator: \.isWhitespace)
            return parts.joined(separator: " ")
        }
        token = trimmed(child("locktoken")?.text)
        timeout = trimmed(child("timeout")?.text)
        owner = trimmed(child("owner")?.text)
        depth = trimmed(child("depth")?.text)
        root = trimmed(child("lockroot")?.text)
        scope = child("lockscope")?.firstChild?.local ?? ""
    }

    /// Returns the active locks in a `lockdiscovery`.
    static func all(in discovery: XMLElement) -> [ActiveLockView] {
        discovery.children.filter { $0.isNamed("activelock", in: "DAV:") }.map { ActiveLockView($0) }
    }

    /// Returns the active locks in a response to LOCK; nil if its root element is not `prop`.
    static func all(inAnswer document: XMLDocument) -> [ActiveLockView]? {
        guard document.root.isNamed("prop", in: "DAV:") else { return nil }
        let discovery = document.root.children.first { $0.isNamed("lockdiscovery", in: "DAV:") }
        return discovery.map { all(in: $0) } ?? []
    }
}
