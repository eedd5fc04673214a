internal import DavitHTTP
internal import DavitStore
internal import DavitSystem

/// Content that is changed in a copy, so that nobody sees a part of the change.
extension StagedFile {
    /// Makes this file, of which nothing is written yet, a copy of the bytes at its place. Mode and attributes come when
    /// it is sealed, as for all content that replaces other.
    /// - Returns: what was copied.
    func copyCurrent() throws(StoreError) -> ResourceInfo {
        let folder = try share.folder(of: place)
        let name = Array(place.path.name)
        return try storing { () throws(SystemError) in
            // A FIFO or a device must never be opened.
            guard try folder.directory.status(of: name).kind == .regular else { throw .absent }
            let current = try folder.directory.open(name, for: .content)
            let status = try current.status()
            // Something else may have taken its place since.
            guard status.kind == .regular else { throw .absent }
            // Also where the volume shares blocks: as soon as somebody writes, it does not.
            try file.checkRoom(for: status.length, keepingFree: share.keepsFree)
            var canShare = true
            try current.copyContent(to: file, status: status, canShare: &canShare)
            length = status.length
            return ResourceInfo(status, of: current)
        }
    }

    func write(_ buffer: IOBuffer, at offset: Int64) throws(StoreError) {
        try checkRoom(for: Int64(buffer.count))
        try storing { () throws(SystemError) in
            try unsafe buffer.withBytes { bytes throws(SystemError) in
                try unsafe file.writeAll(bytes, at: offset)
            }
        }
        length = max(length, offset + Int64(buffer.count))
    }

    func write(contentOf other: any StagedContent, at offset: Int64) throws(StoreError) {
        guard let other = (other as? UploadFile)?.file ?? other as? StagedFile else {
            throw .failed(reason: "content of another store")
        }
        try checkRoom(for: other.length)
        do throws(SystemError) {
            try other.file.copyBytes(other.length, to: file, at: offset)
        } catch {
            // What was appended of it takes no room any more: it may be copied again.
            try? file.setLength(length)
            throw StoreError(error)
        }
        length = max(length, offset + other.length)
    }
}
