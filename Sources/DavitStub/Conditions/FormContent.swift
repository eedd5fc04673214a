internal import DavitHTTP
internal import DavitServer

/// The text items of a form.
enum FormContent {
    /// The maximum number of items.
    private static let itemLimit = 1000

    /// Parses a form of the type `application/x-www-form-urlencoded` or `multipart/form-data`; files are left
    /// out. Returns nil for other or malformed content.
    static func items(of content: ReceivedContent) -> [ReceivedRequest.Item]? {
        switch content.type {
        case "application/x-www-form-urlencoded":
            guard let fields = try? FormFields(parsing: content.bytes, limitFields: itemLimit) else {
                return nil
            }
            return fields.map { .init(name: $0.name, value: $0.value) }
        case "multipart/form-data": return content.boundary.flatMap { multipart(content.bytes, boundary: $0) }
        default: return nil
        }
    }

    private static func multipart(_ bytes: [UInt8], boundary: String) -> [ReceivedRequest.Item]? {
        guard var parser = MultipartParser(boundary: Array(boundary.utf8)) else { return nil }
        var items: [ReceivedRequest.Item] = []
        var current: (name: String, value: [UInt8])?
        var index = 0
        while true {
            guard let event = try? parser.next(in: bytes.span, at: &index) else { return nil }
            switch event {
            case .part(let head): current = head.fileName == nil ? (head.name, []) : nil
            case .data(let range): current?.value += bytes[range]
            case .partEnd:
                if let current, items.count < itemLimit {
                    items.append(
                        .init(name: current.name, value: String(decoding: current.value, as: UTF8.self)))
                }
                current = nil
            case .end: return items
            case .needMore: return nil
            }
        }
    }
}
