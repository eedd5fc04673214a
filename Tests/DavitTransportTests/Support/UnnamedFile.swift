import DavitSystem

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension FileDescriptor {
    /// Creates an unlinked file with this content.
    static func unnamed(_ content: [UInt8]) throws -> FileDescriptor {
        var name = Array("/tmp/davit-test-XXXXXX".utf8CString)
        let number = unsafe mkstemp(&name)
        guard number >= 0 else { throw SystemError(errno: errno, call: "mkstemp") }
        let file = FileDescriptor(owning: number)
        removeName(name)
        var written = 0
        while written < content.count {
            let count = unsafe content.withUnsafeBytes {
                unsafe pwrite(number, $0.baseAddress! + written, content.count - written, off_t(written))
            }
            guard count > 0 else { throw SystemError(errno: errno, call: "pwrite") }
            written += count
        }
        return file
    }
}

// Inside FileDescriptor, `unlink` would refer to the method of that name.
private func removeName(_ path: [CChar]) { _ = unsafe unlink(path) }
