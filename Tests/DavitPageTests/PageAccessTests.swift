import DavitAccess
import DavitEngine
import DavitHTTP
import DavitPage
import DavitServer
import DavitStore
import DavitTesting
import Synchronization
import Testing

/// Everything that the browser page returns, with every set of rights.
struct PageAccessTests {
    /// Rules that can be replaced.
    private final class Policy: AccessPolicy {
        let rules = Mutex<AccessRules?>(nil)

        func view(of principal: Principal) -> any AccessView {
            rules.withLock { $0 }?.view(of: principal) ?? Nothing()
        }

        struct Nothing: AccessView {
            func rights(at path: ResourcePath) -> Rights { .none }
            func rightsThroughout(_ path: ResourcePath) -> Rights { .none }
            func leadsToRights(_ path: ResourcePath) -> Bool { false }
        }
    }

    private struct Row {
        let target: String
        /// Texts in the response, each with the rights without which it must not contain them.
        let reveals: [(text: String, rights: Rights)]
        /// The rights without which the response is 404.
        var needs = Rights.none
    }

    /// Nil for the page itself.
    private static func row(_ query: PageQuery?) -> Row {
        switch query {
        case nil: Row(target: "/p/", reveals: [("shown.jpg", .list)])
        case .json: Row(target: "/p/?json", reveals: [("shown.jpg", .list)])
        case .archive: Row(target: "/p/?archive", reveals: [("shown.jpg", .list), ("content", .view)])
        case .qr: Row(target: "/p/?qr", reveals: [])
        case .about: Row(target: "/p/?about=shown.jpg", reveals: [("shown.jpg", .list)], needs: .list)
        case .trash: Row(target: "/p/?trash", reveals: [("deleted.jpg", .list)])
        }
    }

    private static func path(_ name: String) -> ResourcePath { ResourcePath(segments: [name.utf8])! }

    @Test(arguments: [nil] + PageQuery.allCases.map(Optional.some))
    func rightsDecide(query: PageQuery?) async throws {
        #if !Archive
        if query == .archive { return }
        #endif
        let policy = Policy()
        let page = try TestPage {
            $0.access = policy
            $0.trash = TrashLimits()
        }
        let root = AccessRule(.user("root"), .root, .all)
        policy.rules.withLock { $0 = try? AccessRules([root]) }
        for (method, target, text) in [
            ("MKCOL", "/p", ""), ("PUT", "/p/shown.jpg", "content"), ("PUT", "/p/deleted.jpg", "gone"),
            ("DELETE", "/p/deleted.jpg", ""), ("MKCOL", "/other", ""), ("PUT", "/other/secret.jpg", "secret"),
        ] {
            let status = try await page.client.send(
                method, target, body: text.isEmpty ? nil : Array(text.utf8), principal: "root"
            ).status
            #expect(status < 300, "\(target)")
        }
        let row = Self.row(query)
        for bits in 0..<UInt8(128) where TestExtent.isComplete || bits < 8 || bits % 16 == 0 {
            let rights = Rights(rawValue: bits)
            policy.rules.withLock {
                $0 = try? AccessRules([root, AccessRule(.user("ann"), Self.path("p"), rights)])
            }
            let response = try await page.client.send(
                "GET", row.target, [("Accept", "text/html")], principal: "ann")
            let isFound = !rights.isEmpty && rights.isSuperset(of: row.needs)
            #expect(response.status == (isFound ? 200 : 404), "\(row.target) with \(rights)")
            guard isFound else { continue }
            #expect(!response.text.contains("secret"))
            for (text, needed) in row.reveals {
                #expect(
                    response.text.contains(text) == rights.isSuperset(of: needed),
                    "\(text) in \(row.target) with \(rights)")
            }
        }
    }

    /// Folders on the way are shown without times.
    @Test(arguments: ["/", "/?json"]) func passagesHaveNoTimes(target: String) async throws {
        let policy = Policy()
        let page = try TestPage { $0.access = policy }
        let root = AccessRule(.user("root"), .root, .all)
        policy.rules.withLock { $0 = try? AccessRules([root]) }
        for folder in ["/p", "/p/own"] {
            #expect(try await page.client.send("MKCOL", folder, principal: "root").status == 201)
        }
        let own = ResourcePath(segments: ["p".utf8, "own".utf8])!
        policy.rules.withLock { $0 = try? AccessRules([root, AccessRule(.user("ann"), own, .edit)]) }
        let response = try await page.client.send("GET", target, principal: "ann")
        #expect(response.status == 200 && response.text.contains("p"))
        #expect(!response.text.contains("<time") && !response.text.contains("\"modified\""))
        #expect(!response.text.contains("1970"))
        let all = try await page.client.send("GET", target, principal: "root")
        #expect(all.text.contains(target == "/" ? "<time" : "\"modified\""))
    }

    private static let ownPath = ResourcePath(segments: ["p".utf8, "own".utf8])!

    /// A client that has no right to perform an action on any member is not asked to confirm it.
    @Test func questionsRequireRights() async throws {
        let policy = Policy()
        let page = try TestPage { $0.access = policy }
        let root = AccessRule(.user("root"), .root, .all)
        policy.rules.withLock { $0 = try? AccessRules([root]) }
        for folder in ["/p", "/p/own"] {
            #expect(try await page.client.send("MKCOL", folder, principal: "root").status == 201)
        }
        let fields = [
            ("Accept", "text/html"), ("Sec-Fetch-Site", "same-origin"),
            ("Content-Type", "application/x-www-form-urlencoded"),
        ]
        func ask(_ action: String, _ form: String, _ rights: Rights, own: Rights? = nil) async throws
            -> UInt16
        {
            var rules = [root, AccessRule(.user("ann"), Self.path("p"), rights)]
            if let own { rules.append(AccessRule(.user("ann"), Self.ownPath, own)) }
            policy.rules.withLock { $0 = try? AccessRules(rules) }
            let response = try await page.client.send(
                "POST", "/p/?action=\(action)", fields, text: form, principal: "ann")
            #expect(response.text.contains("name=\"member\"") == (response.status == 200))
            return response.status
        }
        #expect(try await ask("delete", "member=x&member=own", .view) == 403)
        #expect(try await ask("move", "member=x&member=own", .view) == 403)
        #expect(try await ask("copy", "member=x&member=own", .view) == 200)
        #expect(try await ask("delete", "member=x&member=own", .edit) == 200)
        #expect(try await ask("move", "member=x&member=own", .edit) == 200)
        #expect(try await ask("copy", "member=x", .list) == 403)
        // A rule for one of the members suffices.
        #expect(try await ask("delete", "member=x&member=own", .view, own: .edit) == 200)
        #expect(try await ask("delete", "member=x", .view, own: .edit) == 403)
    }
}
