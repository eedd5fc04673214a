import CSandboxAttempts
import DavitSandbox
import DavitSystem

/// Enters a sandbox, makes one call, and prints its error number, or 0.
///
///     SandboxAttempts [--free] CALL ARGUMENT [KIND PATH]...
///
/// With `--free`, the call is made without a sandbox.
///
/// KIND is the name of a list of ``Sandbox``: `changed`, `logs`, `sockets`, `temporary`, `read` or `replaceable`; `connects`
/// permits connections, and its PATH is ignored. The first line of the output lists the restrictions that are missing.
@main struct SandboxAttempts {
    static func main() throws {
        var words = CommandLine.arguments.dropFirst()[...]
        let isFree = words.first == "--free"
        if isFree { words.removeFirst() }
        guard let call = words.popFirst(), let argument = words.popFirst() else {
            StandardStreams.writeError("usage: SandboxAttempts CALL ARGUMENT [KIND PATH]...\n")
            return
        }
        var sandbox = Sandbox()
        while let kind = words.popFirst(), let path = words.popFirst() {
            switch kind {
            case "changed": sandbox.changed.append(path)
            case "logs": sandbox.logs.append(path)
            case "sockets": sandbox.sockets.append(path)
            case "temporary": sandbox.temporary.append(path)
            case "read": sandbox.read.append(path)
            case "replaceable": sandbox.replaceable.append(path)
            case "connects": sandbox.network.connects = true
            default: StandardStreams.writeError("unknown list \(kind)\n")
            }
        }
        if !isFree { StandardStreams.writeOutput("gaps: \(try sandbox.enter())\n") }
        StandardStreams.writeOutput("\(unsafe davit_attempt(call, argument))\n")
    }
}
