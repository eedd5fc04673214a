internal import DavitHTTP
internal import DavitStore
internal import DavitSystem

/// Names are stored as the bytes that were sent. If a name does not exist, canonically equivalent spellings
/// are tried; an exact match always takes precedence.
extension SharedFolder {
    /// Whether a name in the path may exist under another spelling that the volume itself does not find.
    func hasSpellings(_ path: ResourcePath) -> Bool { !path.isASCII && directory.matching == .bytes }

    /// Returns the stored name and the status of a member, found by exact name or by an equivalent one; nil
    /// if there is none. May read the folder for a missing non-ASCII name.
    func member(
        _ name: [UInt8], of folder: borrowing FileDescriptor
    ) throws(SystemError) -> (name: [UInt8], status: FileStatus)? {
        if let status = try Self.status(of: name, in: folder) { return (name, status) }
        guard directory.matching == .bytes, !name.allSatisfy({ $0 < 0x80 }), let asked = CanonicalName(name)
        else { return nil }
        if let plain = asked.asciiSpelling, let status = try Self.status(of: plain, in: folder) {
            return (plain, status)
        }
        // If the found spelling does not exist, the index is outdated; retry once after reading the folder
        // again.
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
