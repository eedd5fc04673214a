internal import DavitLogging
internal import DavitSystem

/// A program that is run for each event, with the event as a JSON object on its standard input.
///
/// The environment variables `DAVIT_ID`, `DAVIT_OP`, `DAVIT_RESULT`, `DAVIT_SHARE`, `DAVIT_PATH`, `DAVIT_TO` and
/// `DAVIT_USER` have the values of the members with these names, if there are any. Exit status 0 means that the event
/// was received, and 75 (`EX_TEMPFAIL`) that the program cannot do its work now; every other one refuses the event.
package struct CommandReceiver: EventReceiver {
    /// The time that the program has, in seconds.
    static let seconds: Int64 = 300
    private static let temporaryFailure = 75
    private static let variables = ["op", "result", "share", "path", "to", "user"]

    package let name: String
    private let process: ChildProcess

    /// - Parameters:
    ///   - path: an absolute path.
    ///   - seconds: the time that the program has.
    package init(_ path: String, arguments: [String] = [], seconds: Int64 = seconds) {
        name = ([path] + arguments).joined(separator: " ")
        process = ChildProcess(path, arguments: arguments, seconds: seconds)
        Signals.prepareForChildren()
    }

    package func deliver(_ event: DeliveredEvent, isCancelled: @escaping @Sendable () -> Bool)
        -> DeliveryResult
    {
        var environment = ["DAVIT_ID=\(event.id)"]
        if let line = AuditLine(parsing: event.json) {
            for key in Self.variables {
                if let text = line.text(key) { environment.append("DAVIT_\(key.uppercased())=\(text)") }
            }
        }
        var input = event.json
        let ending: ChildProcess.Ending
        do throws(ChildProcess.Failure) {
            ending = try process.run(environment: environment, isCancelled: isCancelled) { bytes in
                swap(&bytes, &input)
                return true
            }
        } catch {
            return error == .cancelled ? .cancelled : .unavailable(reason: error.text)
        }
        let output =
            ending.output.split(separator: UInt8(ascii: "\n")).first
            .map { ": " + String(decoding: $0.prefix(256), as: UTF8.self) } ?? ""
        switch ending.status {
        case 0: return .delivered
        case Self.temporaryFailure: return .unavailable(reason: "exit status 75\(output)")
        default: return .refused(reason: "exit status \(ending.status)\(output)")
        }
    }
}
