import DavitEngine
import DavitTesting
import Testing

/// Alternative names, chosen when a name is already in use.
struct MemberNamesTests {
    /// Returns the table that also tests the script of the browser page.
    private static func table() async throws -> [(name: String, taken: Set<String>, wanted: String)] {
        let tests = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(2)
        let share = try TestShare()
        #expect(share.shell("cp '\(tests.joined(separator: "/"))/Tables/free-names.txt' table") == 0)
        let text = try await share.client.send("GET", "/table").text
        return text.split(separator: "\n").filter { $0.first != "#" }.map { line in
            let columns = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            return (columns[0], Set(columns[1].split(separator: "|").map(String.init)), columns[2])
        }
    }

    @Test func candidateNamesMatchTheTable() async throws {
        let rows = try await Self.table()
        #expect(rows.count > 30)
        for row in rows {
            let isCollection = row.name.hasSuffix("/")
            let name = isCollection ? String(row.name.dropLast()) : row.name
            let names = MemberNames(Array(name.utf8), isCollection: isCollection).names
            let free = names.lazy.map { String(decoding: $0, as: UTF8.self) }.first {
                !row.taken.contains($0)
            }
            #expect(free == row.wanted)
            #expect(names.dropFirst().allSatisfy { $0.count <= 255 })
        }
    }

    @Test func nameInUseIsNotACandidate() {
        let names = MemberNames(Array("a.b".utf8), isTaken: true).names
        #expect(names.first == Array("a (1).b".utf8))
        #expect(Set(names).count == names.count)
    }

    /// Names that are not valid UTF-8 can be truncated at any byte.
    @Test func namesThatAreNotUTF8AreNumbered() {
        let name = [UInt8](repeating: 0x80, count: 255)
        let names = MemberNames(name, isTaken: true).names
        #expect(names.allSatisfy { $0.count <= 255 && $0.last == UInt8(ascii: ")") || $0.contains(0x20) })
        #expect(Set(names).count == names.count)
        let mixed = MemberNames([0xFF] + Array(".txt".utf8), isTaken: true).names
        #expect(mixed.first == [0xFF] + Array(" (1).txt".utf8))
    }

    /// A folder has no extension: the stem is `v1.2`, not `v1`.
    @Test func copiedCollectionIsNumberedAtItsEnd() async throws {
        try await TestShare.play(
            Scenario(
                "a copy next to the original",
                [
                    shell("mkdir v1.2; echo 1 >w1.2"),
                    step("POST /?action=copy", ownForm, "member=v1.2&member=w1.2&to=/", 207),
                    shell("test -d 'v1.2 (1)' && test -f 'w1 (1).2'"),
                    step("POST /?action=copy", ownForm, "member=none&to=/", 404),
                ]))
    }
}
