internal import DavitPAM

/// The PAM options of the command line.
package struct PAMOptions: Hashable, Sendable {
    /// The name of the PAM service; nil without PAM.
    package var service: String?
    /// Nil for the default.
    package var helper: String?

    package init() {}

    func check() throws(UsageError) {
        let first = service != nil ? ServeOption.pam : helper != nil ? .pamHelper : nil
        guard let first else { return }
        guard PAMLibrary.isAvailable else { throw .traitNeeded(option: first.rawValue, trait: "PAM") }
        if service == nil { throw .useless(option: first.rawValue, without: ServeOption.pam.rawValue) }
    }

    /// Returns the service that verifies passwords; nil without PAM.
    func verifier() throws(CommandFailure) -> PAMService? {
        guard let service else { return nil }
        do throws(PAMService.Problem) {
            return try PAMService(service, helper: helper ?? PAMService.defaultHelper)
        } catch {
            switch error {
            case .badService(let name): throw .other("'\(name)' cannot be the name of a PAM service")
            case .notIncluded: throw .other("this build does not include PAM")
            }
        }
    }
}
