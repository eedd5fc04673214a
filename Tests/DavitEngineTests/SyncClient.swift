import DavitEngine
import DavitTesting
import Testing

/// A client that maintains a copy of a collection using only sync-collection. The copy maps hrefs to entity
/// tags, or to `/` for collections.
struct SyncClient {
    let client: TestClient<WebDAVHandler>
    let href: String
    var level = "infinite"
    var token = ""
    var copy: [String: String] = [:]
    /// Whether the last response was truncated.
    var isTruncated = false
    /// The changes in the last response, in order: `+` or `-` with the href.
    var told: [String] = []

    init(_ client: TestClient<WebDAVHandler>, _ href: String = "/") {
        self.client = client
        self.href = href
    }

    static func body(
        token: String, level: String = "infinite", limit: Int? = nil, prop: String = "<D:getetag/>"
    ) -> String {
        let limit = limit.map { "<D:limit><D:nresults>\($0)</D:nresults></D:limit>" } ?? ""
        return """
            <D:sync-collection xmlns:D="DAV:"><D:sync-token>\(token)</D:sync-token>\
            <D:sync-level>\(level)</D:sync-level>\(limit)<D:prop>\(prop)</D:prop></D:sync-collection>
            """
    }

    static func text(of element: String, in text: String) -> String? {
        guard let start = text.firstRange(of: "<D:\(element)>"),
            let end = text[start.upperBound...].firstRange(of: "</D:\(element)>")
        else { return nil }
        return String(text[start.upperBound..<end.lowerBound])
    }

    /// Requests one response.
    mutating func sync(limit: Int? = nil) async throws {
        let response = try await client.send(
            "REPORT", href, text: Self.body(token: token, level: level, limit: limit))
        try #require(response.status == 207, "\(response.text)")
        take(response.text)
    }

    /// Requests responses with at most `limit` changes each, until there are no more.
    mutating func syncAll(limit: Int? = nil) async throws {
        repeat { try await sync(limit: limit) } while isTruncated
    }

    private mutating func take(_ text: String) {
        isTruncated = false
        told = []
        for response in text.split(separator: "<D:response>").dropFirst() {
            let response = String(response)
            guard let href = Self.text(of: "href", in: response) else { continue }
            let status = Self.text(of: "status", in: response) ?? ""
            if status.contains(" 507 ") {
                #expect(href == self.href)
                #expect(response.contains("<D:number-of-matches-within-limits/>"))
                isTruncated = true
            } else if status.contains(" 404 "), !response.contains("<D:propstat>") {
                told.append("-" + href)
                // Since the last response, the resource may have changed from a file to a collection or vice
                // versa.
                let plain = href.hasSuffix("/") ? String(href.dropLast()) : href
                remove(plain)
                remove(plain + "/")
            } else {
                told.append("+" + href)
                remove(href.hasSuffix("/") ? String(href.dropLast()) : href + "/")
                copy[href] = Self.text(of: "getetag", in: response) ?? "/"
            }
        }
        #expect(Set(told).count == told.count)
        token = Self.text(of: "sync-token", in: text) ?? ""
        #expect(!token.isEmpty)
    }

    private mutating func remove(_ href: String) {
        copy = copy.filter { $0.key != href && !(href.hasSuffix("/") && $0.key.hasPrefix(href)) }
    }

    /// Returns the state as reported by PROPFIND.
    func listing() async throws -> [String: String] {
        let body = #"<D:propfind xmlns:D="DAV:"><D:prop><D:getetag/></D:prop></D:propfind>"#
        let response = try await client.send(
            "PROPFIND", href, [("Depth", level == "1" ? "1" : "infinity")], text: body)
        var found: [String: String] = [:]
        for response in response.text.split(separator: "<D:response>").dropFirst() {
            let response = String(response)
            guard let href = Self.text(of: "href", in: response), href != self.href else { continue }
            found[href] = Self.text(of: "getetag", in: response) ?? "/"
        }
        return found
    }
}
