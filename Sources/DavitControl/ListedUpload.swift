package import DavitHTTP
package import DavitStore

/// An open upload as `davit uploads` lists it, encoded as a line of a ``ControlResponse``.
package struct ListedUpload: Hashable, Sendable {
    package var id: String
    /// The path of the target; segments are separated by slashes.
    package var path: [UInt8]
    /// The account that created the upload, if any.
    package var account: String?
    /// The network from which the upload was created; nil with an account.
    package var network: String?
    /// The number of received bytes.
    package var received: Int64
    /// The total length in bytes; nil until the client has declared it.
    package var length: Int64?
    package var expiry: Timestamp

    package init(_ record: UploadRecord) {
        id = record.id
        path = record.collection.bytes + (record.collection.isRoot ? [] : [UInt8(ascii: "/")]) + record.name
        account = record.principal
        network = record.network
        received = record.progress.offset
        length = record.progress.length
        expiry = record.progress.expiry
    }

    /// The encoded line: words separated by spaces.
    package var line: String {
        [
            ControlWord.encode(Array(id.utf8)), ControlWord.encode(path),
            ControlWord.encode(account.map { Array($0.utf8) }),
            ControlWord.encode(network.map { Array($0.utf8) }),
            "\(received)", length.map { "\($0)" } ?? "-", "\(expiry.nanoseconds)",
        ].joined(separator: " ")
    }

    /// Parses a line; returns nil if it is malformed.
    package init?(line: String) {
        let words = line.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 7, let id = ControlWord.decode(words[0]),
            let path = ControlWord.decode(words[1]),
            let received = Int64(words[4]), let expiry = Int64(words[6])
        else { return nil }
        self.id = String(decoding: id, as: UTF8.self)
        self.path = path
        account = ControlWord.decode(words[2]).map { String(decoding: $0, as: UTF8.self) }
        network = ControlWord.decode(words[3]).map { String(decoding: $0, as: UTF8.self) }
        self.received = received
        length = Int64(words[5])
        self.expiry = Timestamp(nanoseconds: expiry)
        guard self.line == line else { return nil }
    }
}
