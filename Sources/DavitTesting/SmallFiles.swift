#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Accesses files without the server.
public enum SmallFiles {
    public struct Failure: Error {
        public let errno: Int32

        public init(errno: Int32) { self.errno = errno }
    }

    public static func read(_ path: String) throws -> [UInt8] {
        guard let file = unsafe fopen(path, "r") else { throw Failure(errno: errno) }
        defer { unsafe _ = fclose(file) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        while case let count = unsafe fread(&piece, 1, piece.count, file), count > 0 {
            bytes += piece[..<count]
        }
        return bytes
    }

    public static func write(_ text: String, to path: String) throws {
        guard let file = unsafe fopen(path, "w") else { throw Failure(errno: errno) }
        defer { unsafe _ = fclose(file) }
        let bytes = Array(text.utf8)
        guard unsafe fwrite(bytes, 1, bytes.count, file) == bytes.count else { throw Failure(errno: errno) }
    }

    public static func delete(_ path: String) throws {
        if unsafe unlink(path) != 0 { throw Failure(errno: errno) }
    }

    public static func names(_ folder: String) -> [String] {
        guard let directory = unsafe opendir(folder) else { return [] }
        defer { unsafe _ = closedir(directory) }
        var names: [String] = []
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }
}
