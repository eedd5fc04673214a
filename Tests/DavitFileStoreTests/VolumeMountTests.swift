import DavitFileStore
import DavitHTTP
import DavitStore
import DavitSystem
import Glibc
import Testing

/// These tests require permission to mount and are skipped otherwise, as for ordinary users and in most
/// containers.
@Suite(.enabled(if: TemporaryMount.isPossible, "mounting is not permitted here"))
struct VolumeMountTests {
    @Test func renameAcrossVolumesIsReported() throws {
        let sandbox = try Sandbox()
        try sandbox.makeFolder("mnt")
        try sandbox.write("file", "1")
        // The same device, mounted twice: rename does not work across these mounts either.
        try sandbox.mount("--bind '\(sandbox.base)/outside'", at: "mnt")
        let store = try sandbox.store()
        try store.put("2", at: resource("mnt/there"))
        let volumes = try ["file", "mnt/there"].map {
            try store.lookup(resource($0), last: .followed, wait: .allowed).info?.volume
        }
        #expect(volumes[0] != volumes[1])
        #expect(throws: StoreError.crossVolume) {
            try store.rename(resource("file"), toFree: resource("mnt/moved"))
        }
        #expect(throws: StoreError.crossVolume) {
            try store.rename(resource("file"), overContent: resource("mnt/there"))
        }
        #expect(throws: StoreError.crossVolume) {
            try store.exchange(resource("file"), resource("mnt/there"))
        }
        // A copy is staged in the folder of its destination, so it works.
        let tree = try store.stageCopy(of: resource("file"), for: resource("mnt/copy"), includesMembers: true)
        try tree.publish(isReplacing: false)
        #expect(sandbox.read("mnt/copy") == "1")
        #expect(throws: StoreError.forbidden) { try store.detach(resource("mnt")) }
    }

    /// A folder stays open between changes, but not below a mount, not even below one of the same folder.
    @Test(arguments: ["-t tmpfs tmpfs", "--bind '%/share/folder'"])
    func changeDoesNotReachFolderBelowMount(mount: String) throws {
        let sandbox = try Sandbox()
        try sandbox.makeFolder("folder")
        let store = try sandbox.store()
        for name in ["first", "second"] { try store.createCollection(at: resource("folder/\(name)")) }
        let path = try resource("folder/new")
        let before = try store.lookupForChange(path, last: .followed, reusing: nil, wait: .allowed)
        try store.createCollection(at: before.location)
        try sandbox.mount(mount.replacing("%", with: sandbox.base), at: "folder")
        try done(unsafe system("mount -o remount,bind,ro '\(sandbox.path("folder"))'"))
        let after = try store.lookupForChange(
            resource("folder/other"), last: .followed, reusing: nil, wait: .allowed)
        #expect(throws: StoreError.self) { try store.createCollection(at: after.location) }
    }

    private func done(_ result: Int32) throws { try #require(result == 0) }

    @Test func fullDiskLeavesExistingContent() throws {
        let sandbox = try Sandbox()
        try sandbox.makeFolder("mnt")
        try sandbox.mount("-t tmpfs -o size=256k tmpfs", at: "mnt")
        let store = try sandbox.store()
        let text = String(repeating: "x", count: 100_000)
        try store.put(text, at: resource("mnt/file"))
        try store.put(text, at: resource("mnt/other"))
        // There is space for one file, but not for a second copy of it.
        #expect(throws: StoreError.outOfSpace) { try store.put("y" + text, at: resource("mnt/file")) }
        let staged = try store.stageContent(for: resource("mnt/file"), expectedLength: nil)
        #expect(throws: StoreError.outOfSpace) {
            for _ in 0..<10 { try staged.write(buffer(text)) }
        }
        #expect(throws: StoreError.outOfSpace) {
            try store.stageCopy(of: resource("mnt"), for: resource("mnt/copy"), includesMembers: true)
        }
        #expect(sandbox.read("mnt/file") == text)
        #expect(sandbox.names("mnt") == ["file", "other"])
    }

    /// Uses an ext file system with the smallest inodes, whose timestamps are whole seconds.
    @Test func versionsDifferOnAVolumeOfWholeSeconds() throws {
        let sandbox = try Sandbox()
        try sandbox.makeFolder("mnt")
        let image = sandbox.base + "/image"
        let made = unsafe system(
            "truncate -s 4M '\(image)' && /sbin/mkfs.ext4 -q -I 128 '\(image)' 2>/dev/null")
        try #require(made == 0)
        try sandbox.mount("-o loop '\(image)'", at: "mnt")
        let store = try sandbox.store()
        let path = try resource("mnt/file")
        var tags = Set<EntityTag>()
        for _ in 0..<200 {
            let info = try store.put("same", at: path, modified: Timestamp(seconds: 1_000_000_000))
            #expect(info.stamp != 0)
            tags.insert(info.entityTag)
            #expect(try store.open(path, wait: .allowed).info.entityTag == info.entityTag)
        }
        #expect(tags.count == 200)
        #expect(throws: StoreError.wouldBlock) { try store.open(path, wait: .never) }
    }
}

enum TemporaryMount {
    static let isPossible: Bool = {
        let probe = unsafe system(
            """
            d=$(mktemp -d) && mount -t tmpfs -o size=64k tmpfs $d 2>/dev/null && umount $d
            s=$?; rmdir $d; exit $s
            """)
        return probe == 0
    }()
}
