import DavitFileStore
import DavitHTTP
import DavitStore
import DavitSystem
import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A temporary folder for one test, removed on deinitialization. It contains the folders `share` and
/// `outside`.
final class Sandbox {
    let base: String
    private let volume: Volume
    private var mounted: [String] = []
    var share: String { base + "/share" }

    init(on volume: Volume = .disk) throws {
        self.volume = volume
        var template = Array("\(volume.folder)/davit-test-XXXXXX".utf8CString)
        let made = unsafe template.withUnsafeMutableBufferPointer { buffer in
            unsafe buffer.baseAddress.flatMap { unsafe mkdtemp($0) }.map { unsafe String(cString: $0) }
        }
        base = try #require(made)
        try done(unsafe mkdir(base + "/share", 0o755))
        try done(unsafe mkdir(base + "/outside", 0o755))
    }

    deinit {
        for folder in mounted { unsafe umount2(folder, Int32(MNT_DETACH)) }
        let name = base.utf8.split(separator: UInt8(ascii: "/")).last.map { Array($0) } ?? []
        if let path = ResourcePath.root.appending(name),
            let store = try? FileResourceStore(root: volume.folder)
        {
            _ = try? store.detach(path).destroy()
        }
    }

    /// Mounts a file system on a folder of the share.
    func mount(_ arguments: String, at name: String) throws {
        try done(unsafe system("mount \(arguments) '\(path(name))'"))
        mounted.append(path(name))
    }

    /// Fails the test if a system call failed.
    private func done(_ result: Int32) throws { try #require(result == 0, "errno \(errno)") }

    /// Opens a store as a server does, without uploads.
    func store(_ mode: Resolver = .oneCall) throws -> FileResourceStore {
        let store = try FileResourceStore(root: share, walksComponents: mode == .components)
        store.keepUploads { _ in false }
        return store
    }

    func path(_ name: String) -> String { share + "/" + name }

    func write(_ name: String, _ text: String = "", mode: mode_t = 0o644) throws {
        let file = unsafe creat(path(name), mode)
        try #require(file >= 0)
        let bytes = Array(text.utf8)
        #expect(unsafe Glibc.write(file, bytes, bytes.count) == bytes.count)
        fchmod(file, mode)
        close(file)
    }

    /// Returns the content of a file; nil if the file cannot be opened.
    func read(_ name: String) -> String? {
        let file = unsafe Glibc.open(path(name), O_RDONLY | O_NONBLOCK)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var text: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while case let count = unsafe Glibc.read(file, &piece, piece.count), count > 0 {
            text += piece[..<count]
        }
        return String(decoding: text, as: UTF8.self)
    }

    func makeFolder(_ name: String) throws { try done(unsafe mkdir(path(name), 0o755)) }
    func makeSpecial(_ name: String) throws { try done(unsafe mkfifo(path(name), 0o644)) }
    func link(_ name: String, to text: String) throws { try done(unsafe symlink(text, path(name))) }

    func hardLink(_ name: String, _ second: String) throws {
        try done(unsafe Glibc.link(path(name), path(second)))
    }

    func openForWriting(_ name: String) throws -> FileDescriptor {
        let number = unsafe Glibc.open(path(name), O_WRONLY)
        try #require(number >= 0)
        return FileDescriptor(owning: number)
    }

    /// Creates nested folders with a file in the last one.
    func makeDeepTree(_ name: String, levels: Int) throws {
        try makeFolder(name)
        var folder = unsafe Glibc.open(path(name), O_RDONLY | O_DIRECTORY)
        for _ in 1..<levels {
            try done(unsafe mkdirat(folder, "d", 0o755))
            let next = unsafe openat(folder, "d", O_RDONLY | O_DIRECTORY)
            close(folder)
            folder = next
        }
        close(unsafe openat(folder, "file", O_WRONLY | O_CREAT, 0o644))
        close(folder)
    }

    func mode(of name: String) -> UInt32? { status(name)?.mode }

    /// Returns the status of the name itself, even if it is a symbolic link.
    func status(_ name: String) -> FileStatus? {
        let root = try? RootDirectory(opening: share)
        return try? root?.status(at: Array(name.utf8), acceptsLink: true, mayWait: true)
    }

    /// Returns the sorted names in a folder of the share, including reserved ones.
    func names(_ folder: String = ".") -> [String] { Self.names(in: path(folder)) }

    /// Returns the sorted names in any folder.
    static func names(in folder: String) -> [String] {
        guard let directory = unsafe opendir(folder) else { return [] }
        defer { unsafe closedir(directory) }
        var names: [String] = []
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// Opens a file of the share for access to its attributes.
    func open(_ name: String) throws -> FileDescriptor {
        let number = unsafe Glibc.open(path(name), O_RDONLY)
        try #require(number >= 0)
        return FileDescriptor(owning: number)
    }
}

enum Volume: String, CaseIterable, Sendable {
    case disk, memory
    var folder: String { self == .disk ? "/tmp" : "/dev/shm" }
}

enum Resolver: CaseIterable, Sendable { case oneCall, components }

func resource(_ text: String) throws -> ResourcePath {
    try #require(ResourcePath(segments: text.utf8.split(separator: UInt8(ascii: "/"))))
}

extension Lookup {
    /// The state and canonical path, for comparison with a table.
    var summary: String {
        switch state {
        case .mapped(let info): "\(info.isCollection ? "collection" : "content") \(path)"
        case .unmapped: "unmapped \(path)"
        case .missingAncestor: "missingAncestor"
        case .unservable: "unservable"
        }
    }
}

extension FileResourceStore {
    func summary(_ path: String, _ last: SymlinkMode = .followed) throws -> String {
        let summary = try lookup(resource(path), last: last, wait: .allowed).summary
        // A lookup for a change returns the same result.
        let forChange = try lookupForChange(resource(path), last: last, reusing: nil, wait: .allowed)
        #expect(forChange.summary == summary, "\(path)")
        return summary
    }

    /// Returns all members, sorted by name.
    func list(_ path: String) throws -> [Member] {
        let cursor = try members(of: resource(path))
        var all: [Member] = []
        while case let block = try cursor.next(), !block.isEmpty { all += block }
        return all.sorted { $0.name.lexicographicallyPrecedes($1.name) }
    }

    /// Stores content like a PUT of the engine.
    /// - Parameter isInMemory: whether the content is complete when it is staged, as in a PUT of a short body.
    @discardableResult
    func put(
        _ text: String, at path: ResourcePath, modified: Timestamp? = nil, isInMemory: Bool = true
    ) throws(StoreError) -> ResourceInfo {
        let replaces = isInMemory ? try lookup(path, last: .followed, wait: .allowed).info != nil : false
        let staged = try stageContent(
            for: ResourceLocation(path), expectedLength: Int64(text.utf8.count), replaces: replaces)
        let buffer = IOBuffer(capacity: max(text.utf8.count, 1))
        _ = buffer.append(Array(text.utf8))
        try staged.write(buffer)
        let old = try lookup(path, last: .followed, wait: .allowed).info
        let info = try staged.seal(replacing: old, modified: modified)
        try staged.publish(isReplacing: old != nil)
        return info
    }
}

extension Sandbox {
    /// Sweeps until no leftover remains, and returns whether that succeeded. A child process that another
    /// test has forked holds every lock until it calls exec; this function waits for these locks.
    func isSwept(by store: FileResourceStore) -> Bool {
        for _ in 0..<1_000 {
            store.sweepLeftovers { false }
            let leftovers = names().filter(isReserved)
            if leftovers.isEmpty { return true }
            for name in leftovers {
                let number = unsafe Glibc.open(path(name), O_RDONLY | O_CLOEXEC)
                guard number >= 0 else { continue }
                _ = flock(number, LOCK_EX)
                close(number)
            }
        }
        return false
    }
}

extension FileResourceStore {
    /// Returns the items that could not be removed.
    func detachAndDestroy(_ path: String) -> [String] {
        guard let tree = try? detach(resource(path)) else { return ["not detached"] }
        return tree.destroy().map { "\($0.path) \($0.error)" }
    }
}

extension Member {
    var text: String { String(decoding: name, as: UTF8.self) }
}

/// Returns the content of an open resource.
func content(_ resource: OpenResource) -> String? {
    guard let file = resource.content?.file else { return nil }
    var bytes = [UInt8](repeating: 0, count: Int(file.length))
    let count = unsafe pread(file.descriptor, &bytes, bytes.count, 0)
    return String(decoding: bytes[..<max(count, 0)], as: UTF8.self)
}

func isReserved(_ name: String) -> Bool { name.hasPrefix(".davit-") && name.utf8.count == 23 }

extension Sandbox {
    /// The number of files and folders of the share that this process has open.
    var openFileCount: Int {
        let prefix = share + "/"
        // Other tests of this process can have thousands of descriptors, so that there is no useful upper bound.
        return Sandbox.names(in: "/proc/self/fd").count { number in
            var text = [CChar](repeating: 0, count: 4096)
            let count = unsafe readlink("/proc/self/fd/\(number)", &text, text.count)
            guard count > 0 else { return false }
            return String(decoding: text[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
                .hasPrefix(prefix)
        }
    }
}
