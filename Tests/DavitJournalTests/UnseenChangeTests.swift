import DavitHTTP
import DavitJournal
import DavitStore
import DavitTesting
import Testing

/// Changes that cause no event for the changed item itself.
struct UnseenChangeTests {
    private static func path(_ text: String) -> ResourcePath { ResourcePath(unchecked: Array(text.utf8)) }

    /// The requested collection has a watch, but its parents do not: they were never requested.
    @Test func replacedFolderIsReadAgain() throws {
        let test = try TestJournal()
        test.shell("mkdir -p d/e/f; echo 1 > d/e/a; echo 1 > d/e/f/a")
        let token = SyncToken(try test.position(Self.path("d/e")))
        test.shell("mv d c; mkdir -p d/e/f; echo 1 > d/e/b; echo 1 > d/e/f/b")
        let (changes, next) = try test.changes(since: token, in: "d/e")
        #expect(changes == ["+d/e/b", "+d/e/f", "+d/e/f/b", "-d/e/a", "-d/e/f/a"])
        test.shell("echo 1 > d/e/c; echo 1 > c/e/d")
        #expect(try test.changes(since: next, in: "d/e").changes == ["+d/e/c"])
    }

    /// The same change, found by a request for the whole tree.
    @Test func replacedFolderIsReadAgainForTheWholeTree() throws {
        let test = try TestJournal()
        test.shell("mkdir -p d/e/f; echo 1 > d/e/a; echo 1 > d/e/f/a")
        let token = SyncToken(try test.position(Self.path("d/e")))
        // Move the folder out of the share, because its watch would detect a move within the share.
        let elsewhere = test.stateFolder.path
        test.shell("mv d '\(elsewhere)'; mkdir -p d/e/f; echo 1 > d/e/b; echo 1 > d/e/f/b")
        _ = try test.token()
        let told = try test.changes(since: token, in: "d/e").changes
        #expect(told == ["+d/e/b", "+d/e/f", "+d/e/f/b", "-d/e/a", "-d/e/f/a"])
    }

    /// Writing through one name of a file causes an event for that name only.
    @Test func newHardLinkCausesAComparisonOfTheOldName() throws {
        let test = try TestJournal()
        test.shell("mkdir d; echo 1 > d/a")
        var token = try test.token()
        test.shell("ln d/a b; echo 2 >> b")
        var told = try test.changes(since: token)
        #expect(told.changes == ["+b", "+d/a"])
        token = told.token
        test.shell("echo 3 >> b")
        told = try test.changes(since: token)
        #expect(told.changes == ["+b", "+d/a"])
    }

    /// A folder that was removed and created again has a row before it is read; pruning removals must keep
    /// it.
    @Test func recreatedFolderSurvivesPruning() throws {
        let test = try TestJournal {
            $0.removalLimit = 20
            $0.step = 0
        }
        test.shell("mkdir 1 2 3; for n in $(seq 30); do echo 1 > f$n; done")
        _ = try test.token()
        test.shell("rmdir 1 2 3")
        _ = try test.token()
        test.shell("rm f*; mkdir 1 2 3; echo 1 > 1/a; echo 1 > 2/a; echo 1 > 3/a")
        #expect(try test.changes(since: test.first()).changes == ["+1", "+1/a", "+2", "+2/a", "+3", "+3/a"])
    }

    /// A client that reads slowly must not get a token that covers removals that were pruned before they were
    /// reported.
    @Test func responseEndsBeforePrunedRemovals() throws {
        let test = try TestJournal { $0.removalLimit = 20 }
        test.shell("for n in $(seq 60); do echo 1 > f$n; done")
        let token = try test.token()
        test.shell("for n in $(seq 15); do rm f$n; done")
        let position = try test.position()
        let some = try test.journal.changes(
            in: .root, isDeep: true, since: token, through: position.last, limit: 5)
        #expect(some.count == 5)
        test.shell("for n in $(seq 20 40); do rm f$n; done")
        _ = try test.position()
        #expect(throws: JournalError.forgotten) {
            try test.journal.changes(
                in: .root, isDeep: true, since: token, through: position.last, limit: 5)
        }
    }

    struct Rule: Sendable, CustomTestStringConvertible {
        var testDescription: String
        let rules: ShareRules
        let commands: String
        var changes: [String] = []
    }

    private static func rules(_ change: (inout ShareRules) -> Void) -> ShareRules {
        var rules = ShareRules()
        change(&rules)
        return rules
    }

    static let rules: [Rule] = [
        Rule(
            testDescription: "hidden", rules: rules { $0.allowsHiddenItems = false },
            commands: "echo 1 > .a; rm .a; mkdir .b; rmdir .b; echo 1 > .c"),
        Rule(
            testDescription: "litter", rules: rules { $0.macMetadata = .hide },
            commands: "echo 1 > ._a; rm ._a; echo 1 > .DS_Store; mv .DS_Store ._b"),
        Rule(
            testDescription: "extensions", rules: rules { $0.allowedExtensions = ["txt"] },
            commands: "echo 1 > a.exe; rm a.exe; mkdir d.exe; rmdir d.exe; echo 1 > b.txt; rm b.txt",
            changes: ["-b.txt", "-d.exe"]),
        Rule(
            testDescription: "a name that becomes hidden",
            rules: rules { $0.allowsHiddenItems = false },
            commands: "mv k .k", changes: ["-k"]),
    ]

    /// Hidden names are never reported, neither as created nor as removed.
    @Test(arguments: rules)
    func hiddenNamesAreNotReported(rule: Rule) throws {
        let test = try TestJournal(rules: rule.rules)
        test.shell("mkdir k")
        let token = try test.token()
        test.shell(rule.commands)
        let (changes, next) = try test.changes(since: token)
        #expect(changes == rule.changes)
        test.shell("rm -rf .[a-z_]*")
        #expect(try test.changes(since: next).changes.isEmpty)
    }

    /// If an addition were reported first, a client that treats the old and the new name as equal would then
    /// remove the added item.
    @Test func removalsAreReportedBeforeAdditions() throws {
        let test = try TestJournal()
        test.shell("for n in $(seq 12); do echo $n > a$n; done")
        let token = try test.token()
        test.shell("for n in $(seq 12); do mv a$n A$n; done")
        let position = try test.position()
        let changes = try test.journal.changes(
            in: .root, isDeep: true, since: token, through: position.last, limit: 100)
        #expect(changes.prefix(12).allSatisfy { $0.kind == .removed })
        #expect(changes.count == 24)
    }

    /// Clients may have seen the item before the restart, so its removal must be reported.
    @Test func itemRemovedAfterARestartIsReported() throws {
        let test = try TestJournal()
        let token = try test.token()
        test.shell("echo 1 > a; echo 1 > b")
        test.stop()
        test.shell("rm a")
        try test.restart()
        #expect(try test.changes(since: token).changes == ["+b", "-a"])
    }

    /// A symbolic link that is renamed to an equivalent spelling is reported under both names.
    @Test func linkWithAnEquivalentNameIsRecognized() throws {
        let test = try TestJournal()
        test.shell("mkdir d; echo 1 > a; ln -s a \"$(printf 'l\\303\\251')\"")
        let token = try test.token()
        test.shell("mv \"$(printf 'l\\303\\251')\" \"$(printf 'le\\314\\201')\"")
        let told = try test.changes(since: token).changes.map { Array($0.utf8) }
        #expect(told.count == 2)
        #expect(told.contains(Array("-l\u{E9}".utf8)))
        #expect(told.contains(Array("+le\u{301}".utf8)))
    }
}
