internal import DavitControl
internal import DavitHTTP

/// The entries of a trash as an aligned table, newest first.
struct TrashTable {
    private static let heads = ["ID", "DELETED (UTC)", "BYTES", "REASON", "ACCOUNT", "PATH"]
    /// The right-aligned column.
    private static let number = 2

    let text: String

    /// - Parameters:
    ///   - entries: the entries, oldest first.
    ///   - folder: the shared folder, as specified.
    init(_ entries: [TrashLine], folder: String) {
        if entries.isEmpty {
            text = "the trash of \(folder) is empty\n"
            return
        }
        let rows = [Self.heads] + entries.reversed().map(Self.row)
        let widths = Self.heads.indices.map { column in
            rows.reduce(0) { max($0, $1[column].unicodeScalars.count) }
        }
        text = rows.reduce(into: "") { text, row in
            var line = ""
            for (column, cell) in row.enumerated() {
                let space = String(repeating: " ", count: widths[column] - cell.unicodeScalars.count)
                let isLast = column == row.count - 1
                line += column == Self.number ? space + cell : isLast ? cell : cell + space
                if !isLast { line += "  " }
            }
            text += line + "\n"
        }
    }

    private static func row(_ entry: TrashLine) -> [String] {
        let time = String(decoding: HTTPDate.iso8601(Timestamp(seconds: entry.deleted)), as: UTF8.self)
        let shown = NameCheck.shown(entry.path.bytes)
        return [
            entry.id, String(time.prefix(16)).replacing("T", with: " "),
            entry.length.map { "\($0)" } ?? "?", entry.isOverwritten ? "overwritten" : "deleted",
            entry.principal.map { NameCheck.shown(Array($0.utf8)) } ?? "-",
            "/\(shown)\(entry.isCollection ? "/" : "")",
        ]
    }
}
