import DavitAccess
import DavitEngine
import DavitHTTP
import DavitServer
import DavitStore
import DavitTesting
import Testing

/// Every way in, with every relevant set of rights, in several places, for each kind of client: who lacks a right that a
/// request needs gets 403, or 404 if they may not know that the resource exists, and nothing changes.
struct AccessTableTests {
    static let combinations: [(place: AccessPlace, kind: AccessKind)] = AccessPlace.allCases.flatMap {
        place in
        AccessKind.allCases.map { (place, $0) }
    }

    @Test(arguments: AccessWay.all.indices) func rightsDecide(index: Int) async throws {
        let way = AccessWay.all[index]
        // Each row has another sample.
        let combinations = Self.combinations.indices.map {
            Self.combinations[($0 + index) % Self.combinations.count]
        }
        for (number, (place, kind)) in TestExtent.sample(of: combinations, every: 15).enumerated() {
            let sets = way.sets.enumerated().filter {
                TestExtent.isComplete || ($0.offset + number) % 4 == 0 || [.none, .all].contains($0.element)
            }.map(\.element)
            let table = AccessTable(way: way, place: place, kind: kind)
            try await table.checkRefusals(of: sets.filter { table.expected($0) != way.success })
            for rights in sets where table.expected(rights) == way.success {
                try await table.checkSuccess(rights)
            }
        }
    }

    // MARK: Completeness

    private static let names = Set(AccessWay.all.map(\.name))

    private static func hasRow(_ method: String, _ suffix: String) -> Bool {
        names.contains("\(method) \(suffix)")
    }

    /// Every method that the dispatcher dispatches has a row; the others are refused.
    @Test func everyMethodHasARow() async throws {
        let share = try TestShare()
        let methods = Set(AccessWay.all.map(\.method))
        for (name, _) in HTTPMethod.named
        where !methods.contains(name.description) && name.description != "CONNECT" {
            #expect(try await share.client.send(name.description, "/").status == 405, "\(name)")
        }
        #expect(AccessWay.all.count == Self.names.count)
        #expect(AccessWay.all.count >= 40)
    }

    @Test func everyFormActionHasARow() {
        for action in FormAction.allCases {
            #expect(Self.hasRow("POST", "\(action.rawValue) form"), "\(action)")
        }
    }

    /// The server itself announces the methods of uploads and of principals.
    @Test(arguments: [("/.davit-resumableuploads/x", "upload"), ("/.davit-principalsfolder/", "principal")])
    func everyMethodOfOtherResourcesHasARow(target: String, suffix: String) async throws {
        let share = try TestShare()
        let response = try await share.client.send("OPTIONS", target)
        let methods = try #require(response.fields.first(.allow)).split(separator: ", ")
        #expect(methods.count >= 2)
        for method in methods { #expect(Self.hasRow(String(method), suffix), "\(method) \(suffix)") }
    }

    @Test func everyReportHasARow() async throws {
        let share = try TestShare.live { $0.trash = TrashLimits() }
        let response = try await share.client.send(
            "PROPFIND", "/", [("Depth", "0")],
            text: "<D:propfind xmlns:D='DAV:'><D:prop><D:supported-report-set/></D:prop></D:propfind>")
        let reports = response.text.split(separator: "<D:report>").dropFirst().map { report in
            String(
                report.drop { $0 != "<" }.dropFirst().prefix { $0 != "/" && $0 != " " }.split(separator: ":")
                    .last ?? "")
        }
        #expect(reports.count == 3)
        for report in reports { #expect(Self.hasRow("REPORT", report), "\(report)") }
    }
}

/// The requests of one row in one place, by one kind of client.
struct AccessTable {
    let way: AccessWay
    let place: AccessPlace
    let kind: AccessKind

    private var isHere: Bool { way.target == "P/" || way.target.hasPrefix("P/?") }

    // MARK: Expectation

    /// The status, from the rights alone.
    func expected(_ rights: Rights) -> Int {
        let open = place.openRights(rights, kind)
        let isVisible =
            place == .link ? !rights.isEmpty && !open.isEmpty : !rights.isEmpty || (place == .root && isHere)
        if way.isToFolder, !isVisible { return 404 }
        // The conflict reveals nothing: it is the same for a resource that does not exist.
        if way.method == "UNLOCK", !isVisible { return 409 }
        for need in way.needs {
            if need.rights == AccessWay.any {
                if isVisible { continue }
                return 404
            }
            let sites: [Rights] =
                switch need.site {
                case .folder: [rights]
                case .open: [open]
                // The name by which the client addresses the resource counts, too.
                case .target: place == .link ? [rights, open] : [rights]
                }
            for granted in sites where granted.isDisjoint(with: need.rights) {
                if need.creates { return 403 }
                return granted.contains(.list) ? 403 : 404
            }
        }
        return way.success
    }

    // MARK: Requests

    typealias Response = (status: UInt16, text: String)

    struct Fixture {
        let share: TestShare
        let policy: ChangingPolicy
        /// What was prepared.
        let prepared: String
    }

    /// Creates the resources. All clients may do everything until the policy is changed.
    func fixture() async throws -> Fixture {
        let policy = ChangingPolicy(try place.rules(.all, kind))
        let configure: (inout ShareConfiguration) -> Void = {
            $0.access = policy
            if way.preparation == .trashed { $0.trash = TrashLimits() }
        }
        let share = try way.needsJournal ? TestShare.live(configure) : TestShare { configure(&$0) }
        let folder = place.folder.isEmpty ? "." : place.folder
        let made = share.shell(
            """
            mkdir -p open '\(folder)/d' && printf data >'\(folder)/f' && printf x >'\(folder)/d/m' && \
            touch '\(folder)/e' && printf t >'\(folder)/t' && printf g >open/g && ln -s ../p open/link
            """)
        #expect(made == 0)
        return Fixture(share: share, policy: policy, prepared: try await prepare(share))
    }

    private func prepare(_ share: TestShare) async throws -> String {
        let own = client(share, place.principal(.all, kind))
        let other = client(share, Principal(.account, "root"))
        let tus = ("Tus-Resumable", "1.0.0")
        switch way.preparation {
        case .nothing: return ""
        case .tusUpload:
            let fields = [tus, ("Upload-Length", "4"), ("Upload-Metadata", "filename bmV3")]
            return try await made(own.send("POST", place.path + "/", fields)).fields.first(.location) ?? ""
        case .tusPart:
            let type = ("Content-Type", "application/offset+octet-stream")
            let fields = [tus, ("Upload-Length", "1"), ("Upload-Concat", "partial"), type]
            return try await made(own.send("POST", place.path + "/", fields, text: "x")).fields.first(
                .location) ?? ""
        case .draftUpload:
            let fields = [("Upload-Complete", "?0"), ("Upload-Draft-Interop-Version", "8")]
            return try await made(own.send("PUT", place.path + "/new", fields, text: "x")).fields.first(
                .location) ?? ""
        case .ownLock, .otherLock:
            let client = way.preparation == .ownLock ? own : other
            let path = way.preparation == .ownLock ? place.path : "/" + place.folder
            let response = try await client.send(
                "LOCK", (path == "/" ? "" : path) + "/f", text: AccessWay.lockBody)
            #expect(response.status == 200)
            return String(response.fields.first(named: "Lock-Token")?.dropFirst().dropLast() ?? "")
        case .trashed:
            let path = place.folder.isEmpty ? "/t" : "/" + place.folder + "/t"
            #expect(try await other.send("DELETE", path).status == 204)
            return try share.state.trash(after: 0, limit: 1).first?.id ?? ""
        }
    }

    private func made(_ response: TestResponse) -> TestResponse {
        #expect(response.status == 201)
        return response
    }

    private func client(_ share: TestShare, _ identity: Principal) -> TestClient<
        IdentityHandler<WebDAVHandler>
    > {
        let page: DownloadPage? = way.name == "POST archive form" ? DownloadPage() : nil
        return TestClient(
            IdentityHandler(base: WebDAVHandler(share: share.share, page: page), identity: identity))
    }

    private func filled(_ text: String, _ prepared: String) -> String {
        let text = text.replacing("{0}", with: prepared)
        return text.hasPrefix("P/") ? place.path + text.dropFirst() : text
    }

    func send(_ rights: Rights, to fixture: Fixture) async throws -> Response {
        fixture.policy.replace(try place.rules(rights, kind))
        let client = client(fixture.share, place.principal(rights, kind))
        let fields = way.fields.map { ($0.0, filled($0.1, fixture.prepared)) }
        let (target, body) = (filled(way.target, fixture.prepared), filled(way.body, fixture.prepared))
        guard way.name != "GET events" else {
            let response = try await client.begin(way.method, target, fields)
            return (response.status.code, "")
        }
        let response = try await client.send(way.method, target, fields, text: body)
        return (response.status, response.text)
    }

    /// Checks that requests are refused and change nothing.
    func checkRefusals(of sets: [Rights]) async throws {
        guard !sets.isEmpty else { return }
        let fixture = try await fixture()
        // The bytes of an upload are not visible yet.
        let files = "find . -name '.davit-*' -prune -o -type f"
        let list = "{ \(files) -print | LC_ALL=C sort; find . -type d | sort; \(files) -exec cat {} +; }"
        #expect(fixture.share.shell("\(list) >../$$.before && mv ../$$.before \"$PWD.before\"") == 0)
        for rights in sets {
            try await checkAllow(rights, fixture)
            let response = try await send(rights, to: fixture)
            expect(response, rights)
        }
        #expect(
            fixture.share.shell("\(list) | cmp - \"$PWD.before\"; R=$?; rm -f \"$PWD.before\"; [ $R = 0 ]")
                == 0,
            "\(way.name) in \(place.rawValue) by \(kind.rawValue): a refused request changed something")
    }

    func checkSuccess(_ rights: Rights) async throws {
        let fixture = try await fixture()
        try await checkAllow(rights, fixture)
        let response = try await send(rights, to: fixture)
        expect(response, rights)
        if let text = way.reveals, Int(response.status) == way.success {
            #expect(response.text.contains(text) == rights.contains(.list), comment(rights, response))
        }
    }

    private func expect(_ response: Response, _ rights: Rights) {
        #expect(Int(response.status) == expected(rights), comment(rights, response))
    }

    private func comment(_ rights: Rights, _ response: Response) -> Comment {
        "\(way.name) with \(rights) in \(place.rawValue) by \(kind.rawValue): \(response.status) \(response.text)"
    }

    /// Checks that Allow contains the method for exactly the clients who may use it.
    private func checkAllow(_ rights: Rights, _ fixture: Fixture) async throws {
        guard way.isAnnounced else { return }
        // Content that may not be listed looks like a name that is free.
        let isNew = way.target == "P/new"
        let isCollection = way.target.hasPrefix("P/d")
        guard isNew || rights.contains(.list) || (isCollection && !rights.isEmpty) else { return }
        fixture.policy.replace(try place.rules(rights, kind))
        let client = client(fixture.share, place.principal(rights, kind))
        let response = try await client.send("OPTIONS", filled(way.target, fixture.prepared))
        let methods = (response.fields.first(.allow) ?? "").split(separator: ", ").map(String.init)
        #expect(
            methods.contains(way.method) == (expected(rights) == way.success),
            "Allow: \(methods) \(comment(rights, (response.status, "")))")
    }
}
