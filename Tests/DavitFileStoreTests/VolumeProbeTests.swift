import DavitFileStore
import DavitSystem
import Testing

struct VolumeProbeTests {
    private let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    private func names() throws -> [String] {
        try #require(try PrivateFolder.names(in: sandbox.share)).filter { $0 != "." && $0 != ".." }
    }

    @Test func probeLeavesNothingBehind() throws {
        let probe = try VolumeProbe(sandbox.share, writes: true)
        #expect(probe.problem == nil)
        #expect(!probe.ignoresCase && !probe.isReadOnly)
        #expect(probe.availableBytes > 0)
        #expect(try names() == [])
    }

    @Test func missingFolderIsAnError() {
        #expect(throws: SystemError.self) { try VolumeProbe(sandbox.share + "/missing", writes: true) }
    }

    @Test func folderThatIsOnlyReadIsNotProbed() throws {
        let probe = try VolumeProbe(sandbox.share, writes: false)
        #expect(probe.missing == [] && probe.problem == nil)
    }
}
