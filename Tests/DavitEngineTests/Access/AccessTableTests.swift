import DavitAccess
import DavitEngine
import DavitHTTP
import DavitStore
import DavitTesting
import Testing

/// Every method and every set of rights, in several places: who lacks a right that a method needs gets 403, or 404 if they
/// may not know that the resource exists.
struct AccessTableTests {
    /// A request, and the rights that it needs at the place.
    struct Way: Sendable, CustomTestStringConvertible {
        let name: String
        /// The target and the fields; `P` stands for the path of the place.
        let target: String
        var fields: [(String, String)] = []
        var body = ""
        /// Each of these sets must contain a right that the client has.
        let needs: [Rights]
        let success: Int
        /// Whether the method creates or replaces a resource, so that a hidden name results in 403.
        var creates = false
        var testDescription: String { name }
        var method: String { String(name.split(separator: " ")[0]) }
    }

    static let form = [
        ("Content-Type", "application/x-www-form-urlencoded"), ("Sec-Fetch-Site", "same-origin"),
    ]
    static let lockBody =
        "<D:lockinfo xmlns:D='DAV:'><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockinfo>"
    static let patchBody =
        "<D:propertyupdate xmlns:D='DAV:'><D:set><D:prop><x xmlns='urn:x'>1</x></D:prop></D:set></D:propertyupdate>"
    static let any: Rights = [.list, .read, .create, .change, .delete]

    static let ways: [Way] = [
        Way(name: "GET content", target: "P/f", needs: [.read], success: 200),
        Way(name: "HEAD content", target: "P/f", needs: [.read], success: 200),
        Way(name: "GET range", target: "P/f", fields: [("Range", "bytes=0-0")], needs: [.read], success: 206),
        Way(name: "GET collection", target: "P/d/", needs: [any], success: 200),
        Way(name: "PROPFIND content", target: "P/f", fields: [("Depth", "0")], needs: [.list], success: 207),
        Way(name: "PROPFIND collection", target: "P/d", fields: [("Depth", "1")], needs: [any], success: 207),
        Way(name: "PUT new", target: "P/new", body: "x", needs: [.create], success: 201, creates: true),
        Way(name: "PUT over", target: "P/f", body: "x", needs: [.change], success: 204, creates: true),
        Way(
            name: "PUT over empty", target: "P/e", body: "x", needs: [[.change, .create]], success: 204,
            creates: true),
        Way(
            name: "PUT part", target: "P/f", fields: [("Content-Range", "bytes 0-0/4")], body: "x",
            needs: [.change], success: 204, creates: true),
        Way(
            name: "PATCH part", target: "P/f",
            fields: [("Content-Type", "application/x-sabredav-partialupdate"), ("X-Update-Range", "append")],
            body: "x", needs: [.change], success: 204),
        Way(name: "MKCOL new", target: "P/new", needs: [.create], success: 201, creates: true),
        Way(
            name: "MKCOL extended", target: "P/new", fields: [("Content-Type", "application/xml")],
            body:
                "<D:mkcol xmlns:D='DAV:'><D:set><D:prop><D:resourcetype><D:collection/></D:resourcetype></D:prop></D:set></D:mkcol>",
            needs: [.create], success: 201, creates: true),
        Way(name: "PROPPATCH content", target: "P/f", body: patchBody, needs: [.change], success: 207),
        Way(name: "PROPPATCH collection", target: "P/d", body: patchBody, needs: [.change], success: 207),
        Way(name: "DELETE content", target: "P/f", needs: [.delete], success: 204),
        Way(name: "DELETE collection", target: "P/d", needs: [.delete], success: 204),
        Way(
            name: "COPY within", target: "P/f", fields: [("Destination", "P/new")], needs: [.read, .create],
            success: 201),
        Way(
            name: "COPY out", target: "P/f", fields: [("Destination", "/open/new")], needs: [.read],
            success: 201),
        Way(
            name: "COPY in", target: "/open/g", fields: [("Destination", "P/new")], needs: [.create],
            success: 201, creates: true),
        Way(
            name: "COPY over", target: "/open/g", fields: [("Destination", "P/f")], needs: [.change],
            success: 204, creates: true),
        Way(
            name: "COPY over collection", target: "/open/g", fields: [("Destination", "P/d")],
            needs: [.change, .delete], success: 204, creates: true),
        Way(
            name: "MOVE rename", target: "P/f", fields: [("Destination", "P/new")], needs: [.change],
            success: 201),
        Way(
            name: "MOVE collection", target: "P/d", fields: [("Destination", "P/new")], needs: [.change],
            success: 201),
        Way(
            name: "MOVE out", target: "P/f", fields: [("Destination", "/open/new")], needs: [.delete, .read],
            success: 201),
        Way(
            name: "MOVE down", target: "P/f", fields: [("Destination", "P/d/new")],
            needs: [.delete, .read, .create], success: 201),
        Way(
            name: "MOVE in", target: "/open/g", fields: [("Destination", "P/new")], needs: [.create],
            success: 201, creates: true),
        Way(
            name: "MOVE over", target: "/open/g", fields: [("Destination", "P/f")], needs: [.change],
            success: 204, creates: true),
        Way(
            name: "LOCK content", target: "P/f", body: lockBody, needs: [.change], success: 200, creates: true
        ),
        Way(
            name: "LOCK collection", target: "P/d", body: lockBody, needs: [.change], success: 200,
            creates: true),
        Way(name: "LOCK new", target: "P/new", body: lockBody, needs: [.create], success: 201, creates: true),
        Way(
            name: "POST member", target: "P/d/?add-member", body: "x", needs: [.create], success: 201,
            creates: true),
        Way(
            name: "POST tus", target: "P/d/",
            fields: [
                ("Tus-Resumable", "1.0.0"), ("Upload-Length", "4"), ("Upload-Metadata", "filename bmV3"),
            ], needs: [.create], success: 201, creates: true),
        Way(
            name: "PUT resumable", target: "P/new",
            fields: [("Upload-Complete", "?1"), ("Upload-Draft-Interop-Version", "8")], body: "x",
            needs: [.create], success: 201, creates: true),
        Way(
            name: "POST mkcol form", target: "P/d/?action=mkcol", fields: form, body: "name=new",
            needs: [.create], success: 201, creates: true),
        Way(
            name: "POST delete form", target: "P/?action=delete", fields: form, body: "member=f",
            needs: [.delete], success: 204),
        Way(
            name: "POST rename form", target: "P/?action=rename", fields: form, body: "member=f&name=new",
            needs: [.change], success: 201),
        Way(
            name: "POST copy form", target: "P/?action=copy", fields: form, body: "member=f&to=d",
            needs: [.read, .create], success: 201),
        Way(
            name: "POST move form", target: "P/?action=move", fields: form, body: "member=f&to=d",
            needs: [.delete, .read, .create], success: 201),
        Way(name: "OPTIONS content", target: "P/f", needs: [], success: 200),
    ]

    /// Where the rights are granted.
    enum Place: String, CaseIterable, Sendable {
        /// In the folder itself.
        case folder
        /// Three levels above.
        case inherited
        /// To a group.
        case group
        /// To everyone, below a folder without rights.
        case everyone
        /// Through a symbolic link.
        case link
        /// In the root.
        case root

        var path: String {
            switch self {
            case .folder, .group, .everyone: "/p"
            case .inherited: "/p/a/b/c"
            case .link: "/open/link"
            case .root: ""
            }
        }

        func rules(_ rights: Rights) -> [AccessRule] {
            let open = AccessRule(.user("ann"), ResourcePath(segments: ["open".utf8])!, .edit)
            let root = AccessRule(.user("root"), .root, .all)
            let folder = ResourcePath(segments: ["p".utf8])!
            return switch self {
            case .folder, .inherited, .link: [open, root, AccessRule(.user("ann"), folder, rights)]
            case .group: [open, root, AccessRule(.group("team"), folder, rights)]
            case .everyone:
                [
                    open, root, AccessRule(.user("ann"), .root, .none), AccessRule(.everyone, folder, rights),
                    AccessRule(.user("root"), folder, .all),
                ]
            case .root: [open, root, AccessRule(.user("ann"), .root, rights)]
            }
        }

        /// The path of the folder, in which links are resolved.
        var folder: String { self == .link ? "p" : String(path.dropFirst()) }
    }

    static let sets: [Rights] = (0..<32).map { Rights(rawValue: UInt8($0)) }

    @Test(arguments: ways) func way(_ way: Way) async throws {
        for (number, place) in Place.allCases.enumerated() {
            for rights in TestExtent.isComplete
                ? Self.sets
                : Self.sets.enumerated().filter({
                    ($0.offset + number) % 4 < 1 || [0, 31].contains($0.offset)
                }).map(\.element)
            {
                try await check(way, rights, place)
            }
        }
    }

    private func check(_ way: Way, _ rights: Rights, _ place: Place) async throws {
        let policy = try AccessRules(place.rules(rights), groups: ["team": ["ann"]])
        let share = try TestShare { $0.access = policy }
        let folder = place.folder.isEmpty ? "." : place.folder
        let made = share.shell(
            "mkdir -p open '\(folder)/d' && printf data >'\(folder)/f' && printf x >'\(folder)/d/m' && touch '\(folder)/e' && printf g >open/g && ln -s ../p open/link"
        )
        #expect(made == 0)
        let fields = way.fields.map { ($0.0, $0.1.hasPrefix("P") ? place.path + $0.1.dropFirst() : $0.1) }
        let target = way.target.hasPrefix("P") ? place.path + way.target.dropFirst() : way.target
        let response = try await share.client.send(
            way.method, target, fields, body: Array(way.body.utf8), principal: "ann")
        #expect(
            Int(response.status) == expected(way, rights, place),
            "\(way.name) with \(rights) in \(place.rawValue): \(response.text)")
    }

    private func expected(_ way: Way, _ rights: Rights, _ place: Place) -> Int {
        guard let missing = way.needs.first(where: { $0.isDisjoint(with: rights) }) else {
            return way.success
        }
        if way.creates || (missing == .create && !rights.isEmpty) {
            return hiddenForm(way, rights, place) ?? 403
        }
        return hiddenForm(way, rights, place) ?? (rights.contains(.list) ? 403 : 404)
    }

    /// The status of a form sent to a folder that the client cannot see; nil for other requests.
    private func hiddenForm(_ way: Way, _ rights: Rights, _ place: Place) -> Int? {
        // The target of a new tus upload is its new member.
        guard way.method == "POST", rights.isEmpty, way.name != "POST tus" else { return nil }
        return place == .root && !way.target.contains("/d/") ? nil : 404
    }
}
