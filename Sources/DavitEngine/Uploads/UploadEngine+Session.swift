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
        /// The upload has not been left yet.
        fileprivate let isEntered = Flag()

        /// What is done once, whoever does it.
        fileprivate final class Flag: Sendable {
            private let isUp = Atomic(true)
            func takeDown() -> Bool { isUp.exchange(false, ordering: .relaxed) }
        }
    }

    func leave(_ session: Session) {
        if session.isEntered.takeDown() { share.uploads.leave(session.upload) }
    }

    /// What an append has led to.
    struct Outcome {
        var record: UploadRecord
        var offset: Int64
        /// That of the PUT that the upload stands for, once it is carried out.
        var response: HTTPResponse?
    }
}
