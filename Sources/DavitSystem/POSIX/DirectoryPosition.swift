#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A place in a walk down and up a tree, with one descriptor whatever the depth.
///
/// Going up is `..`, checked against the directory that was left on the way down: if somebody moved the
/// tree meanwhile, the walk ends instead of going on elsewhere.
package struct DirectoryPosition: ~Copyable {
    package private(set) var directory: FileDescriptor
    /// From the start of the walk to `directory`.
    package private(set) var path: [FileStatus.Identity]

    /// - Parameter directory: open for reading its entries.
    package init(at directory: consuming FileDescriptor) throws(SystemError) {
        path = [try directory.status().identity]
        self.directory = directory
    }

    /// Goes down to a member, which is a directory and no link.
    package mutating func enter(_ name: [UInt8]) throws(SystemError) {
        let member = try directory.open(name, for: .entries)
        path.append(try member.status().identity)
        directory = member
    }

    /// Goes up; not above the start.
    package mutating func leave() throws(SystemError) {
        let parent = try directory.openParent()
        guard path.count > 1, try parent.status().identity == path[path.count - 2] else {
            throw SystemError(errno: ESTALE, call: "openat")
        }
        path.removeLast()
        directory = parent
    }
}
