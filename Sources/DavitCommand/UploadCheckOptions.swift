package import Davit
internal import DavitSystem

/// The options of the program that examines uploads.
package struct UploadCheckOptions: Hashable, Sendable {
    /// The program and its arguments; nil without one.
    package var command: [String]?
    /// Nil for the default of ``UploadProgram``, like ``seconds``.
    package var failure: UploadProgram.FailurePolicy?
    package var seconds: Int64?

    package init() {}

    /// - Throws: an error if an option has no effect without another one.
    func check() throws(UsageError) {
        guard command == nil else { return }
        let option: ServeOption? =
            failure != nil ? .checkUploadsFailure : seconds != nil ? .checkUploadsSeconds : nil
        if let option {
            throw .useless(option: option.rawValue, without: ServeOption.checkUploads.rawValue)
        }
    }

    var program: UploadProgram? {
        guard let command, let path = command.first else { return nil }
        var program = UploadProgram(path, arguments: Array(command.dropFirst()))
        if let failure { program.failurePolicy = failure }
        if let seconds { program.seconds = seconds }
        return program
    }
}

extension ServeOptions {
    /// Checks that the programs of all options can be executed.
    func checkPrograms() throws(CommandFailure) {
        var programs = eachShare.compactMap(\.uploadCheck.command?.first).map {
            ($0, ServeOption.checkUploads)
        }
        programs += events.programs.map { ($0, .eventCommand) }
        for (path, option) in programs {
            do throws(SystemError) { try ChildProcess.check(path) } catch {
                throw .programNotUsable(path, reason: error.description, option: option.rawValue)
            }
        }
    }
}

extension Arguments {
    /// Returns the words of a command: an absolute path and arguments, separated by spaces.
    static func command(_ value: String, option: ServeOption) throws(UsageError) -> [String] {
        // They would be passed to the program.
        if value.contains(where: { $0 == "\"" || $0 == "'" }) {
            throw .quotedCommand(value, option: option.rawValue)
        }
        let words = value.split(separator: " ").map(String.init)
        guard let path = words.first, path.hasPrefix("/"), !value.utf8.contains(0) else {
            throw .badCommand(value, option: option.rawValue)
        }
        return words
    }
}
