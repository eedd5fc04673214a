public import DavitDiscovery
public import DavitFileStore
public import DavitLogging
public import DavitServer
public import DavitSystem
public import DavitTransport

/// The reason why a server cannot be created, started or resumed, or cannot apply new accounts or
/// certificates.
public enum ServerError: Error, Sendable, Equatable {
    /// The folder to share does not exist, is not a folder, or cannot be read.
    case shareNotUsable(path: String, FileResourceStore.RootError)
    /// No state folder was specified, and there is no default: neither `XDG_STATE_HOME` nor `HOME` is an
    /// absolute path.
    case noStateFolder
    /// The folder for locks and properties cannot be created or opened.
    case stateFolderNotUsable(path: String, SystemError)
    /// The state folder is inside a share, where clients could read and change it.
    case stateFolderInsideShare(path: String)
    /// Another server uses the state folder.
    case stateFolderHeld(path: String, byProcess: Int32?)
    /// The database in the state folder cannot be used.
    case stateNotUsable(path: String, reason: String)
    /// The folder for recordings cannot be created or opened.
    case recordingFolderNotUsable(path: String, SystemError)
    /// The folder for recordings is not empty. Each recording needs its own folder.
    case recordingFolderNotEmpty(path: String)
    /// The folder for recordings is inside a share. Clients could read the recording, which would be recorded
    /// again.
    case recordingFolderInsideShare(path: String)
    /// The access log is inside a share, where clients could read and change it.
    case accessLogInsideShare(path: String, share: String)
    /// The audit log is inside a share, where clients could read, change and delete it.
    case auditLogInsideShare(path: String, share: String)
    /// A mounted handler that is not a share could not be created.
    case mountNotUsable(reason: String)
    /// A change was interrupted at `path`, and cannot be completed, because the folder there is not the same as at the
    /// last start. `record` is the file that describes the former folders.
    case foldersChanged(path: String, reason: String, record: String)
    /// Home folders were configured, but there is no account database.
    case homesWithoutAccounts
    /// The text is not an http or https URL with a host.
    case publicURLMalformed(String)
    /// The text is not a valid path prefix.
    case prefixMalformed(String)
    /// The path of a public URL does not end with ``Configuration/prefix``.
    case publicURLOutsidePrefix(String)
    /// ``Configuration/announcement`` has a name, type or property that cannot be announced.
    case announcementMalformed(ServiceAnnouncement.Problem)
    /// The text is not an address, a network or `unix`.
    case trustedProxyMalformed(String)
    /// The text in ``Configuration/Bans/exempt`` is not an address or a network.
    case networkMalformed(String)
    /// The access log cannot be opened.
    case accessLogNotUsable(LogFile.Destination, SystemError)
    /// The audit log cannot be opened.
    case auditLogNotUsable(AuditLog.Destination, SystemError)
    /// A program that examines uploads or receives events cannot be executed.
    case programNotUsable(path: String, SystemError)
    /// The database of a share cannot be used.
    case databaseNotUsable(reason: String)
    /// ``Configuration/portMapping`` is set without TLS or without accounts.
    case portMappingNotSafe
    /// ``Configuration/events`` cannot be used.
    case eventsNotUsable(reason: String)
    /// An account cannot be used. Only the first such account is reported.
    case accountNotUsable(name: String, Accounts.Problem)
    /// The realm or the schemes are invalid, or no scheme works for all accounts.
    case authenticationNotUsable(Accounts.Problem)
    /// ``Configuration/signInProvider`` cannot be used with the other settings.
    case signInProviderNotUsable(reason: String)
    /// The database of accounts, groups and rules cannot be used.
    case accountDatabaseNotUsable(reason: String)
    /// ``WebDAVShare/access`` is set although there is an account database in the state folder `accounts`, whose rules
    /// would not apply.
    case accessInTwoPlaces(accounts: String)
    /// The accounts in the state folder `accounts` of another share could do everything in the folder `share`: without an
    /// account database of its own, this share needs ``WebDAVShare/access``.
    case accountsWithoutRules(share: String, accounts: String)
    /// Both ``Configuration/accounts`` and a database of accounts are present.
    case accountsInTwoPlaces
    /// There are no accounts to replace, or the new list is empty.
    case noAccounts
    /// The server name is empty or contains characters other than printable ASCII.
    case serverNameMalformed(String)
    /// The host is not a loopback address and requires accounts, unless
    /// ``Configuration/allowsAnonymousVisitors`` is set.
    case accountsNeeded(host: String)
    /// The host of ``Configuration/adminListener`` is not a loopback address.
    case adminListenerNotLocal(host: String)
    /// A certificate, a key or a list of authorities cannot be read, created or used. The path is nil if the
    /// problem does not concern a file.
    case certificateNotUsable(path: String?, reason: String)
    /// ``Configuration/tls`` is set, but this build does not include TLS (package trait `TLS`).
    case noTLS
    /// The folder for temporary content cannot be opened.
    case temporaryFolderNotUsable(path: String, SystemError)
    /// The server cannot listen on an address, a socket or a descriptor. Also thrown when a server that is
    /// running is started again, or one that is not running is resumed.
    case cannotListen(TransportError)
}

extension ServerError {
    /// Checks that a program of the configuration can be executed.
    /// - Throws: ``programNotUsable(path:_:)``
    static func check(program path: String) throws(ServerError) {
        do throws(SystemError) { try ChildProcess.check(path) } catch {
            throw .programNotUsable(path: path, error)
        }
    }
}
