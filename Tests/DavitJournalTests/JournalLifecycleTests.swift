import DavitHTTP
import DavitJournal
import DavitStore
import DavitSystem
import DavitTesting
import Synchronization
import Testing

/// The activity and cost of a journal, and the validity of its tokens.
struct JournalLifecycleTests {
    @Test func unusedJournalCreatesNoFile() throws {
        let test = try TestJournal()
        test.journal.start()
        test.shell("echo 1 > a")
        #expect(!test.journal.isAwake)
        #expect(try test.stateFolderNames().isEmpty)
        _ = try test.token()
        #expect(test.journal.isAwake)
        #expect(try test.stateFolderNames().contains("journal.sqlite"))
    }

    @Test func closedJournalLeavesOnlyItsFile() throws {
        let test = try TestJournal()
        _ = try test.token()
        test.stop()
        #expect(!test.journal.isAwake)
        #expect(try test.stateFolderNames() == ["journal.sqlite"])
        #expect(throws: JournalError.interrupted) { try test.position() }
    }

    /// The cost of a response is proportional to the changes, not to the size of the tree.
    @Test func costIsProportionalToTheChanges() throws {
        let test = try TestJournal()
        test.shell("for d in $(seq 100); do mkdir $d; (cd $d && seq 100 | xargs touch); done")
        let token = try test.token()
        let before = try #require(test.journal.costs)
        #expect(before.looks >= 10_000)
        test.shell("for d in $(seq 10 10 100); do echo 1 > $d/50; done")
        let expected = stride(from: 10, through: 100, by: 10).map { "+\($0)/50" }.sorted()
        #expect(try test.changes(since: token).changes == expected)
        let after = try #require(test.journal.costs)
        #expect(after.looks - before.looks <= 20)
        #expect(after.steps - before.steps < 2_000)
        #expect(after.scans == 0)
    }

    @Test func changesWhileStoppedAreReportedFirst() throws {
        let test = try TestJournal()
        test.shell("mkdir -p d/e; echo 1 > d/e/a; echo 1 > d/e/b")
        let token = try test.token()
        test.stop()
        test.shell("echo 22 > d/e/a; rm d/e/b; echo 1 > d/c")
        try test.restart()
        let expected = ["+d/c", "+d/e/a", "-d/e/b"]
        #expect(try test.changes(since: token, in: "d").changes == expected)
        #expect(try test.changes(since: token).changes == expected)
    }

    /// The requested part is compared first; the other pending comparisons are not lost.
    @Test func otherPendingComparisonsAreKept() throws {
        let test = try TestJournal()
        test.shell("mkdir d c; echo 1 > d/a; echo 1 > c/a")
        let token = try test.token()
        test.stop()
        test.shell("echo 22 > d/a; rm c/a")
        try test.restart()
        let (changes, next) = try test.changes(since: token, in: "d")
        #expect(changes == ["+d/a"])
        #expect(try test.changes(since: next, in: "c").changes == ["-c/a"])
    }

    /// Folders without a watch are read for each request, so that no change is missed.
    @Test(arguments: [0, 1, 10])
    func noChangeIsMissedWithFewWatches(limit: Int) throws {
        let test = try TestJournal { $0.watchLimit = limit }
        test.shell("for d in $(seq 30); do mkdir $d; echo 1 > $d/a; done")
        var token = try test.token()
        for folder in [1, 9, 20, 30] {
            test.shell("echo 22 > \(folder)/a; mkdir \(folder)/n; mv \(folder)/n \(folder)/m")
            let told = try test.changes(since: token)
            token = told.token
            let shown = told.changes.filter { $0 != "-\(folder)/n" }
            #expect(shown == ["+\(folder)/a", "+\(folder)/m"])
        }
        test.shell("mv 9 x; echo 1 > x/b; rm -r 20")
        let told = try test.changes(since: token).changes
        #expect(told == ["+x", "+x/a", "+x/b", "+x/m", "-20", "-9"])
    }

    #if DAVIT_FAULTS
    /// The system limits the number of event queues and watches.
    @Test(arguments: ["inotify_init1", "inotify_add_watch"])
    func noChangeIsMissedWithoutWatches(call: String) throws {
        let test = try TestJournal()
        try FileFaults.$plan.withValue(FaultPlan(failCalls: [call: 28])) {
            test.shell("mkdir -p d/e; echo 1 > d/e/a")
            let token = try test.token()
            test.shell("echo 22 > d/e/a; echo 1 > d/b; mv d/e d/f")
            #expect(try test.changes(since: token).changes == ["+d/b", "+d/f", "+d/f/a", "-d/e"])
        }
    }

    /// A failed attempt releases its resources: event queues are limited, and clients retry repeatedly.
    @Test func repeatedReadErrorsLeakNothing() throws {
        let test = try TestJournal()
        test.shell("echo 1 > a")
        FileFaults.$plan.withValue(FaultPlan(failCalls: ["getdents64": 5])) {
            for _ in 0..<5 {
                #expect(throws: JournalError.self) { try test.position() }
                #expect(test.journal.threadCount == 1)
                test.journal.waitForThreads()
            }
        }
        #expect(try test.changes(since: test.first()).changes == ["+a"])
    }
    #endif

    @Test func tokensSurviveARestart() throws {
        let test = try TestJournal()
        test.shell("echo 1 > a")
        let token = try test.token()
        for _ in 0..<3 {
            try test.restart()
            #expect(try test.changes(since: token).changes.isEmpty)
        }
        test.shell("echo 1 > b")
        #expect(try test.changes(since: token).changes == ["+b"])
    }

    @Test func tokensOlderThanPrunedRemovalsAreRefused() throws {
        let test = try TestJournal { $0.removalLimit = 20 }
        test.shell("seq 60 | xargs touch")
        let old = try test.token()
        test.shell("seq 10 | xargs rm")
        let middle = try test.token()
        #expect(old.isValid(at: try test.position()))
        test.shell("seq 11 50 | xargs rm")
        let position = try test.position()
        #expect(!old.isValid(at: position))
        #expect(!middle.isValid(at: position))
        #expect(SyncToken(position).isValid(at: position))
        // An initial synchronization needs no removals.
        #expect(try test.first().isValid(at: position))
        #expect(try test.changes(since: test.first()).changes == (51...60).map { "+\($0)" })
        try test.restart()
        #expect(!old.isValid(at: try test.position()))
    }

    @Test func foreignTokensAreRefused() throws {
        let test = try TestJournal()
        let position = try test.position()
        let journal = position.journal
        let other = try TestJournal().token()
        let tokens = [
            other, SyncToken(journal: journal, number: position.last + 1),
            SyncToken(journal: journal, number: 0, base: position.last + 1),
        ]
        for token in tokens { #expect(!token.isValid(at: position)) }
    }

    @Test(arguments: ["", "damaged", "SQLite format 3\u{0}"])
    func damagedFileIsRecreated(content: String) throws {
        let test = try TestJournal()
        test.shell("echo 1 > a")
        let old = try test.token()
        test.stop()
        let state = test.stateFolder.path
        test.shell("head -c 3000 /dev/urandom > '\(state)/rest'; printf '%s' '\(content)' > '\(state)/new'")
        test.shell(
            "cat '\(state)/new' '\(state)/rest' > '\(state)/journal.sqlite'; rm '\(state)/new' '\(state)/rest'"
        )
        try test.restart()
        #expect(!old.isValid(at: try test.position()))
        #expect(try test.changes(since: test.first()).changes == ["+a"])
    }

    @Test func missingStateFolderIsReported() throws {
        let test = try TestJournal()
        test.shell("rmdir '\(test.stateFolder.path)'")
        #expect(throws: JournalError.self) { try test.position() }
        #expect(!test.journal.isAwake)
        test.shell("mkdir '\(test.stateFolder.path)'; echo 1 > a")
        #expect(try test.changes(since: test.first()).changes == ["+a"])
    }

    /// Listeners such as the change event feed are notified of a change, and can then query it.
    @Test func listenersAreNotified() async throws {
        let test = try TestJournal()
        let token = try test.token()
        let (told, teller) = AsyncStream.makeStream(of: Void.self)
        test.journal.onChange { _ in teller.yield() }
        test.shell("echo 1 > a")
        for await _ in told { break }
        #expect(try test.changes(since: token).changes == ["+a"])
    }

    /// If a query consumes the events, the journal's thread may not wake up; listeners must be notified
    /// anyway.
    @Test func listenersAreNotifiedOfChangesFoundByQueries() throws {
        let test = try TestJournal()
        _ = try test.token()
        let told = Mutex<[Int64?]>([])
        test.journal.onChange { last in told.withLock { $0.append(last) } }
        test.shell("mkdir a")
        let position = try test.position()
        #expect(told.withLock { $0 }.contains(position.last))
        // Listeners were notified exactly once.
        _ = try test.position()
        #expect(told.withLock { $0 }.count { $0 == position.last } == 1)
    }

    /// Listeners read only the folders in which something happened.
    @Test func listenersReadOnlyChangedFolders() throws {
        let test = try TestJournal()
        test.shell("mkdir a b")
        for folder in ["", "a", "b"] {
            _ = try test.position(ResourcePath(unchecked: Array(folder.utf8)), isDeep: false)
        }
        let token = try test.token()
        var folders = WatchedFolders()
        folders.flat = [ResourcePath(unchecked: Array("a".utf8))]
        let looks = test.journal.costs?.looks ?? 0
        #expect(try test.journal.advance(JournalPass(following: folders)) != nil)
        #expect(test.journal.costs?.looks == looks)
        test.shell("mkdir a/1 b/2")
        let position = try #require(try test.journal.advance(JournalPass(following: folders)))
        let changes = try test.journal.changes(
            in: .root, isDeep: true, since: token, through: position.last, limit: 10)
        #expect(Set(changes.map(\.path.description)) == ["/a/1", "/b/2"])
    }

    static let texts: [(text: String, isToken: Bool)] = [
        ("data:,davit-sync-00ff-12", true), ("data:,davit-sync-00ff-12-40", true),
        ("", false), ("data:,davit-sync-", false), ("data:,davit-sync-00ff", false),
        ("data:,davit-sync-00ff--1", false), ("data:,davit-sync-00ff-+1", false),
        ("data:,davit-sync-00ff-012", false), ("data:,davit-sync-00ff-12-", false),
        ("data:,davit-sync-00ff-12-12", false), ("data:,davit-sync-00ff-12-11", false),
        ("data:,davit-sync-00ff-12-40-1", false), ("data:,davit-sync-00ff-99999999999999999999", false),
        ("http://example.com/sync/1", false), ("data:,davit-sync-00ff-12 ", false),
    ]

    @Test(arguments: texts)
    func tokenHasOneSpelling(text: String, isToken: Bool) {
        let token = SyncToken(parsing: text)
        #expect((token != nil) == isToken)
        if let token { #expect(token.text == text) }
    }

    /// At the limit, nothing is discarded; one removal above it, the older half is discarded.
    @Test func oldestRemovalsAreDiscarded() throws {
        let test = try TestJournal { $0.removalLimit = 20 }
        test.shell("seq 60 | xargs touch")
        let old = try test.token()
        test.shell("seq 20 | xargs rm")
        #expect(old.isValid(at: try test.position()))
        test.shell("rm 21")
        #expect(!old.isValid(at: try test.position()))
    }
}

extension TestJournal {
    func stateFolderNames() throws -> [String] {
        let directory = try RootDirectory(opening: stateFolder.path)
        var names: [String] = []
        let entries = try directory.open([], for: .entries, mayWait: true)
        var block = DirectoryBlock(capacity: 4096)
        while try block.read(from: entries) {
            while block.advance() { names.append(String(decoding: block.entry.bytes, as: UTF8.self)) }
        }
        return names.sorted()
    }
}
