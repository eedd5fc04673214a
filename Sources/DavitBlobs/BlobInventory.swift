/// An object as a store has it.
package struct StoredObject: Hashable, Sendable {
    /// The name in its folder.
    package var name: String
    /// Nil if no object of davit has this name.
    package var key: BlobKey?
    /// Whether the object is complete. Otherwise, it is the file of a writer that has not finished.
    package var isComplete: Bool
    /// In bytes.
    package var length: Int64

    package init(name: String, key: BlobKey?, isComplete: Bool, length: Int64) {
        self.name = name
        self.key = key
        self.isComplete = isComplete
        self.length = length
    }
}

/// What a store contains, for checks. All calls block, and none of them changes the store or uses local copies.
package protocol BlobInventory: Sendable {
    /// Returns the id of the database that the store belongs to; nil if there is none.
    func owner() throws(BlobError) -> BlobKey?
    /// Returns what is in the folder of the objects whose names begin with a byte, in unspecified order. Other files and objects
    /// of the volume or bucket are ignored.
    func list(_ folder: UInt8) throws(BlobError) -> [StoredObject]
    /// Returns the lengths of those objects in a folder that exist.
    func lengths(of keys: [BlobKey], in folder: UInt8) throws(BlobError) -> [BlobKey: Int64]
    /// Returns the SHA-256 of an object; nil if this build has none.
    func digest(of key: BlobKey) throws(BlobError) -> [UInt8]?
}

extension BlobInventory {
    /// Returns the two digits with which the name of a folder and the names of its objects begin.
    package static func digits(_ folder: UInt8) -> String {
        (folder < 16 ? "0" : "") + String(folder, radix: 16)
    }
}

extension BlobKey {
    /// The folder of the object.
    package var folder: UInt8 { UInt8(truncatingIfNeeded: high >> 56) }

    /// Parses the content of the file or object that names the database of a store.
    init?(marker bytes: [UInt8]) {
        guard bytes.last == 10 else { return nil }
        self.init(String(decoding: bytes.dropLast(), as: UTF8.self))
    }

    /// The content of that file or object.
    var marker: [UInt8] { Array((text + "\n").utf8) }
}
