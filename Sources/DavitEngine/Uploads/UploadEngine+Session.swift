internal import DavitHTTP
internal import DavitStore
internal import Synchronization

extension UploadEngine {
    /// An upload whose turn a request has.
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

    /// What an append has led to.
    struct Outcome {
        var record: UploadRecord
        var offset: Int64
        /// That of the PUT that the upload stands for, once it is carried out.
        var response: HTTPResponse?
    }
}
