public import DavitFileStore
public import DavitSystem

/// How a server listens, who may come in, and where its state is kept.
public struct Configuration: Sendable {
    /// Somebody who may use the share.
    public struct Account: Hashable, Sendable {
        public var name: String
        public var password: String

        public init(name: String, password: String) {
            self.name = name
            self.password = password
        }
    }

    /// Names or numeric addresses to listen on; `localhost` is both loopback addresses on one port.
    public var hosts = ["localhost"]
    /// 0 lets the system choose.
    public var port: UInt16 = 8080
    /// The folder for locks and properties; nil for one below the user's state folder, named after the share.
    public var stateFolder: String?
    /// With accounts every request needs one; without, only loopback is served.
    public var accounts: [Account] = []
    /// Answers 403 to every method that could change something.
    public var isReadOnly = false
    /// What a proxy in front of this server is called: `https://files.example.com`.
    public var publicURLs: [String] = []
    /// Lines up to this level go to standard error.
    public var logLevel = Log.Level.info
    /// What an answered change survives besides the end of the process: with `full`, locks and properties too.
    public var sync = SyncLevel.none
    /// How long requests in flight may go on after a request to stop.
    public var grace: Duration = .seconds(30)
    /// A new or empty folder, outside the share, that gets a recording of every connection: requests and answers with all
    /// content but credentials, each file readable for its owner alone. Nil records nothing and costs nothing. See
    /// `docs/recording.md`.
    public var recordingFolder: String?
    /// SIGTERM and SIGINT stop the server; set by the command, off for apps.
    public var stopsOnSignals = false

    public init() {}
}
