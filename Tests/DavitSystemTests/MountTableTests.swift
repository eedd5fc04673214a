import DavitSystem
import Testing

struct MountTableTests {
    static let table = """
        21 1 8:1 / / rw - ext4 /dev/sda1 rw
        22 21 0:20 / /srv/share rw - ext4 /dev/sdb1 rw
        23 22 0:21 / /srv/share/a rw shared:1 - tmpfs tmpfs rw
        24 22 0:22 /x /srv/share/b\\040c/d rw - ext4 /dev/sdc1 rw
        25 21 0:23 / /srv/shared/e rw - tmpfs tmpfs rw
        """

    @Test(arguments: [
        ("/srv/share", ["23", "24"]), ("/srv/share/b c", ["24"]), ("/srv/share/a", []), ("/srv/none", []),
        ("/", ["22", "23", "24", "25"]),
    ])
    func mountsBelowAPathAreFound(root: String, ids: [String]) {
        let lines = MountTable.lines(of: Array(Self.table.utf8), below: Array(root.utf8))
        #expect(lines.map { String(decoding: $0.prefix { $0 != 32 }, as: UTF8.self) } == ids)
    }

    @Test func pathsAreUnescaped() {
        let line = #"24 22 0:22 /x /srv/b\040c/\134d rw - ext4 /dev/sdc1 rw"#
        #expect(MountTable.point(of: Array(line.utf8)[...]) == Array(#"/srv/b c/\d"#.utf8))
        #expect(MountTable.point(of: Array("24 22 0:22 /x".utf8)[...]) == nil)
    }
}
