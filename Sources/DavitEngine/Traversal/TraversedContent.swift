package import DavitHTTP
package import DavitStore

/// Opened content of a traversal.
package struct TraversedContent: Sendable {
    private let file: any FileContent
    package let info: ResourceInfo
    private let share: Share

    init(file: any FileContent, info: ResourceInfo, share: Share) {
        self.file = file
        self.info = info
        self.share = share
    }

    /// Length in bytes when the content was opened.
    package var length: Int64 { file.length }

    /// Reads bytes from `offset` into the free space of `buffer`. May block.
    /// - Returns: The number of bytes; 0 at the end, nil if the content cannot be read.
    package func read(at offset: Int64, into buffer: IOBuffer) -> Int? {
        try? share.resources.read(file, at: offset, into: buffer)
    }
}
