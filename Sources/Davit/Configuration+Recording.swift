internal import DavitLogging
internal import DavitRecording
internal import DavitServer
internal import DavitSystem
internal import DavitTransport

extension Configuration {
    /// Checks that the files that the server writes for itself are outside the shares, where clients could read or change them.
    /// - Parameter share: returns the shared folder that contains a path; nil if none does.
    package func checkFiles(in share: (_ path: String) -> String?) throws(ServerError) {
        if let recordingFolder, share(recordingFolder) != nil {
            throw .recordingFolderInsideShare(path: recordingFolder)
        }
        if case .file(let path)? = accessLog?.destination, let share = share(path) {
            throw .accessLogInsideShare(path: path, share: share)
        }
        if case .file(let path)? = audit?.destination, let share = share(path) {
            throw .auditLogInsideShare(path: path, share: share)
        }
    }

    /// Checks the files of the server against the shares in the environment, which must contain all of them already.
    func checkFiles(in environment: ServerEnvironment) throws(ServerError) {
        var shares: [ShareFolders] = []
        environment.forEachLifecycleObserver {
            if let share = $0 as? OpenShare { shares.append(share.folders) }
        }
        try checkFiles { path in shares.first { $0.contains(path) }?.root.rootPath }
    }

    /// Records every connection if a recording folder is configured.
    func startRecording(
        of transport: inout TransportConfiguration, in environment: ServerEnvironment, log: Log
    ) throws(ServerError) {
        guard let recordingFolder else { return }
        do throws(Recorder.Failure) {
            let recorder = try Recorder(folder: recordingFolder, log: log)
            environment.addLifecycleObserver(RunningRecorder(recorder))
            let tap = transport.tap
            transport.tap = { TapPair.joining(recorder.tap(for: $0.remote.host), tap?($0)) }
        } catch {
            switch error {
            case .notEmpty: throw .recordingFolderNotEmpty(path: recordingFolder)
            case .notUsable(let error): throw .recordingFolderNotUsable(path: recordingFolder, error)
            }
        }
    }
}

/// Stops the recording when the server has stopped and no connection is open.
private final class RunningRecorder: LifecycleObserver {
    private let recorder: Recorder

    init(_ recorder: Recorder) { self.recorder = recorder }

    func serverWillStop() { recorder.stop() }
}
