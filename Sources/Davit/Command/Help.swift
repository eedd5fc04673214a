internal import DavitCrypto
internal import DavitQRCode

/// The help texts of the command.
package enum Help: Hashable, Sendable {
    case davit, serve, check, locks, trash, password, replay

    package var text: String {
        switch self {
        case .davit: Self.davitText
        case .serve: Self.serveText
        case .check: Self.checkText
        case .locks: Self.locksText
        case .trash: Self.trashText
        case .password: Self.passwordText
        case .replay: Self.replayText
        }
    }

    private static let davitText = """
        davit shares a folder over WebDAV.

        usage: davit serve FOLDER [OPTION...]
               davit check FOLDER [--state-dir FOLDER]
               davit locks list FOLDER [--state-dir FOLDER]
               davit locks break FOLDER LOCK [--state-dir FOLDER]
               davit trash list|restore|empty FOLDER [OPTION...]
               davit password [NAME] [--digest] [--realm TEXT]
               davit replay RECORDING... --to URL [OPTION...]
               davit help [COMMAND]
               davit --version

        commands:
          serve FOLDER      share a folder
          check FOLDER      look whether the locks and properties of a share are sound,
                            and which names some clients cannot use
          locks list FOLDER show who has locked what in a share
          locks break FOLDER LOCK
                            end a lock, whoever holds it
          trash ACTION FOLDER
                            list, restore or empty what clients have deleted
          password [NAME]   make a line for a file of users, without the password itself
          replay RECORDING  send the requests of a recording to a server, and compare

        'davit COMMAND --help' lists the options of a command.

        examples:
          davit serve /srv/files
          davit serve /srv/files --user anna:secret --host 0.0.0.0 --tls-self-signed

        """

    private static let checkText = """
        usage: davit check FOLDER [--state-dir FOLDER]

        Looks whether the state of the shared FOLDER, its locks and properties, is
        sound, and prints what is not. While a server shares FOLDER, that server does
        it, and goes on serving; it must be yours, or you root. Then lists the names in
        FOLDER that some clients cannot use: characters and devices that Windows has no
        files for, names that are not UTF-8, and names that differ only in case or in
        how they are composed.

          --state-dir FOLDER     where the state is kept, as for 'davit serve'
          --help                 this text

        Ends with 0 if the state is sound, with 1 if it is not or cannot be read. Names
        change nothing about that.

        """

    private static let locksText = """
        usage: davit locks list FOLDER [--state-dir FOLDER]
               davit locks break FOLDER LOCK [--state-dir FOLDER]

        Shows the locks that clients have on what is in the shared FOLDER: whose they
        are, since when, and until when. Or ends one: LOCK is its token, or the path
        that it is on, as the list shows both. Its holder is not asked, and is refused
        the next time it writes. While a server shares FOLDER, that server does it, and
        says so in its log; it must be yours, or you root.

          --state-dir FOLDER     where the state is kept, as for 'davit serve'
          --help                 this text

        Ends with 1 if there is no such lock.
        """

    private static let trashText = """
        usage: davit trash list FOLDER [--state-dir FOLDER]
               davit trash restore FOLDER WHAT... [--state-dir FOLDER]
               davit trash empty FOLDER [--older-than DAYS] [--state-dir FOLDER]

        What clients delete or overwrite in a shared FOLDER is kept, if it is served
        with 'davit serve --trash'. While a server shares FOLDER, that server does the
        work, and goes on serving; it must be yours, or you root.

          list                   what is kept, the newest first: an id for each, when
                                 it went, how many bytes it has, why it went, whose
                                 request that was, and where it was
          restore WHAT...        gives it its name back, with its properties; where the
                                 name is taken, one with a number. WHAT is an id, or a
                                 path in the share: what was there last
          empty                  removes it for good
          --older-than DAYS      for empty: only what went so many days ago
          --state-dir FOLDER     where the state is kept, as for 'davit serve'
          --help                 this text

        Ends with 0 if all of it was done, with 1 if not.

        """

    private static let passwordText = """
        usage: davit password [NAME] [--digest] [--realm TEXT]

        Asks for a password, or reads it from the first line of standard input, and
        prints a line for the file of 'davit serve --user-file': NAME and a hash of the
        password, or the hash alone without NAME.

          --digest               Digest secrets instead, for clients that do not send
                                 passwords; whoever has them can log in, so keep the
                                 file as you would keep the password
          --realm TEXT           for --digest: what the server gets as --realm
                                 (default: davit)
          --help                 this text

        """

    private static let replayText = """
        usage: davit replay RECORDING... --to URL [OPTION...]

        Sends the requests of each RECORDING, a file or a folder of files that
        'davit serve --record' has written, to the server at URL, and prints what is not
        as it was. Its folder must hold what it held when the recording began.
        Transcripts, which people write, are played in a new folder below URL, which is
        removed afterwards.

          --to URL               the server, such as http://127.0.0.1:8080/
          --ca FILE              for https: certificates to trust, in PEM (default:
                                 those of the system)
          --user NAME:PASSWORD   sent where credentials were; recordings have none
          --expect FILE          differences that are known, a line each:
                                 'FILE | STEP | WHAT | REASON'. Then advice counts as
                                 well, and so does what is in FILE and does not differ
          --help                 this text

        Ends with 0 if everything is as expected, with 1 if not.

        """

    private static let serveText = """
        usage: davit serve FOLDER [OPTION...]

        Shares FOLDER over WebDAV until it is stopped (SIGTERM, Ctrl-C). When it is
        ready it prints its URL. Without options: for this machine, without a password.

        where it listens:
          --host HOST            a name or an address; may be repeated (default:
                                 localhost, which is 127.0.0.1 and ::1). All that
                                 others can reach needs users
          --port PORT            0 for any free one (default: 8080)
          --unix-socket PATH     a socket in the file system; alone, unless a host or a
                                 port is given too
          --unix-socket-mode MODE
                                 its permission bits (default: 600)

        who may use it:
          --user NAME:PASSWORD   an account; may be repeated. Others on this machine can
                                 see it in the process list
          --user-file FILE       accounts, a line NAME:PASSWORD each. 'davit password'
                                 makes lines without the password
          --auth SCHEMES         what clients are asked for: digest, basic, or both in
                                 order (default: digest,basic)
          --realm TEXT           what the server calls itself when it asks
                                 (default: davit)
          --read-only            nothing can be changed
          --allow-origin ORIGIN  whose web pages may use the server in a browser, such
                                 as https://app.example; may be repeated

        encryption (TLS 1.2 and 1.3)\(CryptoLibrary.isAvailable ? "" : ": not in this build"):
          --tls-cert FILE        the server's certificate and those behind it, in PEM;
                                 may be repeated, each with its key. A client gets the
                                 one for the name that it asks for
          --tls-key FILE         the key of a certificate, in PEM
          --tls-self-signed      an authority and a certificate of this server's own,
                                 kept in the state folder
          --tls-client-ca FILE   clients need a certificate that one of these
                                 authorities has signed
          --tls-clients WHICH    required, or optional for those who have one
                                 (default: required)

        what is served:
          --allow-extensions LIST
                                 jpg,png: no other files
          --no-hidden            nothing whose name begins with a period
          --litter POLICY        ._* and .DS_Store, which Macs leave behind: keep
                                 (default), hide from listings, refuse, or keep aside,
                                 out of FOLDER and not for ever

        the page that a browser shows for a folder:
          --title TEXT           what the share is called (default: as FOLDER is)
          --header TEXT          the headline of the first page (default: the title)
          --prologue TEXT        stands above the first listing, in plain text
          --epilogue TEXT        stands below it
          --footer TEXT          stands below every listing
          --no-page              there is none

        how much may be stored (a SIZE is bytes, or has K, M, G or T behind it):
          --max-file-size SIZE   the longest file that may be written (default: what
                                 the volume can hold)
          --max-depth LEVELS     levels of folders that clients may make (default:
                                 1000)
          --keep-free SIZE       of the volume stays free; clients see as much less
                                 (default: 0)
          --upload-expiry DAYS   how long an upload that was interrupted can go on; h
                                 behind it for hours (default: 7)

        what becomes of what clients delete and overwrite:
          --trash                it is kept, and can be restored: by the page in the
                                 browser, or with 'davit trash'
          --trash-days DAYS      for how long (default: 30). Turns the trash on
          --trash-size SIZE      how much of it (default: as much as there is room
                                 for; uploads come first). Turns the trash on

        what an answered change survives, beside the end of the server, however it ends:
          --sync none            the loss of power, but a new file may be short or empty
                                 then, and names, locks and properties those of a
                                 moment before (default)
          --sync data            the same, but content is on the disk before it gets
                                 its name
          --sync full            the loss of power: content, names, locks, properties

        behind a proxy:
          --public-url URL       how clients see the server; may be repeated. What of
                                 its path is not the prefix, the proxy takes away
          --prefix PATH          what all paths that arrive begin with, such as /dav
          --trusted-proxy PROXY  an address, a network or 'unix': whose Forwarded or
                                 X-Forwarded-* is believed; may be repeated
          --proxy-fields FIELDS  which of them the proxies set: either, forwarded or
                                 x-forwarded (default: either)

        logs:
          --log-level LEVEL      error, warning, info, access, verbose or debug
                                 (default: info)
          --access-log FILE      a line for each response; - is standard error
          --access-log-format FORMAT
                                 davit, common, combined or json (default: combined)
          --record FOLDER        record every connection into FOLDER, which is new or
                                 empty; credentials are masked, content is not

        the rest:
          --state-dir FOLDER     where locks and properties are kept (default: under
                                 XDG_STATE_HOME or ~/.local/state, one for each share)
          --no-sync-collection   clients cannot ask what has changed (RFC 6578)
          --no-compression       listings go out as they are, also to clients that ask
                                 for gzip
          --qr                   draw the address as a QR code, on standard
                                 error\(QRCodeLibrary.isAvailable ? "" : ": not in this build")
          --grace SECONDS        time for requests in flight when it is stopped
                                 (default: 30)
          --help                 this text

        Without users, davit answers requests only for an IP address, for localhost,
        and for the host of a --public-url. Without TLS the content is sent in the
        clear, and with Basic the password, too: outside your own machine, use TLS, or a
        proxy that has it. SIGHUP makes davit read its certificates and its user file
        again, and open its access log anew.

        """
}
