public import DavitHTTP
internal import DavitXML

/// The body of a SEARCH request (RFC 5323 §2.2.2, §4).
public enum SearchRequest: Hashable, Sendable {
    /// `searchrequest` with a query in the grammar `DAV:basicsearch`.
    case query(SearchQuery)
    /// `query-schema-discovery`: which queries these scopes support.
    case schemaDiscovery([SearchScope])

    /// The reason why a request is refused.
    public enum ParseError: Error, Hashable, Sendable {
        /// 400, 403 or 422, see ``BodyError``. An unknown operator or type results in 422, as do too many
        /// operators, orders or scopes, and a literal that is too long (``BodyLimits``).
        case body(BodyError)
        /// 403 with `search-grammar-supported`.
        case unknownGrammar
        /// 403 with `search-grammar-discovery-supported`.
        case unknownGrammarOfDiscovery
    }

    /// Parses the body of a SEARCH. Unknown elements are ignored (RFC 4918 §17), except for grammars and
    /// operators.
    ///
    /// - Parameter charset: the charset parameter of the media type, if any.
    public static func parse(
        _ bytes: [UInt8], charset: Charset? = nil, limits: BodyLimits = BodyLimits()
    ) throws(ParseError) -> SearchRequest {
        let root = try reading { () throws(BodyError) in
            try XMLElement.root(of: bytes, charset: charset, limits: limits.xml)
        }
        if root.isDAV("searchrequest") {
            guard let grammar = root.firstChild else { throw .body(.malformed(line: root.line)) }
            guard grammar.isDAV("basicsearch") else { throw .unknownGrammar }
            return .query(try reading { () throws(BodyError) in try SearchQuery(grammar, limits: limits) })
        }
        guard root.isDAV("query-schema-discovery") else { throw .body(.notThis(line: root.line)) }
        guard let grammar = root.firstChild else { throw .body(.malformed(line: root.line)) }
        guard grammar.isDAV("basicsearch") else { throw .unknownGrammarOfDiscovery }
        return .schemaDiscovery(
            try reading { () throws(BodyError) in
                try SearchScope.all(in: try grammar.only("from"), limits: limits, line: grammar.line)
            })
    }

    private static func reading<T>(_ body: () throws(BodyError) -> T) throws(ParseError) -> T {
        do throws(BodyError) { return try body() } catch { throw .body(error) }
    }
}

/// A query in the grammar `DAV:basicsearch` (RFC 5323 §5.2).
public struct SearchQuery: Hashable, Sendable {
    /// What to report for each result (§5.3): `allprop` or `prop`.
    public var select: PropFindBody
    /// Where to search (§5.4); at least one scope.
    public var scopes: [SearchScope]
    /// The condition that results must satisfy (§5.5); nil for none.
    public var condition: SearchCondition?
    /// The order of results (§5.6), the most significant property first; empty for no particular order.
    public var order: [SearchOrder]
    /// The maximum number of results (§5.17); nil for no limit.
    public var limit: Int?

    init(_ element: XMLElement, limits: BodyLimits) throws(BodyError) {
        guard let select = try element.only("select") else { throw .malformed(line: element.line) }
        self.select = try PropFindBody(selecting: select, limits: limits)
        scopes = try SearchScope.all(in: try element.only("from"), limits: limits, line: element.line)
        if let place = try element.only("where") {
            guard let only = place.firstChild, only.next == nil else { throw .malformed(line: place.line) }
            var count = 0
            condition = try SearchCondition(only, limits: limits, count: &count)
        }
        order = try Self.order(try element.only("orderby"), limits: limits)
        limit = try Self.limit(try element.only("limit"))
    }

    private static func order(_ element: XMLElement?, limits: BodyLimits) throws(BodyError) -> [SearchOrder] {
        guard let element else { return [] }
        var orders: [SearchOrder] = []
        for child in element.children where child.isDAV("order") {
            // §5.6: ordering by DAV:score is not supported.
            if try child.only("score") != nil { throw .notThis(line: child.line) }
            let (up, down) = (try child.only("ascending"), try child.only("descending"))
            if up != nil && down != nil { throw .malformed(line: child.line) }
            orders.append(
                SearchOrder(
                    property: try child.operand(), isDescending: down != nil,
                    isCaseless: try child.isCaseless()))
            if orders.count > limits.orders { throw .notThis(line: child.line) }
        }
        if orders.isEmpty { throw .malformed(line: element.line) }
        return orders
    }

    private static func limit(_ element: XMLElement?) throws(BodyError) -> Int? {
        guard let element, let count = try element.only("nresults") else { return nil }
        let digits = count.text.utf8.filter { $0 > 0x20 }
        guard !digits.isEmpty, digits.allSatisfy({ (48...57).contains($0) }) else {
            throw .malformed(line: count.line)
        }
        // A number that is too large to represent does not limit the results.
        return Int(String(decoding: digits, as: UTF8.self))
    }
}

/// One scope of a search (RFC 5323 §5.4).
public struct SearchScope: Hashable, Sendable {
    /// A URI, or a reference relative to the request URI, as sent except for surrounding white space.
    public var href: [UInt8]
    /// The depth of the search below the scope.
    public var depth: Depth

    static func all(in from: XMLElement?, limits: BodyLimits, line: Int) throws(BodyError) -> [SearchScope] {
        guard let from else { throw .malformed(line: line) }
        var scopes: [SearchScope] = []
        for child in from.children where child.isDAV("scope") {
            guard let href = try child.only("href"), let depth = try child.only("depth"),
                let parsed = Depth.parse(Array(depth.text.utf8.filter { $0 > 0x20 }).span)
            else { throw .malformed(line: child.line) }
            let bytes = Array(href.text.utf8)
            let trimmed = bytes.drop { $0 <= 0x20 }.reversed().drop { $0 <= 0x20 }.reversed()
            scopes.append(SearchScope(href: Array(trimmed), depth: parsed))
            if scopes.count > limits.scopes { throw .notThis(line: child.line) }
        }
        if scopes.isEmpty { throw .malformed(line: from.line) }
        return scopes
    }
}

/// One property of the sort order (RFC 5323 §5.6).
public struct SearchOrder: Hashable, Sendable {
    public var property: PropertyName
    public var isDescending: Bool
    public var isCaseless: Bool
}

extension XMLElement {
    /// Returns the single property in the `prop` child.
    func operand() throws(BodyError) -> PropertyName {
        guard let prop = try only("prop"), let name = prop.firstChild, name.next == nil else {
            throw .malformed(line: line)
        }
        return name.propertyName
    }

    /// Returns the value of the attribute `caseless` (RFC 5323 §5.18); comparisons are case-sensitive by
    /// default.
    func isCaseless() throws(BodyError) -> Bool {
        switch attribute("caseless") {
        case nil, "no": false
        case "yes": true
        default: throw .malformed(line: line)
        }
    }
}
