internal import Davit
internal import DavitAccess
internal import DavitYAML

/// The content of a configuration file, with the form of each value verified.
struct ConfigurationFile: Hashable, Sendable {
    /// A share. The one at the top of the file has no path.
    struct FileShare: Hashable, Sendable {
        var path = ""
        /// Nil if the command line names it.
        var folder: String?
        var position = YAMLPosition(line: 1, column: 1)
        var settings: [OptionSetting] = []
        /// Nil if the file has none, so that the command line can add some.
        var mounts: [WebDAVShare.MountedFolder]?
        /// Nil if the file has none, and every account has all rights.
        var rules: [AccessRule]?
    }

    /// An account. Exactly one of password, hash and file is set.
    struct FileUser: Hashable, Sendable {
        let name: String
        let position: YAMLPosition
        var password: String?
        var hash: String?
        var passwordFile: String?
    }

    /// The options of the server, and those that all shares have if they do not have them themselves.
    var settings: [OptionSetting] = []
    /// The share at the top of the file.
    var top = FileShare()
    /// The shares of the list `shares`; nil if there is no such list.
    var shares: [FileShare]?
    var users: [FileUser]?
    var groups: [String: Set<String>] = [:]
    /// Whether the file contains a password or a hash.
    var hasSecrets = false
    /// Whether the file names a folder to share, or a mistake prevents to know.
    var namesFolder = false
}

/// A mistake in a configuration file, or in something that it refers to.
package struct ConfigurationProblem: Error, Hashable, Sendable {
    let position: YAMLPosition?
    let message: String

    init(_ position: YAMLPosition?, _ message: String) {
        self.position = position
        self.message = message
    }

    /// `FILE:LINE:COLUMN: message`.
    func text(in file: String) -> String {
        "\(file):" + (position.map { "\($0.line):\($0.column):" } ?? "") + " \(message)"
    }

    /// Returns the lines for a list of mistakes, in the order of the file, at most ``YAMLLimits/problems``.
    static func lines(_ problems: [ConfigurationProblem], in file: String) -> [String] {
        let sorted = problems.enumerated().sorted { a, b in
            let (first, second) = (a.element.position, b.element.position)
            let places = (
                (first?.line ?? .max, first?.column ?? 0, a.offset),
                (second?.line ?? .max, second?.column ?? 0, b.offset)
            )
            return places.0 < places.1
        }
        let lines = sorted.prefix(YAMLLimits.problems).map { $0.element.text(in: file) }
        let more = sorted.count - lines.count
        return more > 0 ? lines + ["\(file): and \(more) more"] : lines
    }
}
