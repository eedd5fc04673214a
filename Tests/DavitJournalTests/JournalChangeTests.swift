import DavitHTTP
import DavitJournal
import DavitStore
import DavitTesting
import Testing

/// The changes that a journal reports for changes by other processes.
struct JournalChangeTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        /// Commands that run before the token is taken.
        var before = "true"
        let commands: String
        let changes: [String]

        var testDescription: String { name }
    }

    static let rows: [Row] = [
        Row(name: "nothing", commands: "true", changes: []),
        Row(name: "a new file", commands: "echo 1 > a", changes: ["+a"]),
        Row(name: "changed content", before: "echo 1 > a", commands: "echo 22 > a", changes: ["+a"]),
        Row(name: "appended content", before: "echo 1 > a", commands: "echo 2 >> a", changes: ["+a"]),
        Row(
            name: "changed time", before: "echo 1 > a; echo 1 > b", commands: "touch -d 2001-01-01 a",
            changes: ["+a"]),
        Row(name: "changed mode", before: "echo 1 > a", commands: "chmod 600 a", changes: []),
        Row(name: "a file removed", before: "echo 1 > a", commands: "rm a", changes: ["-a"]),
        Row(name: "made and removed", commands: "echo 1 > a; rm a", changes: ["-a"]),
        Row(name: "removed and created", before: "echo 1 > a", commands: "rm a; echo 1 > a", changes: ["+a"]),
        Row(
            name: "away and back: mapped again (RFC 6578 §3.5.1)", before: "echo 1 > a",
            commands: "mv a b; mv b a", changes: ["+a", "-b"]),
        Row(name: "a file renamed", before: "echo 1 > a", commands: "mv a b", changes: ["+b", "-a"]),
        Row(
            name: "a file replaced", before: "echo 1 > a; echo 2 > b", commands: "mv b a",
            changes: ["+a", "-b"]),
        Row(
            name: "a new tree", commands: "mkdir -p d/e; echo 1 > d/e/f",
            changes: ["+d", "+d/e", "+d/e/f"]),
        Row(
            name: "in a tree", before: "mkdir -p d/e; echo 1 > d/e/f", commands: "echo 2 > d/e/g; rm d/e/f",
            changes: ["+d/e/g", "-d/e/f"]),
        Row(
            name: "in a new tree", commands: "mkdir -p d/e; echo 1 > d/e/f; rm d/e/f; echo 1 > d/g",
            changes: ["+d", "+d/e", "+d/g"]),
        Row(
            name: "a tree removed: members are not reported (§3.5.2)",
            before: "mkdir -p d/e; echo 1 > d/e/f",
            commands: "rm -r d", changes: ["-d"]),
        Row(
            name: "a tree replaced: former members are reported",
            before: "mkdir -p d/e; echo 1 > d/e/f; echo 1 > d/g",
            commands: "rm -r d; mkdir d; echo 1 > d/h", changes: ["+d", "+d/h", "-d/e", "-d/g"]),
        Row(
            name: "a tree renamed", before: "mkdir -p d/e; echo 1 > d/e/f", commands: "mv d c",
            changes: ["+c", "+c/e", "+c/e/f", "-d"]),
        Row(
            name: "a tree renamed and changed", before: "mkdir -p d/e; echo 1 > d/e/f",
            commands: "mv d c; echo 2 > c/e/f; echo 1 > c/g", changes: ["+c", "+c/e", "+c/e/f", "+c/g", "-d"]),
        Row(
            name: "two trees swap names", before: "mkdir d c; echo 1 > d/a; echo 1 > c/b",
            commands: "mv d t; mv c d; mv t c", changes: ["+c", "+c/a", "+d", "+d/b", "-c/b", "-d/a", "-t"]),
        Row(
            name: "a tree out of the share and back", before: "mkdir d; echo 1 > d/a",
            commands: "t=$(mktemp -d -p /tmp); mv d $t; mv $t/d d; rmdir $t", changes: ["+d"]),
        Row(
            name: "a folder in place of a file", before: "echo 1 > a",
            commands: "rm a; mkdir a; echo 1 > a/b",
            changes: ["+a", "+a/b"]),
        Row(
            name: "a file in place of a folder", before: "mkdir a; echo 1 > a/b",
            commands: "rm -r a; echo 1 > a",
            changes: ["+a"]),
        Row(name: "a link to a file", before: "echo 1 > a", commands: "ln -s a l", changes: ["+l"]),
        Row(
            name: "the target of a link", before: "echo 1 > a; ln -s a l", commands: "echo 22 > a",
            changes: ["+a", "+l"]),
        Row(
            name: "a link that becomes dangling", before: "echo 1 > a; ln -s a l", commands: "rm a",
            changes: ["-a", "-l"]),
        Row(name: "a link out of the share", commands: "ln -s /etc l", changes: []),
        Row(
            name: "a link to a folder has no members", before: "mkdir d",
            commands: "ln -s d l; echo 1 > d/a", changes: ["+d/a", "+l"]),
        Row(
            name: "another name of a file", before: "mkdir d; echo 1 > d/a; ln d/a b",
            commands: "echo 2 >> d/a", changes: ["+b", "+d/a"]),
        Row(name: "a pipe", commands: "mkfifo p", changes: []),
        Row(
            name: "reserved names", commands: "echo 1 > .davit-aaaaaaaaaaaaaaaa; echo 1 > .davit-a",
            changes: ["+.davit-a"]),
        Row(
            name: "names with arbitrary bytes", before: "mkdir \"$(printf '\\377\\377')\"",
            commands: "cd */; echo 1 > \"$(printf '\\377')\"", changes: ["+\u{FFFD}\u{FFFD}/\u{FFFD}"]),
    ]

    @Test(arguments: rows)
    func exactlyTheChangesAreReported(row: Row) throws {
        let test = try TestJournal()
        #expect(test.shell(row.before) == 0)
        let token = try test.token()
        #expect(test.shell(row.commands) == 0)
        let (changes, next) = try test.changes(since: token)
        // Items created and removed in an unknown tree may or may not be reported.
        let told = changes.filter { row.changes.contains($0) || !$0.hasPrefix("-d/e/") }
        #expect(told == row.changes)
        #expect(try test.changes(since: next).changes.isEmpty)
    }

    /// The same changes without events: the journal compares the folder with its rows. In this case, a name
    /// that refers to the same resource before and after is unchanged, and temporary items are not reported.
    @Test(arguments: rows, ["stopped", "overflow", "without watches"])
    func changesAreFoundWithoutEvents(row: Row, how: String) throws {
        let test = try TestJournal { if how == "without watches" { $0.watchLimit = 0 } }
        #expect(test.shell(row.before) == 0)
        let token = try test.token()
        if how == "stopped" { test.stop() }
        #expect(test.shell(row.commands) == 0)
        if how == "stopped" { try test.restart() }
        if how == "overflow" { test.journal.forgetEvents() }
        let changes = try test.changes(since: token).changes
        let unseen: Set<String> = ["+a", "-a", "-b", "-t", "+d", "+d/a", "-d/e/f"]
        let missing = Set(row.changes).subtracting(changes)
        #expect(missing.isSubset(of: unseen))
        let isSame =
            row.name.hasPrefix("made and") || row.name.hasPrefix("away") || row.name.contains("and back")
        if !isSame, !row.changes.contains(where: { $0.hasSuffix("/b") && $0.hasPrefix("-") }),
            row.name != "two trees swap names"
        {
            #expect(missing.isEmpty)
        }
        #expect(Set(changes).subtracting(row.changes).isEmpty)
    }

    @Test func levelOneOmitsDescendantsOfMembers() throws {
        let test = try TestJournal()
        test.shell("mkdir -p d/e; echo 1 > d/a")
        let token = try test.token()
        test.shell("echo 1 > d/b; echo 1 > d/e/f; echo 1 > c; rm d/a")
        #expect(try test.changes(since: token, isDeep: false).changes == ["+c"])
        #expect(try test.changes(since: token, in: "d", isDeep: false).changes == ["+d/b", "-d/a"])
        #expect(try test.changes(since: token, in: "d").changes == ["+d/b", "+d/e/f", "-d/a"])
        #expect(try test.changes(since: token, in: "d/e").changes == ["+d/e/f"])
    }

    /// The first response contains only existing items, and no removals.
    @Test func initialResponseContainsOnlyExistingItems() throws {
        let test = try TestJournal()
        test.shell("mkdir -p d/e; echo 1 > d/a; echo 1 > b")
        _ = try test.token()
        test.shell("rm d/a b; echo 1 > c")
        #expect(try test.changes(since: test.first()).changes == ["+c", "+d", "+d/e"])
    }

    @Test func missingFolderHasNoChanges() throws {
        let test = try TestJournal()
        _ = try test.token()
        #expect(throws: JournalError.gone) { try test.position(ResourcePath(unchecked: Array("d".utf8))) }
        test.shell("echo 1 > a")
        #expect(throws: JournalError.gone) { try test.position(ResourcePath(unchecked: Array("a".utf8))) }
        // The journal is still usable.
        #expect(try test.changes(since: test.first()).changes == ["+a"])
    }

    /// Mounting over a folder causes no event. Requires the permission to mount.
    @Test func mountedVolumeIsDetected() throws {
        let test = try TestJournal()
        test.shell("mkdir -p d/e; echo 1 > d/a")
        let token = try test.token()
        guard test.shell("mount -t tmpfs none d") == 0 else { return }
        defer { test.shell("umount d") }
        test.shell("echo 1 > d/b")
        let (changes, next) = try test.changes(since: token)
        #expect(changes == ["+d", "+d/b", "-d/a", "-d/e"])
        #expect(test.shell("umount d") == 0)
        #expect(try test.changes(since: next).changes == ["+d", "+d/a", "+d/e", "-d/b"])
    }
}
