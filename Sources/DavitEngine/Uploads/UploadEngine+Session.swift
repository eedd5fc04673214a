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
        fileprivate let lease: UploadTable.Lease

        init(_ lease: UploadTable.Lease, _ record: UploadRecord, _ turn: OpenUpload.Turn, offset: Int64) {
            (self.lease, self.record, self.turn, self.offset) = (lease, record, turn, offset)
            upload = lease.upload
        }
    }

    func leave(_ session: Session) { session.lease.end() }

    /// The result of an append or a completion.
    struct Outcome {
        var record: UploadRecord
        var offset: Int64
        /// The response to the PUT that the upload represents, after its completion.
        var response: HTTPResponse?
    }
}
