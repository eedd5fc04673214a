internal import DavitEngine
internal import DavitHTTP
internal import DavitListing

/// The query of a folder's URL. Invalid values are ignored.
struct FolderQuery {
    /// The maximum number of members on a page.
    static let pageLimit = 500

    var order = FolderOrder()
    var edge = FolderSelection.Edge.start
    /// The text that the names of listed members contain; empty to list all members.
    var find = ""
    /// The requested language, if supported.
    let language: PageLanguage?
    /// The action that a form has just completed.
    let done: (action: FormAction, count: Int)?
    /// The trash IDs of the members that a form has just deleted, without duplicates. Their names come from
    /// the trash, not from the URL.
    let kept: [String]
    private static let keptLimit = 100

    init(_ request: HTTPRequest) {
        let query = request.query
        if let key = query["sort"].flatMap(FolderOrder.Key.init) { order.key = key }
        order.isDescending = query["order"] == "desc"
        find = query["find"] ?? ""
        language = query["lang"].flatMap(PageLanguage.init(tag:))
        if let place = query["after"].flatMap(ListingEntry.init(place:)) {
            edge = .after(place)
        } else if let place = query["before"].flatMap(ListingEntry.init(place:)) {
            edge = .before(place)
        }
        // Only a code and a number, so that the notice contains no text from the URL.
        let count = query["count"].flatMap { Int($0) } ?? 1
        done = query["done"].flatMap(FormAction.init).map { ($0, max(count, 0)) }
        var kept: [String] = []
        if done?.action == .delete {
            for id in (query["kept"] ?? "").split(separator: ",").prefix(Self.keptLimit).map(String.init)
            where !kept.contains(id) { kept.append(id) }
        }
        self.kept = kept
    }

    /// Returns the query for the first page in another order.
    func ordered(by key: FolderOrder.Key) -> FolderQuery {
        var other = self
        let isDescending = order.key == key ? !order.isDescending : key != .name
        other.order = FolderOrder(key, isDescending: isDescending)
        other.edge = .start
        return other
    }

    func from(_ edge: FolderSelection.Edge) -> FolderQuery {
        var other = self
        other.edge = edge
        return other
    }

    /// The names and values, for a link or hidden form fields.
    var fields: [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = []
        if order.key != .name { fields.append(("sort", order.key.rawValue)) }
        if order.isDescending { fields.append(("order", "desc")) }
        if let language { fields.append(("lang", language.rawValue)) }
        if !find.isEmpty { fields.append(("find", find)) }
        switch edge {
        case .start: break
        case .after(let entry): fields.append(("after", entry.place))
        case .before(let entry): fields.append(("before", entry.place))
        }
        return fields
    }

    /// The percent-encoded query, with the question mark.
    var text: [UInt8] {
        var text = Array("?".utf8)
        for (name, value) in fields {
            if text.count > 1 { text.append(UInt8(ascii: "&")) }
            text.append(contentsOf: name.utf8)
            text.append(UInt8(ascii: "="))
            PercentCoding.append(Array(value.utf8), to: &text)
        }
        return text
    }
}
