#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A new folder for one test; removed with its contents when the object is destroyed.
public final class TemporaryFolder: Sendable {
    /// The absolute path, without a trailing slash.
    public let path: String

    /// - Parameter parent: the parent folder; `/dev/shm` for a folder in memory.
    public init(in parent: String = "/tmp") throws(CreationError) {
        var template = Array((parent + "/davit-test-XXXXXX").utf8CString)
        guard let made = unsafe mkdtemp(&template) else { throw CreationError(errno: errno) }
        path = unsafe String(cString: made)
    }

    public struct CreationError: Error {
        public let errno: Int32
    }

    /// Creates an empty file.
    public func makeFile(_ name: String) throws(CreationError) {
        let file = unsafe open(path + "/" + name, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
        guard file >= 0 else { throw CreationError(errno: errno) }
        close(file)
    }

    deinit { Self.remove(path) }

    private static func remove(_ path: String) {
        if unsafe unlink(path) == 0 { return }
        for name in names(in: path) { remove(path + "/" + name) }
        unsafe rmdir(path)
    }

    /// Returns the names in the folder at `path`, in no particular order; empty if it cannot be read.
    public static func names(in path: String) -> [String] {
        guard let folder = unsafe opendir(path) else { return [] }
        defer { unsafe closedir(folder) }
        var names: [String] = []
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
                unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names
    }
}
