#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A temporary folder for one test, removed with its database on deinitialization.
final class DatabaseFolder: Sendable {
    static let names = ["/state.sqlite", "/state.sqlite-wal", "/state.sqlite-shm"]

    let path: String
    var database: String { path + "/state.sqlite" }

    init() {
        var template = Array("/tmp/davit-test-XXXXXX".utf8CString)
        unsafe template.withUnsafeMutableBufferPointer { buffer in
            if let start = buffer.baseAddress { unsafe _ = mkdtemp(start) }
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { Self.remove(path) }

    static func remove(_ folder: String) {
        for name in names + [""] {
            unsafe _ = unlink(folder + name)
        }
        unsafe _ = rmdir(folder)
    }

    /// Copies the files as a crash would leave them, without closing the connections to the database.
    func image() -> DatabaseFolder {
        let copy = DatabaseFolder()
        // Skips the shared memory, which the next start rebuilds.
        for name in Self.names.prefix(2) {
            if let bytes = Self.read(path + name) { Self.write(bytes, to: copy.path + name) }
        }
        return copy
    }

    static func read(_ path: String) -> [UInt8]? {
        guard let file = unsafe fopen(path, "rb") else { return nil }
        defer { unsafe _ = fclose(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = unsafe fread(&chunk, 1, chunk.count, file)
            if count == 0 { return bytes }
            bytes += chunk[..<count]
        }
    }

    static func write(_ bytes: [UInt8], to path: String) {
        guard let file = unsafe fopen(path, "wb") else { return }
        unsafe _ = fwrite(bytes, 1, bytes.count, file)
        unsafe _ = fclose(file)
    }

    static func mode(of path: String) -> mode_t {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
    }
}
