internal import DavitLogging
internal import DavitRecording
internal import DavitServer
internal import DavitSystem
internal import DavitTransport

extension Configuration {
    /// Records every connection if a recording folder is configured. All shares must be in the environment
    /// already.
    func startRecording(
        of transport: inout TransportConfiguration, in environment: ServerEnvironment, log: Log
    ) throws(ServerError) {
        guard let recordingFolder else { return }
        var isInShare = false
        environment.forEachLifecycleObserver {
            guard let share = $0 as? OpenShare else { return }
            isInShare = isInShare || share.folders.contains(recordingFolder)
        }
        if isInShare { throw .recordingFolderInsideShare(path: recordingFolder) }
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
