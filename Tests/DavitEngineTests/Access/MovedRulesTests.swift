import DavitAccess
import DavitAccounts
import DavitEngine
import DavitHTTP
import DavitServer
import DavitStore
import DavitTesting
import Synchronization
import Testing

/// Rules that move with their folders.
struct MovedRulesTests {
    /// A share whose rules are in a database.
    struct Fixture {
        let state: MemoryStateStore
        let accounts: TemporaryFolder
        let directory: AccountDirectory
        let share: TestShare

        func restarted() throws -> Fixture {
            try Fixture(
                state: state, accounts: accounts,
                directory: AccountDirectory(SQLiteAccountStore(folder: accounts.path)),
                folder: share.folder)
        }

        init(
            state: MemoryStateStore, accounts: TemporaryFolder, directory: AccountDirectory,
            folder: TemporaryFolder? = nil, keepsTrash: Bool = true
        ) throws {
            (self.state, self.accounts, self.directory) = (state, accounts, directory)
            share = try TestShare(folder, state: state) {
                $0.access = directory
                $0.trash = keepsTrash ? TrashLimits() : nil
            }
        }

        /// The rules as texts, without those for the root.
        var rules: [String] {
            directory.contents.rules.filter { !$0.path.isRoot }.map {
                "\($0.path) \($0.subject) \($0.rights)"
            }
        }

        func status(
            _ method: String, _ target: String, to destination: String? = nil, as principal: String
        ) async throws -> UInt16 {
            try await share.client.send(
                method, target, destination.map { [("Destination", $0)] } ?? [], principal: principal
            ).status
        }

        func form(_ action: String, _ id: String, as principal: String) async throws -> UInt16 {
            try await share.client.send(
                "POST", "/?action=\(action)", ownForm, text: "id=\(id)&confirmed=yes", principal: principal
            ).status
        }
    }

    private static func path(_ text: String) -> ResourcePath {
        ResourcePath(segments: text.split(separator: "/").map(\.utf8))!
    }

    /// Everyone may edit `/team` and read `/pub`. In `/team/pay`, only Ben has rights; Eve manages `/team`, and may edit and
    /// manage `/team/pay`. Root manages everything.
    private func fixture(keepsTrash: Bool = true) throws -> Fixture {
        let accounts = try TemporaryFolder()
        let directory = try AccountDirectory(SQLiteAccountStore(folder: accounts.path))
        let names = ["root", "ann", "ben", "eve"]
        try directory.commit(
            names.map { .addAccount(StoredAccount(name: $0, secret: "$")) } + [
                .setRule(AccessRule(.user("root"), .root, .all)),
                .setRule(AccessRule(.everyone, Self.path("team"), .edit)),
                .setRule(AccessRule(.everyone, Self.path("pub"), .edit)),
                .setRule(AccessRule(.user("eve"), Self.path("team"), .all)),
                .setRule(AccessRule(.user("root"), Self.path("team"), .all)),
                .setRule(AccessRule(.everyone, Self.path("team/pay"), .none)),
                .setRule(AccessRule(.user("ben"), Self.path("team/pay"), .edit)),
                .setRule(AccessRule(.user("eve"), Self.path("team/pay"), .all)),
                .setRule(AccessRule(.user("root"), Self.path("team/pay"), .all)),
            ])
        let made = try Fixture(
            state: MemoryStateStore(), accounts: accounts, directory: directory, keepsTrash: keepsTrash)
        #expect(made.share.shell("mkdir -p team/pay/sub team/plain pub && echo >team/pay/f") == 0)
        return made
    }

    private static func rules(_ folder: String) -> [String] {
        ["everyone none", "user:ben edit", "user:eve all", "user:root all"].map { "\(folder) \($0)" }
    }

    private static let others = [
        "/pub everyone edit", "/team everyone edit", "/team user:eve all", "/team user:root all",
    ]

    @Test func renamingMovesTheRules() async throws {
        let it = try fixture()
        #expect(try await it.status("MOVE", "/team/pay", to: "/team/wages", as: "eve") == 201)
        #expect(Set(it.rules) == Set(Self.others + Self.rules("/team/wages")))
        #expect(it.directory.contents.ruleMoves.isEmpty)
        #expect(try await it.status("GET", "/team/wages/f", as: "ann") == 404)
        #expect(try await it.status("GET", "/team/wages/f", as: "ben") == 200)
        // A folder that is created under the old name has the rights of its parent.
        #expect(try await it.status("MKCOL", "/team/pay", as: "ann") == 201)
        #expect(try await it.status("PUT", "/team/pay/f", as: "ann") == 201)
    }

    /// The folder above has rules below it.
    @Test func rulesBelowAMovedFolderMove() async throws {
        let it = try fixture()
        #expect(try await it.status("MOVE", "/team", to: "/group", as: "root") == 201)
        #expect(it.rules.contains("/group/pay everyone none") && !it.rules.contains { $0.hasPrefix("/team") })
        #expect(try await it.status("GET", "/group/pay/f", as: "ann") == 404)
    }

    /// Moving rules decides who has which rights, here and there.
    @Test func onlyManagersMoveRules() async throws {
        let it = try fixture()
        for (name, status) in [("ann", 404), ("ben", 403)] as [(String, UInt16)] {
            #expect(try await it.status("MOVE", "/team/pay", to: "/team/wages", as: name) == status)
            #expect(try await it.status("DELETE", "/team/pay", as: name) == status)
        }
        // Eve does not manage the destination.
        #expect(try await it.status("MOVE", "/team/pay", to: "/pub/pay", as: "eve") == 403)
        #expect(try await it.status("MOVE", "/team/plain", to: "/pub/plain", as: "ann") == 201)
        #expect(Set(it.rules) == Set(Self.others + Self.rules("/team/pay")))
        #expect(try await it.status("MOVE", "/team/pay", to: "/team/plain", as: "eve") == 201)
    }

    /// Rules never apply to another resource, and are never mixed with others.
    @Test func foldersWithRulesNeitherReplaceNorAreReplaced() async throws {
        let it = try fixture()
        for method in ["MOVE", "COPY"] {
            #expect(try await it.status(method, "/team/plain", to: "/team/pay", as: "root") == 403)
        }
        #expect(try await it.status("MOVE", "/team/pay", to: "/team/plain", as: "root") == 403)
        // Rules for a folder that was removed by another program.
        try it.directory.commit([.setRule(AccessRule(.everyone, Self.path("team/gone/x"), .view))])
        #expect(try await it.status("MOVE", "/team/pay", to: "/team/gone", as: "root") == 403)
        #expect(it.share.shell("[ -f team/pay/f ] && [ -d team/plain ]") == 0)
    }

    @Test func copiesHaveTheRightsOfTheirPlace() async throws {
        let it = try fixture()
        #expect(try await it.status("COPY", "/team/pay", to: "/pub/pay", as: "ben") == 201)
        #expect(try await it.status("GET", "/pub/pay/f", as: "ann") == 200)
        #expect(Set(it.rules) == Set(Self.others + Self.rules("/team/pay")))
    }

    @Test func rulesReturnFromTheTrash() async throws {
        let it = try fixture()
        #expect(try await it.status("DELETE", "/team/pay", as: "eve") == 204)
        #expect(Set(it.rules) == Set(Self.others))
        let id = try #require(it.share.lastTrash)
        // No account has more rights to it in the meantime.
        func report(_ name: String) async throws -> Bool {
            try await it.share.client.send(
                "REPORT", "/", [("Depth", "infinity")], text: "<V:trash xmlns:V='urn:davit:trash'/>",
                principal: name
            ).text.contains("/team/pay")
        }
        for (name, isShown) in [("ann", false), ("ben", true), ("eve", true)] {
            #expect(try await report(name) == isShown, "\(name)")
        }
        for (name, action, status) in [
            ("ann", "restore", 404), ("ann", "purge", 404), ("ben", "restore", 403),
        ] as [(String, String, UInt16)] {
            #expect(try await it.form(action, id, as: name) == status, "\(name) \(action)")
        }
        let restarted = try it.restarted()
        #expect(try await restarted.form("restore", id, as: "eve") == 201)
        #expect(Set(restarted.rules) == Set(Self.others + Self.rules("/team/pay")))
        #expect(restarted.directory.contents.trashedRules.isEmpty)
        #expect(try await restarted.status("GET", "/team/pay/f", as: "ann") == 404)
    }

    @Test(arguments: [false, true]) func purgingRemovesTheRules(isEvicted: Bool) async throws {
        let it = try fixture()
        #expect(try await it.status("DELETE", "/team/pay", as: "eve") == 204)
        let id = try #require(it.share.lastTrash)
        #expect(it.directory.contents.trashedRules.keys.contains(id))
        if isEvicted {
            #expect(it.share.share.trashMaintenance.purge { _ in true } == 1)
        } else {
            #expect(try await it.form("purge", id, as: "eve") == 204)
        }
        #expect(it.directory.contents.trashedRules.isEmpty)
    }

    @Test func permanentDeletionRemovesTheRules() async throws {
        let it = try fixture(keepsTrash: false)
        #expect(try await it.status("DELETE", "/team/pay", as: "eve") == 204)
        #expect(Set(it.rules) == Set(Self.others))
        #expect(it.directory.contents.trashedRules.isEmpty && it.directory.contents.ruleMoves.isEmpty)
    }

    /// What was deleted from a folder stays as private as the folder was, wherever the folder goes.
    @Test(arguments: ["MOVE", "DELETE", "purge"]) func earlierDeletionsRemainPrivate(way: String) async throws
    {
        let it = try fixture()
        #expect(try await it.status("DELETE", "/team/pay/f", as: "ben") == 204)
        let id = try #require(it.share.lastTrash)
        if way == "MOVE" {
            #expect(try await it.status("MOVE", "/team/pay", to: "/team/wages", as: "eve") == 201)
        } else {
            #expect(try await it.status("DELETE", "/team/pay", as: "eve") == 204)
        }
        if way == "purge" {
            #expect(try await it.form("purge", #require(it.share.lastTrash), as: "eve") == 204)
        }
        it.share.share.recovery.sweepRules()
        for action in ["restore", "purge"] { #expect(try await it.form(action, id, as: "ann") == 404) }
        #expect(try await it.form("purge", id, as: "eve") == 204)
        it.share.share.recovery.sweepRules()
        #expect(it.directory.contents.trashedRules.count == (way == "DELETE" ? 1 : 0))
    }

    /// A folder that is moved to and fro does not fill the database.
    @Test func rulesAreRetainedOnce() async throws {
        let it = try fixture()
        for (from, to) in [("pay", "wages"), ("wages", "pay"), ("pay", "wages"), ("wages", "pay")] {
            #expect(try await it.status("PUT", "/team/\(from)/x", as: "eve") == 201)
            #expect(try await it.status("DELETE", "/team/\(from)/x", as: "eve") == 204)
            #expect(try await it.status("MOVE", "/team/\(from)", to: "/team/\(to)", as: "eve") == 201)
        }
        let folders = it.directory.contents.trashedRules.values.map(\.folder.description)
        #expect(folders.sorted() == ["/team/pay", "/team/wages"])
    }

    /// Grants that an administrator revoked do not return with a folder.
    @Test func onlyManagersOfThePlaceRestoreRules() async throws {
        let it = try fixture()
        #expect(try await it.status("DELETE", "/team/pay", as: "eve") == 204)
        let id = try #require(it.share.lastTrash)
        try it.directory.commit([.removeRule(.user("eve"), Self.path("team"))])
        #expect(try await it.form("restore", id, as: "eve") == 403)
        #expect(Set(it.rules) == Set(Self.others.filter { !$0.contains("user:eve") }))
        #expect(try await it.form("restore", id, as: "root") == 201)
    }

    /// With a place for it, what only retained rules keep private could be restored by everyone who may read it.
    @Test func onlyManagersRestoreWhatRetainedRulesConcern() async throws {
        let it = try fixture()
        #expect(try await it.status("DELETE", "/team/pay/f", as: "ben") == 204)
        let id = try #require(it.share.lastTrash)
        #expect(try await it.status("MOVE", "/team/pay", to: "/team/wages", as: "eve") == 201)
        #expect(it.share.shell("mkdir team/pay") == 0)
        #expect(try await it.form("restore", id, as: "ben") == 403)
        #expect(try await it.form("restore", id, as: "eve") == 201)
    }

    /// The rules of programs that embed the library, and home folders, cannot move.
    @Test func fixedRulesKeepTheirFolders() async throws {
        let share = try TestShare {
            $0.access = try! AccessRules([
                AccessRule(.user("root"), .root, .all), AccessRule(.user("root"), Self.path("a"), .all),
            ])
        }
        #expect(share.shell("mkdir a") == 0)
        let response = try await share.client.send("MOVE", "/a", [("Destination", "/b")], principal: "root")
        #expect(response.status == 403)
        let folder = try TemporaryFolder()
        let directory = try AccountDirectory(
            SQLiteAccountStore(folder: folder.path), homes: Self.path("home"))
        for path in ["home", "home/ann"] { #expect(directory.isFixed(Self.path(path))) }
        #expect(!directory.isFixed(Self.path("home/ann/photos")) && !directory.isFixed(Self.path("team")))
    }

    /// A folder with a locked member is not deleted in part.
    @Test func lockedMembersKeepTheWholeFolder() async throws {
        let it = try fixture()
        let lock = try await it.share.client.send(
            "LOCK", "/team/pay/f", [("Depth", "0")], text: AccessWay.lockBody, principal: "ben")
        #expect(lock.status == 200)
        #expect(try await it.status("DELETE", "/team/pay", as: "eve") == 423)
        #expect(it.share.shell("[ -d team/pay/sub ]") == 0)
        #expect(Set(it.rules) == Set(Self.others + Self.rules("/team/pay")))
    }

    /// A folder that is on a volume which is not mounted is not taken for removed.
    @Test(arguments: [("rm -r team/pay", false), ("mv team elsewhere", true)])
    func interruptedRemovalsAreEnded(_ command: String, _ keepsRules: Bool) throws {
        let it = try fixture()
        let begun = try it.directory.beginMove(from: .folder(Self.path("team/pay")), to: nil, retainedAs: nil)
        #expect(begun != nil)
        #expect(it.share.shell(command) == 0)
        let restarted = try it.restarted()
        #expect(Set(restarted.rules) == Set(Self.others + (keepsRules ? Self.rules("/team/pay") : [])))
        #expect(restarted.directory.contents.ruleMoves.isEmpty)
    }

    @Test func entriesOnVolumesThatAreNotMountedKeepTheirRules() async throws {
        let it = try fixture()
        #expect(try await it.status("DELETE", "/team/pay", as: "eve") == 204)
        let entry = try #require(try it.share.state.trash(after: 0, limit: 1).first)
        let absent = TrashEntry(
            number: entry.number, id: entry.id, path: entry.path,
            location: Self.path("volume/trash/\(entry.id)"),
            identity: entry.identity, deleted: entry.deleted, principal: entry.principal, length: 1,
            isCollection: true, reason: entry.reason)
        try it.share.state.commit([.dropTrash(entry), .putTrash(absent)])
        #expect(it.share.share.trashMaintenance.purge { _ in true } == 0)
        #expect(try await it.form("purge", entry.id, as: "eve") == 404)
        #expect(it.share.lastTrash == entry.id)
        #expect(it.directory.contents.trashedRules.keys.contains(entry.id))
    }

    /// A store that cannot end moves for some time.
    private final class FailingStore: AccountStore {
        let store: SQLiteAccountStore
        let fails = Atomic(false)

        init(_ store: SQLiteAccountStore) { self.store = store }

        func contents() throws(AccountError) -> AccountContents { try store.contents() }
        func sessions() throws(AccountError) -> [StoredSession] { try store.sessions() }
        func commitSessions(_ changes: [SessionChange]) throws(AccountError) {
            try store.commitSessions(changes)
        }
        func commit(
            _ changes: [AccountChange], check: () throws(AccountError) -> Void
        ) throws(AccountError) {
            if fails.load(ordering: .relaxed), case .endRuleMove = changes[0] {
                throw .failed(reason: "full")
            }
            try store.commit(changes, check: check)
        }
    }

    @Test func movesThatCannotBeEndedAreRetried() async throws {
        let made = try fixture()
        let store = FailingStore(try SQLiteAccountStore(folder: made.accounts.path))
        let it = try Fixture(
            state: made.state, accounts: made.accounts, directory: AccountDirectory(store),
            folder: made.share.folder)
        store.fails.store(true, ordering: .relaxed)
        #expect(try await it.status("MOVE", "/team/pay", to: "/team/wages", as: "eve") == 201)
        it.share.share.recovery.retryRuleMoves()
        #expect(Set(it.rules) == Set(Self.others + Self.rules("/team/pay") + Self.rules("/team/wages")))
        store.fails.store(false, ordering: .relaxed)
        it.share.share.recovery.retryRuleMoves()
        #expect(Set(it.rules) == Set(Self.others + Self.rules("/team/wages")))
        #expect(it.directory.contents.ruleMoves.isEmpty)
    }

    /// Where the folder is after a crash decides where its rules are.
    @Test(arguments: [
        ("", ["/team/pay"]), ("mv team/pay team/wages", ["/team/wages"]),
        // Another program has created a folder since then.
        ("mv team/pay team/wages; mkdir team/pay", ["/team/pay", "/team/wages"]),
        ("rm -r team/pay", ["/team/pay", "/team/wages"]),
    ])
    func interruptedMovesAreEnded(_ commands: String, _ folders: [String]) throws {
        let it = try fixture()
        let begun = try it.directory.beginMove(
            from: .folder(Self.path("team/pay")), to: .folder(Self.path("team/wages")), retainedAs: nil)
        #expect(begun != nil)
        if !commands.isEmpty { #expect(it.share.shell(commands) == 0) }
        let restarted = try it.restarted()
        #expect(Set(restarted.rules) == Set(Self.others + folders.flatMap(Self.rules)))
        #expect(restarted.directory.contents.ruleMoves.isEmpty)
    }
}
