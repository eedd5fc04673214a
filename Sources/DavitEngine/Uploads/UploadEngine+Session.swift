internal import DavitHTTP
internal import DavitStore
internal import Synchronization

extension UploadEngine {
    /// The turn of a request to write to an upload.
    struct Session: Sendable {
        var record: UploadRecord
        let upload: OpenUpload
        let turn: OpenUpload.Turn
        var offset: Int64
        fileprivate let stay: UploadTable.Stay

        init(_ stay: UploadTable.Stay, _ record: UploadRecord, _ turn: OpenUpload.Turn, offset: Int64) {
            (self.stay, self.record, self.turn, self.offset) = (stay, record, turn, offset)
            upload = stay.upload
        }
    }

    func leave(_ session: Session) { session.stay.end() }

    /// The result of an append.
    struct Outcome {
        var record: UploadRecord
        var offset: Int64
        /// The response to the PUT that the upload represents, after its completion.
        var response: HTTPResponse?
    }
}
