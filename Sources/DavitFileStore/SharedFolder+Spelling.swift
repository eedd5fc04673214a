internal import DavitHTTP
internal import DavitStore
internal import DavitSystem

/// Names are bytes, kept as they were sent; a name that is not there is looked for under its other canonically
/// equivalent spellings. One that is there is always itself.
extension SharedFolder {
    /// Whether a name in the path can be there under another spelling, which the volume does not find by itself.
    func hasSpellings(_ path: ResourcePath) -> Bool { !path.isASCII && directory.matching == .bytes }

    /// A member of a folder, by its name or else by an equivalent one: the name it has, and what it is; nil if there
    /// is none. For a name that is not ASCII and not there, the folder may have to be read.
    func member(
        _ name: [UInt8], of folder: borrowing FileDescriptor
    ) throws(SystemError) -> (name: [UInt8], status: FileStatus)? {
        if let status = try Self.status(of: name, in: folder) { return (name, status) }
        guard directory.matching == .bytes, !name.allSatisfy({ $0 < 0x80 }), let asked = CanonicalName(name)
        else { return nil }
        if let plain = asked.asciiSpelling, let status = try Self.status(of: plain, in: folder) {
            return (plain, status)
        }
        // The second time after the folder was read anew: what was known of it is not true.
        for _ in 0..<2 {
            guard let spelling = try names.spelling(of: asked, in: folder) else { return nil }
            if let status = try Self.status(of: spelling, in: folder) { return (spelling, status) }
            names.forget(folder)
        }
        return nil
    }

    private static func status(
        of name: [UInt8], in folder: borrowing FileDescriptor
    ) throws(SystemError) -> FileStatus? {
        do {
            return try folder.status(of: name)
        } catch {
            if error.code == .noEntry { return nil }
            throw error
        }
    }
}
