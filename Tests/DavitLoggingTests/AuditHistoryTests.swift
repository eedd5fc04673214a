import DavitLogging
import DavitSystem
import DavitTesting
import Testing

struct AuditHistoryTests {
    private let folder: TemporaryFolder
    private var path: String { folder.path + "/audit" }

    init() throws { folder = try TemporaryFolder() }

    /// Writes a file of records, each given as `OPERATION PATH` or `OPERATION PATH DESTINATION`. The time is the number of the
    /// record.
    private func write(
        _ records: [String], to suffix: String = "", share: String = "/srv", from first: Int = 0
    ) throws {
        var text = ""
        for (number, record) in records.enumerated() {
            if record.hasPrefix("!") {
                text += record.dropFirst() + "\n"
                continue
            }
            let words = record.split(separator: " ")
            let operation = words[0].split(separator: "!")
            text += #"{"time":"\#(first + number)","op":"\#(operation[0])","#
            text += operation.count > 1 ? #""result":"refused","status":403,"# : #""result":"done","#
            text += #""share":"\#(share)","path":"\#(words[1])""#
            if words.count > 2 { text += #","to":"\#(words[2])""# }
            text += "}\n"
        }
        try SmallFile.write(Array(text.utf8), to: path + suffix, mode: 0o600)
    }

    /// Returns the times of the records of a resource.
    private func history(_ resource: String, limit: Int = 100) throws -> String {
        var times: [String] = []
        let isComplete = try AuditHistory(path).forEach(of: resource, limit: limit) {
            times.append($0.text("time") ?? "")
        }
        return times.joined(separator: " ") + (isComplete ? "" : " more")
    }

    @Test func recordsOfOtherResourcesAreLeftOut() throws {
        try write([
            "upload /a", "upload /b", "upload /ab", "upload /a/b", "set-properties /a", "delete /a",
            "lock /b",
        ])
        #expect(try history("/a") == "0 4 5")
        #expect(try history("/a/b") == "3 5")
        #expect(try history("/c") == "")
    }

    static let renames: [(records: [String], resource: String, history: String)] = [
        (["upload /a", "move /a /b", "upload /b", "upload /a"], "/b", "0 1 2"),
        // The former file of this name was replaced, and is another one.
        (["upload /b", "upload /a", "move /a /b"], "/b", "1 2"),
        (["upload /d/a", "move /d /e", "move /e/a /f"], "/f", "0 1 2"),
        // A refused move renames nothing.
        (["upload /a", "upload /b", "move!1 /a /b"], "/b", "1 2"),
        // A copy has a history of its own; the file at its destination was replaced.
        (["upload /a", "upload /b", "copy /a /b", "upload /b"], "/b", "1 2 3"),
        (["upload /d/a", "delete /d", "restore /d /x"], "/x/a", "0 1 2"),
        // Two files exchange their names.
        (["upload /a", "upload /b", "move /a /t", "move /b /a", "move /t /b"], "/b", "0 2 4"),
        (["upload /a", "upload /b", "move /a /t", "move /b /a", "move /t /b"], "/a", "1 3"),
        // The folder of the server, for several shares.
        (["upload /a", "move /a /b", "lock /b"], "/srv/b", "0 1 2"),
    ]

    @Test(arguments: renames)
    func formerNamesAreFollowed(records: [String], resource: String, history: String) throws {
        try write(records)
        #expect(try self.history(resource) == history)
    }

    @Test func olderFilesAreIncluded() throws {
        try write(["upload /a", "upload /x"], to: ".2", from: 0)
        try write(["move /a /b", "upload /x"], to: ".1", from: 2)
        try write(["upload /x", "move /b /c"], from: 4)
        #expect(try history("/c") == "0 2 5")
        // Without the second file, the third does not belong to the log.
        #expect(try FileDescriptor.rename(path + ".1", to: path + ".9"))
        #expect(try history("/c") == "5")
    }

    @Test func newestRecordsAreReturnedWithinTheLimit() throws {
        try write((0..<50).map { _ in "upload /a" })
        #expect(try history("/a", limit: 3) == "47 48 49 more")
        #expect(try history("/a", limit: 50).hasSuffix(" 48 49"))
    }

    @Test func damagedLinesAreLeftOut() throws {
        let long = String(repeating: "x", count: ReverseLineReader.lineLimit + 10)
        try write(["upload /a", "!{\"time\":\"1\",\"op\":\"upl", "!\(long)", "!", "!nonsense", "upload /a"])
        #expect(try history("/a") == "0 5")
    }

    @Test func linesAcrossBlocksAreComplete() throws {
        // Blocks of 64 KiB end within lines of any length.
        let others = (0..<3_000).map { "upload /\(String(repeating: "y", count: $0 % 97))\($0)" }
        try write(["upload /a"] + others + ["upload /a"])
        #expect(try history("/a") == "0 3001")
    }

    @Test func missingLogIsAnError() throws {
        #expect(throws: SystemError.self) { try history("/a") }
    }
}
