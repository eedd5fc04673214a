public import DavitHTTP
public import DavitStore
internal import DavitSystem

/// Files opened by path, outside of any store.
public enum RegularFile {
    /// Opens a regular file for reading. Blocks.
    ///
    /// - Parameters:
    ///   - path: an absolute path, or one relative to the working directory. Must never be derived from a
    ///     request.
    ///   - followsLink: whether to follow a symbolic link in the last segment; otherwise a link is
    ///     `notFound`.
    /// - Throws: `notFound`, including for directories, FIFOs and devices; `forbidden`, `busy`, `failed`.
    public static func open(
        _ path: String, followsLink: Bool = false, rules: ContentResponseSettings = ContentResponseSettings()
    ) throws(StoreError) -> OpenContent {
        do throws(SystemError) {
            return try openNow(path, followsLink: followsLink, rules)
        } catch {
            switch error.code {
            case .notDirectory, .loop, .nameTooLong, .noDevice: throw .notFound
            default: throw StoreError(error)
            }
        }
    }

    private static func openNow(
        _ path: String, followsLink: Bool, _ rules: ContentResponseSettings
    ) throws(SystemError) -> OpenContent {
        let file = try FileDescriptor.openRegular(path, followsLink: followsLink)
        let status = try file.status()
        let info = ResourceInfo(status, of: file)
        let name = path.utf8.split(separator: UInt8(ascii: "/")).last.map { Array($0) } ?? []
        return OpenContent(
            file: OpenFile(file, length: status.length, volume: status.volume),
            head: ContentHead(info, name: name, rules: rules))
    }
}
