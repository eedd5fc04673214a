import DavitSystem
import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A folder that is removed after the test.
final class Folder {
    let path: String
    let root: FileDescriptor

    init() throws {
        var template = Array("/tmp/davit-system-XXXXXX".utf8CString)
        let made = unsafe template.withUnsafeMutableBufferPointer { buffer in
            unsafe buffer.baseAddress.flatMap { unsafe mkdtemp($0) }.map { unsafe String(cString: $0) }
        }
        path = try #require(made)
        root = FileDescriptor(owning: unsafe open(path, O_RDONLY | O_DIRECTORY))
    }

    deinit { _ = unsafe system("rm -rf '\(path)'") }
}
