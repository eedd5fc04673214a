public import DavitHTTP
public import DavitStore
internal import DavitSystem

extension FileResourceStore {
    public func setAttributes(
        _ attributes: ResourceAttributes, at path: ResourcePath
    ) throws(StoreError) {
        // The root has no parent in the share and is opened as its own member.
        let folder = try share.openDirectory(path.parent ?? path)
        let name = path.isRoot ? [UInt8(ascii: ".")] : Array(path.name)
        let status = try storing { () throws(SystemError) in try folder.status(of: name) }
        let mode = try Self.mode(attributes, from: status)
        if mode == status.mode, attributes.modified == nil { return }
        do throws(StoreError) {
            if mode != status.mode {
                try storing { () throws(SystemError) in try folder.setMode(mode, of: name) }
            }
            if let modified = attributes.modified {
                try storing { () throws(SystemError) in
                    try Self.setModified(modified, of: name, status, in: folder)
                }
            }
            try share.sync.attributes(of: name, status.kind, in: folder)
        } catch {
            if mode != status.mode { try? folder.setMode(status.mode, of: name) }
            if attributes.modified != nil {
                try? folder.open(name, for: OpenMode(status.kind)).setModified(status.modified)
            }
            throw error
        }
    }

    private static func mode(
        _ attributes: ResourceAttributes, from status: FileStatus
    ) throws(StoreError) -> UInt32 {
        guard status.kind == .regular || status.kind == .directory else { throw .wrongKind }
        guard let isExecutable = attributes.isExecutable else { return status.mode }
        guard status.kind == .regular else { throw .wrongKind }
        return isExecutable ? status.mode | (status.mode & 0o444) >> 2 : status.mode & ~0o111
    }

    private static func setModified(
        _ second: Timestamp, of name: [UInt8], _ status: FileStatus, in folder: borrowing FileDescriptor
    ) throws(SystemError) {
        let file = try folder.open(name, for: OpenMode(status.kind))
        if status.kind == .directory {
            return try file.setModified(UniqueTimeClock.shared.next(within: second))
        }
        _ = try VersionStamp.renew(file, within: second, unlike: ResourceInfo(status, of: file))
    }
}

extension OpenMode {
    /// Selects the mode for reading a resource of this kind: content, or the entries of a directory.
    init(_ kind: FileStatus.Kind) { self = kind == .directory ? .entries : .content }
}
