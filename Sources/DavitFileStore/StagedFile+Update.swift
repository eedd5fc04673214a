internal import DavitHTTP
internal import DavitStore
internal import DavitSystem

/// Changes are made to a copy of the content, so that no reader sees a partial change.
extension StagedFile {
    /// Fills this file, which must be empty, with a copy of the content at its location. Mode and attributes
    /// are copied when the file is sealed, as for all replacements.
    /// - Returns: the metadata of the copied content.
    func copyCurrent() throws(StoreError) -> ResourceInfo {
        let folder = try share.folder(of: location)
        let name = Array(location.path.name)
        return try storing { () throws(SystemError) in
            // A FIFO or a device must never be opened.
            guard try folder.directory.status(of: name).kind == .regular else { throw .absent }
            let current = try folder.directory.open(name, for: .content)
            let status = try current.status()
            // The file may have been replaced in the meantime.
            guard status.kind == .regular else { throw .absent }
            // Check the space even if the volume shares blocks, because a write unshares them.
            try file.checkRoom(for: status.length, keepingFree: share.keepsFree)
            var canShare = true
            try current.copyContent(to: file, status: status, canShare: &canShare)
            state.withValue { $0.length = status.length }
            return ResourceInfo(status, of: current)
        }
    }

    func write(_ buffer: IOBuffer, at offset: Int64) throws(StoreError) {
        try state.withValue { state throws(StoreError) in
            try checkRoom(for: Int64(buffer.count))
            try storing { () throws(SystemError) in
                try unsafe buffer.withBytes { bytes throws(SystemError) in
                    try unsafe file.writeAll(bytes, at: offset)
                }
            }
            state.length = max(state.length, offset + Int64(buffer.count))
        }
    }

    func write(contentOf other: any StagedContent, at offset: Int64) throws(StoreError) {
        guard let other = (other as? UploadFile)?.file ?? other as? StagedFile else {
            throw .failed(reason: "content belongs to another store")
        }
        let count = other.length
        try state.withValue { state throws(StoreError) in
            try checkRoom(for: count)
            do throws(SystemError) {
                try other.file.copyBytes(count, to: file, at: offset)
            } catch {
                // Release the space of the partial copy, so that the copy can be retried.
                try? file.setLength(state.length)
                throw StoreError(error)
            }
            state.length = max(state.length, offset + count)
        }
    }
}
