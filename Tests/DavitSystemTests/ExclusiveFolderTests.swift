import DavitSystem
import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

struct ExclusiveFolderTests {
    @Test func missingFoldersAreCreatedOnlyForTheirOwner() throws {
        let folder = try Folder()
        let owned = try ExclusiveFolder(path: folder.path + "/a/b")
        #expect(owned.path == (try ExclusiveFolder.canonical(folder.path)) + "/a/b")
        #expect(mode(of: folder.path + "/a") == 0o700)
        #expect(mode(of: folder.path + "/a/b") == 0o700)
        #expect(mode(of: folder.path + "/a/b/lock") == 0o600)
    }

    @Test func secondOwnerIsRefusedWithTheProcessID() throws {
        let folder = try Folder()
        var owner: ExclusiveFolder? = try ExclusiveFolder(path: folder.path)
        #expect(throws: ExclusiveFolder.Failure.held(byProcess: getpid())) {
            try ExclusiveFolder(path: folder.path + "/.")
        }
        #expect(owner != nil)
        owner = nil
        owner = try ExclusiveFolder(path: folder.path)
    }

    /// A copy of the descriptor remains open, as in a forked child process until it calls exec.
    @Test func folderIsFreeDespiteACopiedDescriptor() throws {
        let folder = try Folder()
        var owner: ExclusiveFolder? = try ExclusiveFolder(path: folder.path)
        let copy = try #require(copyOfDescriptor(of: folder.path + "/lock"))
        #expect(owner != nil)
        owner = nil
        owner = try ExclusiveFolder(path: folder.path)
        close(copy)
    }

    @Test func errorStatesWhyTheFolderCannotBeUsed() throws {
        let folder = try Folder()
        close(unsafe open(folder.path + "/file", O_WRONLY | O_CREAT, 0o600))
        #expect(throws: ExclusiveFolder.Failure.notUsable(SystemError(errno: ENOTDIR, call: "mkdir"))) {
            try ExclusiveFolder(path: folder.path + "/file/below")
        }
    }

    private func copyOfDescriptor(of path: String) -> Int32? {
        var wanted = stat()
        guard unsafe stat(path, &wanted) == 0 else { return nil }
        for number in 0..<getdtablesize() {
            var found = stat()
            if unsafe fstat(number, &found) == 0, found.st_ino == wanted.st_ino, found.st_dev == wanted.st_dev
            {
                return dup(number)
            }
        }
        return nil
    }

    private func mode(of path: String) -> mode_t? {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
    }
}
