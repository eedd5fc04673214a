internal import DavitRecording
internal import DavitSystem

extension Configuration {
    /// What records the server; nil if nothing is to be recorded.
    /// - Parameter share: the canonical path of a folder that clients see.
    func recorder(outside share: String, log: Log) throws(ServerError) -> Recorder? {
        guard let recordingFolder else { return nil }
        if StateFolder.isInside(recordingFolder, share: share) {
            throw .recordingFolderInsideShare(path: recordingFolder)
        }
        do throws(Recorder.Failure) {
            return try Recorder(folder: recordingFolder, log: log)
        } catch {
            switch error {
            case .notEmpty: throw .recordingFolderNotEmpty(path: recordingFolder)
            case .notUsable(let error): throw .recordingFolderNotUsable(path: recordingFolder, error)
            }
        }
    }
}
