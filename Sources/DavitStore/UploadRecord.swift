public import DavitHTTP

/// An upload that can span several requests: its target and the location of its bytes.
public struct UploadRecord: Hashable, Sendable {
    /// An unguessable id; the last segment of the upload's URL.
    public var id: String
    /// The collection of the target, canonical. The record moves with the collection.
    public var collection: ResourcePath
    /// The name of the target in the collection.
    public var name: [UInt8]
    /// The hidden name of the bytes in the same collection.
    public var stagedName: [UInt8]
    /// The identity of the file, which it keeps when it is renamed to the target.
    public var identity: ResourceIdentity
    /// The account that created the upload; nil without authentication. For other accounts, the upload does
    /// not exist.
    public var principal: String?
    /// The network from which the upload was created, see ``ClientKey``; nil with an account.
    public var network: String?
    /// The header fields of the creating request that are needed when the content is complete, as lines.
    public var fieldLines: [UInt8]
    /// Options given at creation.
    public var options: Options
    /// How much of the upload has been received.
    public var progress: Progress

    /// Options given when the upload was created.
    public struct Options: OptionSet, Hashable, Sendable {
        public let rawValue: Int64

        public init(rawValue: Int64) { self.rawValue = rawValue }

        /// The server chose the name, and chooses another one if it is taken when the upload completes.
        public static let choosesName = Options(rawValue: 1)
        /// Part of a later concatenation; it does not become a resource itself.
        public static let isPart = Options(rawValue: 2)
        /// The content is the concatenation of other uploads.
        public static let isConcatenation = Options(rawValue: 4)
    }

    /// The progress of an upload, as of the end of a request.
    public struct Progress: Hashable, Sendable {
        /// The total length in bytes; nil until the client has declared it.
        public var length: Int64?
        /// The number of acknowledged bytes.
        public var offset: Int64
        /// Whether stored bytes after ``offset`` must be discarded, because they have not been verified
        /// against a digest.
        public var isUnverified: Bool
        /// Whether the upload is complete: all bytes were received and, unless it is part of a concatenation,
        /// published under the target's name.
        public var isComplete: Bool
        /// The time at which the upload expires.
        public var expiry: Timestamp

        public init(
            length: Int64?, offset: Int64 = 0, isUnverified: Bool = false, isComplete: Bool = false,
            expiry: Timestamp
        ) {
            self.length = length
            self.offset = offset
            self.isUnverified = isUnverified
            self.isComplete = isComplete
            self.expiry = expiry
        }
    }

    public init(
        id: String, collection: ResourcePath, name: [UInt8], stagedName: [UInt8],
        identity: ResourceIdentity, principal: String?, network: String? = nil, fieldLines: [UInt8],
        options: Options, progress: Progress
    ) {
        self.id = id
        self.collection = collection
        self.name = name
        self.stagedName = stagedName
        self.identity = identity
        self.principal = principal
        self.network = network
        self.fieldLines = fieldLines
        self.options = options
        self.progress = progress
    }

    /// The client that the upload is charged to.
    public var client: ClientKey { ClientKey(principal: principal, network: network) }

    /// The number of bytes charged for the upload: the parts chosen by the client plus a fixed overhead.
    public var chargedBytes: Int {
        Self.chargedBytes(collection: collection, name: name[...], fieldLines: fieldLines)
    }

    /// Like ``chargedBytes``, for a record that does not exist yet.
    public static func chargedBytes(
        collection: ResourcePath, name: ArraySlice<UInt8>, fieldLines: [UInt8]
    ) -> Int {
        256 + collection.bytes.count + name.count + fieldLines.count
    }
}
