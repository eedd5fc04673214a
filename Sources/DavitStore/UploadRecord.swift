public import DavitHTTP

/// An upload that goes on over several requests: what it is to become, and where its bytes are until then.
public struct UploadRecord: Hashable, Sendable {
    /// Unguessable; the last segment of its URL.
    public var id: String
    /// The collection of the target, canonical. The record goes where that goes.
    public var collection: ResourcePath
    /// The name of the target in it.
    public var name: [UInt8]
    /// The name under which the bytes are hidden, in the same collection.
    public var stagedName: [UInt8]
    /// Which file that is: it keeps this identity when it gets the name of the target.
    public var identity: ResourceIdentity
    /// Who created it; nil without authentication. To others it is not there.
    public var principal: String?
    /// The network from which it was created, see ``ClientKey``; nil with an account.
    public var network: String?
    /// Fields of the request that created it, as lines: those that are looked at when the content is complete.
    public var fieldLines: [UInt8]
    /// What else was asked for.
    public var options: Options
    /// How far it is.
    public var progress: Progress

    /// What was asked for when it was created.
    public struct Options: OptionSet, Hashable, Sendable {
        public let rawValue: Int64

        public init(rawValue: Int64) { self.rawValue = rawValue }

        /// The server chose the name, and chooses another one where that is taken in the end.
        public static let choosesName = Options(rawValue: 1)
        /// Part of a later concatenation: it becomes nothing by itself.
        public static let isPart = Options(rawValue: 2)
        /// The bytes are those of other uploads, one after the other.
        public static let isConcatenation = Options(rawValue: 4)
    }

    /// How far an upload is, as of the end of a request.
    public struct Progress: Hashable, Sendable {
        /// Bytes of all of it; nil as long as nobody has said.
        public var length: Int64?
        /// Bytes that were acknowledged.
        public var offset: Int64
        /// Bytes behind ``offset`` do not count, even if they are there: they were to be compared with a digest.
        public var isUnverified: Bool
        /// All of it has come, and has its name; a part of a concatenation: all of it has come.
        public var isComplete: Bool
        /// From this instant on it is gone.
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

    /// The client that is charged for it.
    public var client: ClientKey { ClientKey(principal: principal, network: network) }

    /// Bytes charged for it: what the client has chosen, and a flat part for the rest.
    public var chargedBytes: Int {
        Self.chargedBytes(collection: collection, name: name[...], fieldLines: fieldLines)
    }

    /// As ``chargedBytes``, of a record that is to be made.
    public static func chargedBytes(
        collection: ResourcePath, name: ArraySlice<UInt8>, fieldLines: [UInt8]
    ) -> Int {
        256 + collection.bytes.count + name.count + fieldLines.count
    }
}
