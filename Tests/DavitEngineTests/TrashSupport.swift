import DavitEngine
import DavitStore
import DavitTesting

/// The fields of a form sent by the server's own page.
let ownForm = [
    ("Sec-Fetch-Site", "same-origin"), ("Content-Type", "application/x-www-form-urlencoded"),
]

extension TestShare {
    /// Creates a share with a trash.
    static func keeping(
        _ folder: TemporaryFolder? = nil, state store: any StateStore = MemoryStateStore(),
        _ configure: (inout ShareConfiguration) -> Void = { _ in }
    ) throws -> TestShare {
        try TestShare(folder, state: store) { configuration in
            configuration.trash = TrashLimits()
            configure(&configuration)
        }
    }

    /// Returns the trash entries, oldest first, as texts such as `deleted /a 3 by anna`: the reason, the path
    /// (with `/` after collections), and, if known, the length and the principal.
    func trash() throws -> [String] {
        try state.trash(after: 0, limit: 1000).map { entry in
            var text = "\(entry.reason) \(entry.path)\(entry.isCollection ? "/" : "")"
            if let length = entry.length { text += " \(length)" }
            if let principal = entry.principal { text += " by \(principal)" }
            return text
        }
    }

    /// The id of the most recent entry.
    var lastTrash: String? { try? state.trash(after: 0, limit: 1000).last?.id }

    /// Returns the number of files in the trash folder.
    func trashedNames() -> Int {
        var count = 0
        while count < 100, shell("[ $(ls -A .davit-trashofthisshare | wc -l) = \(count) ]") != 0 {
            count += 1
        }
        return count
    }

    /// Sends the restore form.
    func restore(
        _ id: String?, _ fields: String = "", from collection: String = "/", as principal: String? = nil
    ) async throws -> TestResponse {
        try await client.send(
            "POST", "\(collection)?action=restore", ownForm, body: Array("id=\(id ?? "")\(fields)".utf8),
            principal: principal)
    }

    func shown(_ target: String) async throws -> String {
        let response = try await client.send("GET", target)
        return response.status == 200 ? response.text : "\(response.status)"
    }
}
