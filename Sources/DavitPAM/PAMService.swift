public import DavitServer

#if PAM
internal import DavitSystem
#endif

/// Verifies passwords with PAM, the Pluggable Authentication Modules of the system.
///
/// Modules run in a helper process for each password, because they can block, crash, and need permissions that the
/// server does not have. Users have the groups of the system.
public final class PAMService: PasswordVerifier {
    /// The reason why PAM cannot be used.
    public enum Problem: Error, Hashable, Sendable {
        /// The name of the service is empty or contains characters other than letters, digits, `-`, `_` and `.`.
        case badService(String)
        /// This build was made without the package trait `PAM`.
        case notIncluded
    }

    /// The default path of the helper.
    public static let defaultHelper = "/usr/libexec/davit-pam-helper"
    /// The time that the helper has, in seconds. Less than ``ExternalLogins/deadline``.
    static let helperSeconds: Int64 = 9

    private let name: String
    private let helper: String
    private let folder: String?
    public var service: String { "pam \(name)" }
    #if PAM
    private let seconds: Int64
    private let pool = BlockingPool(threads: ExternalLogins.atATime)
    #endif

    /// - Parameters:
    ///   - service: the name of the service: of a file in `/etc/pam.d`.
    ///   - helper: the path of `davit-pam-helper`.
    public convenience init(_ service: String, helper: String = defaultHelper) throws(Problem) {
        try self.init(service, helper: helper, folder: nil)
    }

    /// - Parameters:
    ///   - folder: contains the service file, for tests.
    ///   - seconds: the time that the helper has.
    package init(
        _ service: String, helper: String, folder: String?, seconds: Int64 = helperSeconds
    ) throws(Problem) {
        let isUsable = service.utf8.allSatisfy {
            $0.isLetterOrDigit || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
                || $0 == UInt8(ascii: ".")
        }
        guard isUsable, !service.isEmpty, service.utf8.first != UInt8(ascii: ".") else {
            throw .badService(service)
        }
        name = service
        self.helper = helper
        self.folder = folder
        #if PAM
        self.seconds = seconds
        // The helper may have ended before its input is written.
        Signals.ignoreBrokenPipes()
        #else
        throw .notIncluded
        #endif
    }

    public func verify(name: String, password: String) async -> PasswordVerification {
        #if PAM
        guard !name.isEmpty, !password.isEmpty, !name.utf8.contains(0), !password.utf8.contains(0) else {
            return .wrong
        }
        let input = Array(name.utf8) + [0] + Array(password.utf8) + [0]
        let arguments = [self.name] + (folder.map { [$0] } ?? [])
        let found = await pool.run(sendable: { [helper, seconds] in
            do throws(HelperProcess.Failure) {
                return Self.parse(
                    try HelperProcess.answer(
                        of: helper, arguments: arguments, input: input, within: seconds))
            } catch {
                return Self.unavailable(error)
            }
        })
        return found ?? .unavailable(reason: "too many passwords are being verified")
        #else
        return .unavailable(reason: "this build does not include PAM")
        #endif
    }

    #if PAM
    private static func unavailable(_ failure: HelperProcess.Failure) -> PasswordVerification {
        switch failure {
        case .notStarted(let error): .unavailable(reason: "davit-pam-helper: \(error.description)")
        case .late: .unavailable(reason: "davit-pam-helper did not answer in time")
        case .noAnswer: .unavailable(reason: "davit-pam-helper has ended without an answer")
        }
    }

    deinit { pool.shutdown() }
    #endif

    /// Parses the answer of the helper, without its last line.
    package static func parse(_ answer: [UInt8]) -> PasswordVerification {
        guard let text = String(validating: answer, as: UTF8.self) else {
            return .unavailable(reason: "davit-pam-helper: the answer is not UTF-8")
        }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
        switch (lines.first, lines.count) {
        case ("right", 2...) where !lines[1].isEmpty: return .right(name: lines[1], groups: Set(lines[2...]))
        case ("wrong", 1): return .wrong
        case ("disabled", 1): return .disabled
        case (let first?, 1) where first.hasPrefix("unavailable "):
            return .unavailable(reason: "pam: \(first.dropFirst("unavailable ".count))")
        default: return .unavailable(reason: "davit-pam-helper: unexpected answer")
        }
    }
}

extension UInt8 {
    fileprivate var isLetterOrDigit: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}

/// Whether this build includes PAM (package trait `PAM`).
package enum PAMLibrary {
    package static var isAvailable: Bool {
        #if PAM
        true
        #else
        false
        #endif
    }
}
