internal import DavitEngine
internal import DavitServer
internal import DavitStore
internal import DavitSystem
internal import Synchronization

/// A program that examines uploaded content before it is stored, such as a virus scanner.
///
/// It is run once for each upload, when all content has been received: with the content as its standard input, and the
/// environment variables `PATH`, `DAVIT_PATH` (the path in the share), `DAVIT_FILE` (the same as a file system path),
/// `DAVIT_LENGTH` (in bytes), `DAVIT_USER` (missing without an account) and `DAVIT_FROM` (the address of the client).
/// The content is stored if the exit status is 0, and refused with 403 if it is 1; every other ending is a failure. The
/// program need not read its input.
public struct UploadProgram: Hashable, Sendable {
    /// What happens to content that could not be examined.
    public enum FailurePolicy: String, Hashable, Sendable, CaseIterable {
        /// The upload is refused with 503.
        case refuse
        /// The content is stored.
        case accept
    }

    /// The absolute path of the program.
    public var path: String
    /// The arguments of the program.
    public var arguments: [String]
    /// What happens to content that could not be examined, because the program cannot be started, is late, or fails.
    public var failurePolicy = FailurePolicy.refuse
    /// The time that the program has, in seconds, at least 1; then it is killed.
    public var seconds: Int64 = 60

    /// Creates the settings of a program with the defaults of the other properties.
    public init(_ path: String, arguments: [String] = []) {
        self.path = path
        self.arguments = arguments
    }
}

/// Runs an ``UploadProgram``.
final class UploadProgramCheck: UploadCheck {
    /// The status with which a program refuses content; that of `clamscan` and `clamdscan` for a virus.
    private static let refusal = 1
    private static let chunkBytes = 64 << 10

    private let program: UploadProgram
    private let log: ServerEnvironment.LogLine

    init(_ program: UploadProgram, log: @escaping ServerEnvironment.LogLine) {
        self.program = program
        self.log = log
        Signals.prepareForChildren()
    }

    /// Runs the program on a thread of its own, which only waits for it. The number of calls at the same time is limited.
    func examine(_ upload: ReceivedUpload) async -> UploadVerdict {
        let isCancelled = Atomic<Bool>(false)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                do throws(SystemError) {
                    try SystemThread.start(named: "davit-check") { [self] in
                        continuation.resume(
                            returning: run(upload) { isCancelled.load(ordering: .relaxed) })
                    }
                } catch {
                    continuation.resume(returning: failed(upload, error.description))
                }
            }
        } onCancel: {
            isCancelled.store(true, ordering: .relaxed)
        }
    }

    private func run(_ upload: ReceivedUpload, isCancelled: () -> Bool) -> UploadVerdict {
        let process = ChildProcess(
            program.path, arguments: program.arguments, seconds: max(1, program.seconds))
        var offset: Int64 = 0
        let ending: ChildProcess.Ending
        do throws(ChildProcess.Failure) {
            ending = try process.run(
                environment: Self.environment(of: upload), isCancelled: isCancelled
            ) { bytes in
                guard offset < upload.length else { return true }
                guard let next = try? upload.bytes(from: offset, count: Self.chunkBytes), !next.isEmpty else {
                    return false
                }
                bytes = next
                offset += Int64(next.count)
                return true
            }
        } catch {
            // The client has disconnected. Whatever happens after failures, this content must not be stored.
            return error == .cancelled ? .unavailable : failed(upload, error.text)
        }
        switch ending.status {
        case 0: return .accepted
        case Self.refusal:
            log(.warning, "upload refused by the upload check", details(of: upload, Self.text(ending)))
            return .refused
        default: return failed(upload, "exit status \(ending.status): \(Self.text(ending))")
        }
    }

    private static func environment(of upload: ReceivedUpload) -> [String] {
        var variables = [
            "DAVIT_PATH=\(upload.path)", "DAVIT_FILE=\(upload.filePath)", "DAVIT_LENGTH=\(upload.length)",
            "DAVIT_FROM=\(upload.address)",
        ]
        if let name = upload.principal { variables.append("DAVIT_USER=\(name)") }
        return variables
    }

    private func failed(_ upload: ReceivedUpload, _ reason: String) -> UploadVerdict {
        switch program.failurePolicy {
        case .refuse:
            log(.error, "upload check failed; the upload is refused", details(of: upload, reason))
            return .unavailable
        case .accept:
            log(.error, "upload check failed; the upload is accepted", details(of: upload, reason))
            return .accepted
        }
    }

    private func details(
        of upload: ReceivedUpload, _ reason: String
    ) -> KeyValuePairs<StaticString, String> {
        [
            "program": program.path, "reason": reason, "path": upload.path.description,
            "user": upload.principal ?? "", "from": upload.address,
        ]
    }

    /// The first line of output that is not empty.
    private static func text(_ ending: ChildProcess.Ending) -> String {
        let lines = ending.output.split(separator: UInt8(ascii: "\n"))
        return lines.first.map { String(decoding: $0.prefix(256), as: UTF8.self) } ?? "no output"
    }
}
