internal import DavitCrypto

/// The help texts of the command.
package enum Help: Hashable, Sendable {
    case davit, serve, check, password, replay

    package var text: String {
        switch self {
        case .davit: Self.davitText
        case .serve: Self.serveText
        case .check: Self.checkText
        case .password: Self.passwordText
        case .replay: Self.replayText
        }
    }

    private static let davitText = """
        davit shares a folder over WebDAV.

        usage: davit serve FOLDER [OPTION...]
               davit check FOLDER [OPTION...]
               davit password [NAME] [OPTION...]
               davit replay RECORDING... --to URL [OPTION...]
               davit --help | --version

        commands:
          serve FOLDER      share a folder; 'davit serve --help' lists its options
          check FOLDER      look whether the locks and properties of a folder are stored soundly
          password [NAME]   make a line for a file of users, which does not hold the password
          replay RECORDING  send the requests of a recording to a server, and compare its answers

        example:
          davit serve /srv/files --user anna:secret --host 0.0.0.0

        """

    private static let checkText = """
        usage: davit check FOLDER [--state-dir FOLDER]

        Looks whether the state of the shared FOLDER, its locks and properties, is sound, and prints what is not.
        While a server shares FOLDER, that server does it; it goes on serving. It must be yours, or you root.
        Then lists the names in FOLDER that some clients cannot use: characters and devices that Windows has no
        files for, names that are not UTF-8, and names that differ only in case or in how they are composed.

          --state-dir FOLDER      where the state is kept, as for 'davit serve'
          --help                  this text

        Ends with 0 if the state is sound, with 1 if it is not or cannot be read; names change nothing about that.

        """

    private static let passwordText = """
        usage: davit password [NAME] [--digest] [--realm TEXT]

        Asks for a password, or reads it from the first line of standard input, and prints a line for the
        file of 'davit serve --user-file': NAME and a hash of the password, or the hash alone without NAME.

          --digest                Digest secrets instead, for clients that do not send passwords; whoever
                                  has them can log in, so keep the file as you would keep the password
          --realm TEXT            for --digest: what the server gets as --realm (default: davit)
          --help                  this text

        """

    private static let replayText = """
        usage: davit replay RECORDING... --to URL [OPTION...]

        Sends the requests of each RECORDING, a file or a folder of files that 'davit serve --record' has written, to
        the server at URL, and prints what is not as it was. Its folder must hold what it held when the recording began.
        Transcripts, which people write, are played in a new folder below URL that is removed afterwards.

          --to URL                the server, such as http://127.0.0.1:8080/
          --ca FILE               for https: certificates to trust, PEM (default: those of the system)
          --user NAME:PASSWORD    sent where credentials were; they are not in the recording
          --expect FILE           differences that are known: a line 'FILE | STEP | WHAT | REASON' each. Then advice
                                  counts as well, and what is in the list and does not differ
          --help                  this text

        Ends with 0 if everything is as expected, with 1 if not.

        """

    private static let serveText = """
        usage: davit serve FOLDER [OPTION...]

        Shares FOLDER over WebDAV until it is stopped (SIGTERM, Ctrl-C). When it is ready it prints its URL.

        where it listens:
          --host HOST             a name or an address; may be repeated (default: localhost,
                                  which is 127.0.0.1 and ::1)
          --port PORT             0 for any free one (default: 8080)
          --unix-socket PATH      a socket in the file system; alone, unless a host or a port is given too
          --unix-socket-mode MODE its permission bits (default: 600)

        behind a proxy:
          --public-url URL        how clients see the server; may be repeated. What of its path is not the
                                  prefix, the proxy takes away
          --prefix PATH           what all paths that arrive begin with, such as /dav
          --trusted-proxy PROXY   an address, a network or 'unix': whose Forwarded or X-Forwarded-* is
                                  believed; may be repeated
          --proxy-fields FIELDS   which of them the proxies set: either, forwarded or x-forwarded
                                  (default: either)

        who may use it:
          --user NAME:PASSWORD    an account; may be repeated
          --user-file FILE        accounts, a line NAME:PASSWORD each; keeps them out of the process list.
                                  'davit password' makes lines without the password
          --auth SCHEMES          what clients are asked for: digest,basic (default), digest or basic
          --realm TEXT            what the server calls itself when it asks (default: davit)
          --read-only             nothing can be changed

        what is served:
          --allow-extensions LIST jpg,png: no other files
          --no-hidden             nothing whose name begins with a period
          --litter POLICY         ._* and .DS_Store, which Macs leave behind: keep (default), hide from
                                  listings, refuse, or keep aside, out of FOLDER and not for ever

        encryption (TLS 1.2 and 1.3)\(CryptoLibrary.isAvailable ? "" : ": not in this build"):
          --tls-cert FILE         the server's certificate and those behind it, in PEM; may be repeated, each with
          --tls-key FILE          its key. A client that asks for a name gets the certificate for it
          --tls-self-signed       an authority and a certificate of this server's own, kept in the state folder
          --tls-client-ca FILE    clients need a certificate that one of these authorities has signed
          --tls-clients WHICH     required, or optional for those who have one (default: required)

        what an answered change survives (always the end of the server, however it ends):
          --sync none             the loss of power: a new file may be short or empty then, locks,
                                  properties and names are those of a moment before (default)
          --sync data             the same, but content is on the disk before it gets its name
          --sync full             the loss of power: content, names, locks and properties

        how much may be stored (a number of bytes; K, M, G and T behind it mean 1024 of the next smaller ones):
          --max-file-size SIZE    the longest file that may be written (default: what the volume can hold)
          --keep-free SIZE        of the volume stays free; clients see as much less (default: 0)

        the rest:
          --state-dir FOLDER      where locks and properties are kept (default: a folder under
                                  XDG_STATE_HOME or ~/.local/state, chosen by FOLDER)
          --no-sync-collection    clients cannot ask what has changed (RFC 6578)
          --no-compression        listings go out as they are, also to clients that ask for gzip
          --log-level LEVEL       error, warning, info, access, verbose or debug (default: info)
          --access-log FILE       a line for each response; - is standard error
          --access-log-format FORMAT
                                  davit, common, combined or json (default: combined)
          --record FOLDER         record every connection into FOLDER, which is new or empty; credentials are
                                  masked, content is not
          --grace SECONDS         time for requests in flight when it is stopped (default: 30)
          --help                  this text

        Without users, davit listens on loopback hosts only, and answers requests only for an IP address,
        for localhost, and for the host of a --public-url. Without TLS the content is sent in the clear, and with
        Basic the password, too: outside your own machine, use TLS, or a proxy that has it. SIGHUP makes davit read
        its certificates and its user file again.

        """
}
