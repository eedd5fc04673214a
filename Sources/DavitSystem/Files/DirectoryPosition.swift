#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The current directory of a tree traversal, which uses one descriptor regardless of the depth.
///
/// Moving up opens `..` and compares it with the directory that was left on the way down: if the tree was
/// moved in the meantime, the traversal fails instead of continuing elsewhere.
package struct DirectoryPosition: ~Copyable {
    package private(set) var directory: FileDescriptor
    /// The identities of the directories from the start to `directory`.
    package private(set) var path: [FileStatus.Identity]

    /// - Parameter directory: must be open for reading its entries.
    package init(at directory: consuming FileDescriptor) throws(SystemError) {
        path = [try directory.status().identity]
        self.directory = directory
    }

    /// Moves down to a member, which must be a directory and not a link.
    package mutating func enter(_ name: [UInt8]) throws(SystemError) {
        let member = try directory.open(name, for: .entries)
        path.append(try member.status().identity)
        directory = member
    }

    /// Moves up.
    /// - Throws: `ESTALE` at the start, or if the tree was moved.
    package mutating func leave() throws(SystemError) {
        let parent = try directory.openParent()
        guard path.count > 1, try parent.status().identity == path[path.count - 2] else {
            throw SystemError(errno: ESTALE, call: "openat")
        }
        path.removeLast()
        directory = parent
    }
}
