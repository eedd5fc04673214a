import Davit
import Testing

struct StateFolderNameTests {
    static let places: [(environment: [String: String], share: String, path: String)] = [
        (["HOME": "/home/anna"], "/srv/files", "/home/anna/.local/state/davit/%2Fsrv%2Ffiles"),
        (["HOME": "/home/anna", "XDG_STATE_HOME": "/var/s"], "/", "/var/s/davit/%2F"),
        // Relative paths are invalid and ignored.
        (["HOME": "/root", "XDG_STATE_HOME": "s"], "/a b", "/root/.local/state/davit/%2Fa%20b"),
    ]

    @Test(arguments: places)
    func pathIsInTheUsersStateFolder(environment: [String: String], share: String, path: String) throws {
        #expect(try StateFolderName.path(forShare: Array(share.utf8)) { environment[$0] } == path)
    }

    @Test(arguments: [[:], ["HOME": ""], ["HOME": "relative"]])
    func missingHomeIsAnError(environment: [String: String]) {
        #expect(throws: ServerError.noStateFolder) {
            try StateFolderName.path(forShare: [47]) { environment[$0] }
        }
    }

    @Test func distinctSharesHaveDistinctShortNames() throws {
        let long = [UInt8](repeating: 0x61, count: 4000)
        let shares: [[UInt8]] = [
            [47], Array("/a/b".utf8), Array("/a%2Fb".utf8), [47, 0xFF], [47] + long, [47] + long + [0x62],
            [47] + long.prefix(197), [47] + long.prefix(198),
        ]
        let names = try shares.map { share in
            try StateFolderName.path(forShare: share) { _ in "/s" }
        }
        #expect(Set(names).count == shares.count)
        for name in names { #expect(name.utf8.count - "/s/davit/".utf8.count <= 255) }
    }
}
