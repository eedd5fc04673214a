public import DavitFileStore
public import DavitServer
public import DavitSystem
public import DavitTransport

/// Why a server does not start.
public enum ServerError: Error, Sendable, Equatable {
    /// The folder to share is missing, no folder, or cannot be read.
    case shareNotUsable(path: String, FileResourceStore.RootError)
    /// There is no home to keep state in, and no state folder was given.
    case noStateFolder
    /// The folder for locks and properties cannot be made or opened.
    case stateFolderNotUsable(path: String, SystemError)
    /// State inside the share would be served, and swept.
    case stateFolderInsideShare(path: String)
    /// Another server uses the state folder.
    case stateFolderHeld(path: String, byProcess: Int32?)
    /// The database in it cannot be used.
    case stateNotUsable(path: String, reason: String)
    /// The folder for recordings cannot be made or opened.
    case recordingFolderNotUsable(path: String, SystemError)
    /// One folder is one session.
    case recordingFolderNotEmpty(path: String)
    /// Clients would see what they say, and that would be recorded again.
    case recordingFolderInsideShare(path: String)
    /// Something else that was to be mounted could not be made.
    case mountNotUsable(reason: String)
    /// Not a URL with a host, or not HTTP.
    case publicURLMalformed(String)
    /// No path that can stand in front of others.
    case prefixMalformed(String)
    /// The path of a public URL does not end in ``Configuration/prefix``.
    case publicURLOutsidePrefix(String)
    /// Not an address, a network, or `unix`.
    case trustedProxyMalformed(String)
    /// The access log cannot be opened.
    case accessLogNotUsable(LogFile.Destination, SystemError)
    /// An account cannot be used; the first one of which that is so.
    case accountNotUsable(name: String, Accounts.Problem)
    /// The realm or the schemes make no sense, or no scheme is left that every account can use.
    case authenticationNotUsable(Accounts.Problem)
    /// Accounts can be replaced by others, where there are some.
    case noAccounts
    /// It would have a character that is not printable ASCII.
    case serverNameMalformed(String)
    /// Without accounts only loopback addresses are served, unless ``Configuration/allowsAnonymousVisitors`` says otherwise.
    case accountsNeeded(host: String)
    /// A certificate, a key or a list of authorities cannot be read, made or used. No path for one that is in memory.
    case certificateNotUsable(path: String?, reason: String)
    /// ``Configuration/tls`` is set, and this build has no TLS (package trait `TLS`).
    case noTLS
    /// The folder for content on its way in cannot be opened.
    case temporaryFolderNotUsable(path: String, SystemError)
    /// An address, a socket or a descriptor cannot be listened on, or the server was started before.
    case cannotListen(TransportError)
}
