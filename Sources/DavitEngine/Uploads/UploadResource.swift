internal import DavitHTTP
internal import DavitStore

/// Where uploads in progress are: members of a collection at the root of the share.
///
/// Its name has the form that stores keep for what is not part of a share, so that no resource can have it.
enum UploadResource {
    static let collection = ResourcePath(unchecked: Array(".davit-resumableuploads".utf8))
    /// Of requests that append to an upload (draft §8).
    static let partialType: StaticString = "application/partial-upload"
    /// The same in tus.
    static let offsetType: StaticString = "application/offset+octet-stream"

    private static let alphabet = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)
    private static let idLength = 26

    /// 130 random bits, which nobody guesses.
    static func newID() -> String {
        var generator = SystemRandomNumberGenerator()
        let characters = (0..<idLength).map { _ in alphabet[Int(generator.next(upperBound: UInt64(32)))] }
        return String(decoding: characters, as: UTF8.self)
    }

    /// Whether a path is that of uploads.
    static func isAbove(_ path: ResourcePath) -> Bool {
        // Nearly all paths differ in their first byte.
        path.bytes.first == UInt8(ascii: ".") && collection.contains(path)
    }

    /// The upload that a path names; nil for the collection and for what is below an upload.
    static func id(at path: ResourcePath) -> String? {
        guard path.isMember(of: collection) else { return nil }
        return String(decoding: path.name, as: UTF8.self)
    }
}

extension RequestContext {
    /// The URL of an upload for this client.
    func href(ofUpload id: String) -> [UInt8] {
        href(of: UploadResource.collection) + Array("/\(id)".utf8)
    }
}

extension UploadResource {
    static let limitField = "Upload-Limit"
    /// What PATCH of an upload takes.
    static var acceptPatch: String { "\(partialType), \(offsetType)" }
}
