internal import DavitEngine
internal import DavitHTTP

/// What the query of a folder's URL asks the page for. What makes no sense is left out: queries are typed by hand.
struct FolderQuery {
    /// Members on a page.
    static let pageLimit = 500

    var order = FolderOrder()
    var edge = FolderSelection.Edge.start
    /// A part of the names to show; empty for all.
    var find = ""
    /// As asked, if the page speaks it.
    let language: PageLanguage?
    /// What a form has just done.
    let done: (action: FormAction, count: Int)?
    /// The ids of what it has deleted, each once: what is said of them stands in the trash, not in the URL.
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
        // A code and a number: nothing of a URL is shown as text.
        let count = query["count"].flatMap { Int($0) } ?? 1
        done = query["done"].flatMap(FormAction.init).map { ($0, max(count, 0)) }
        var kept: [String] = []
        if done?.action == .delete {
            for id in (query["kept"] ?? "").split(separator: ",").prefix(Self.keptLimit).map(String.init)
            where !kept.contains(id) { kept.append(id) }
        }
        self.kept = kept
    }

    /// The same folder in another order, from the start.
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

    /// Names and values, for a link or the hidden fields of a form.
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

    /// With its question mark, percent-encoded.
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
