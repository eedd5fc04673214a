internal import DavitCrypto
internal import DavitQRCode

/// The help texts of the command.
package enum Help: Hashable, Sendable {
    case davit, serve, account, group, access, check, locks, trash, password, replay, stub

    package var text: String {
        switch self {
        case .davit: Self.davitText
        case .serve: Self.serveText
        case .account: Self.accountText
        case .group: Self.groupText
        case .access: Self.accessText
        case .check: Self.checkText
        case .locks: Self.locksText
        case .trash: Self.trashText
        case .password: Self.passwordText
        case .replay: Self.replayText
        case .stub: Self.stubText
        }
    }

    private static let davitText = """
        davit shares a folder over WebDAV.

        usage: davit serve FOLDER [OPTION...]
               davit account ACTION FOLDER [ARGUMENT...]
               davit group ACTION FOLDER [ARGUMENT...]
               davit access ACTION FOLDER [ARGUMENT...]
               davit check FOLDER [--state-dir FOLDER]
               davit locks list FOLDER [--state-dir FOLDER]
               davit locks break FOLDER LOCK [--state-dir FOLDER]
               davit trash list|restore|empty FOLDER [OPTION...]
               davit password [NAME] [--digest] [--realm TEXT]
               davit replay RECORDING... --to URL [OPTION...]
               davit stub FILE [OPTION...]
               davit stub ACTION [ARGUMENT...]
               davit help [COMMAND]
               davit --version

        commands:
          serve FOLDER      share a folder
          account ACTION FOLDER
                            list, add, disable or remove accounts, and set passwords
          group ACTION FOLDER
                            list, add and remove groups and their members
          access ACTION FOLDER
                            list, set, remove and explain rights in folders
          check FOLDER      verify a share's locks and properties, and list names that
                            some clients cannot use
          locks list FOLDER
                            list the locks in a share
          locks break FOLDER LOCK
                            remove a lock, even one that another account holds
          trash ACTION FOLDER
                            list, restore or permanently delete files in the trash
          password [NAME]   print a line with a hashed password for --user-file
          replay RECORDING  send recorded requests to a server and compare the responses
          stub FILE         answer requests by the rules in FILE, to test clients

        'davit COMMAND --help' lists the options of a command.

        examples:
          davit serve /srv/files
          davit serve /srv/files --user anna:secret --host 0.0.0.0 --tls-self-signed

        """

    private static let accountText = """
        usage: davit account list FOLDER
               davit account add FOLDER NAME [--rights RIGHTS]
               davit account password FOLDER NAME
               davit account enable|disable|remove FOLDER NAME

        Manages the accounts of the shared FOLDER. They are stored in its state folder,
        in place of --user and --user-file, and each has only the rights that 'davit
        access' grants. If a server is sharing FOLDER, changes take effect immediately;
        run the command as the server's user or as root. After the first account of a
        FOLDER has been added, clients must sign in.

          list                   list the accounts
          add NAME               add an account; asks for its password, or reads the
                                 first line of standard input
          password NAME          set another password
          disable NAME           refuse the account, but keep its rights and groups
          enable NAME            accept the account again
          remove NAME            remove the account with its rights
          --rights RIGHTS        for add: rights to the whole FOLDER, as for 'davit
                                 access set'
          --state-dir FOLDER     state folder, as for 'davit serve'
          --help                 show this help

        Requests in progress of an account that is disabled or removed, or whose
        password is changed, are ended.

        """

    private static let groupText = """
        usage: davit group list FOLDER
               davit group add|remove FOLDER GROUP
               davit group join|leave FOLDER GROUP NAME

        Manages groups of accounts, to which 'davit access' can grant rights.

          list                   list the groups with their members
          add GROUP              add a group
          remove GROUP           remove a group with its rights
          join GROUP NAME        add an account to a group
          leave GROUP NAME       remove an account from a group
          --state-dir FOLDER     state folder, as for 'davit serve'
          --help                 show this help

        """

    private static let accessText = """
        usage: davit access list FOLDER
               davit access set FOLDER WHO PATH RIGHTS
               davit access remove FOLDER WHO PATH
               davit access explain FOLDER NAME PATH

        Decides what accounts may do in the shared FOLDER and in the folders in it. The
        rule of the deepest folder applies, and in one folder that for the account, then
        those for its groups, which add up, then that for everyone. What an account has
        no right to list does not exist for it.

          list                   list the rules
          set WHO PATH RIGHTS    set the rights of WHO in the folder PATH. WHO is
                                 user:NAME, group:NAME or everyone; PATH is / or a path
                                 in the share
          remove WHO PATH        remove a rule; the rules of the folders above apply
          explain NAME PATH      print the rights of an account, and the rules that they
                                 come from
          --state-dir FOLDER     state folder, as for 'davit serve'
          --help                 show this help

        RIGHTS is one of these, or some rights separated by commas:

          none                   nothing
          drop                   create: add files, without seeing any
          view                   list and read
          add                    list, read and create
          edit                   list, read, create, change and delete
          all                    every right; manage permits to break locks of others

        """

    private static let checkText = """
        usage: davit check FOLDER [--state-dir FOLDER]

        Verifies the state of the shared FOLDER (its locks and properties) and prints
        any errors. If a server is sharing FOLDER, that server runs the check and
        continues to serve; run the command as the server's user or as root. Then lists
        the names in FOLDER that some clients cannot use: names that Windows does not
        allow, names that are not UTF-8, and names in one folder that differ only in
        case or in Unicode normalization.

          --state-dir FOLDER     state folder, as for 'davit serve'
          --help                 show this help

        Exit status: 0 if the state is ok, 1 if it is damaged or cannot be read. The
        listed names do not affect the exit status.

        """

    private static let locksText = """
        usage: davit locks list FOLDER [--state-dir FOLDER]
               davit locks break FOLDER LOCK [--state-dir FOLDER]

        Lists the locks in the shared FOLDER with their owners and their creation and
        expiry times, or removes the lock with the token LOCK or all locks on the path
        LOCK, as printed by 'list'. The client that holds a removed lock is not
        notified; its next write with the lock token is refused. If a server is sharing
        FOLDER, that server does the work and logs each removed lock; run the command as
        the server's user or as root.

          --state-dir FOLDER     state folder, as for 'davit serve'
          --help                 show this help

        Exit status: 0 on success, 1 on failure or if no lock matches LOCK.

        """

    private static let trashText = """
        usage: davit trash list FOLDER [--state-dir FOLDER]
               davit trash restore FOLDER ENTRY... [--state-dir FOLDER]
               davit trash empty FOLDER [--older-than DAYS] [--state-dir FOLDER]

        Manages the trash of a FOLDER that is shared with 'davit serve --trash': the
        files that clients deleted or overwrote. If a server is sharing FOLDER, that
        server does the work and continues to serve; run the command as the server's
        user or as root.

          list                   list the entries, newest first: ID, time of deletion,
                                 size in bytes, reason, account and original path
          restore ENTRY...       restore entries and their properties to the original
                                 path, or to a numbered name if the path is taken. ENTRY
                                 is an ID, or an original path, which selects the most
                                 recently deleted entry with that path
          empty                  permanently delete all entries
          --older-than DAYS      for empty: only entries deleted at least DAYS days ago
          --state-dir FOLDER     state folder, as for 'davit serve'
          --help                 show this help

        Exit status: 0 on success, 1 if any action failed.

        """

    private static let passwordText = """
        usage: davit password [NAME] [--digest] [--realm TEXT]

        Asks for a password, or reads the first line of standard input if that is not a
        terminal, and prints a line for 'davit serve --user-file': NAME and a hash of
        the password, or only the hash if NAME is omitted.

          --digest               print Digest secrets, which support both Basic and
                                 Digest; requires NAME. Digest secrets are sufficient to
                                 log in: protect the file like the password
          --realm TEXT           for --digest: the server's --realm (default: davit)
          --help                 show this help

        """

    private static let replayText = """
        usage: davit replay RECORDING... --to URL [OPTION...]

        Sends the requests of each RECORDING, a file or folder written by 'davit serve
        --record', to the server at URL, and prints the differences in the responses.
        The server's folder must have the content that it had when the recording began.
        RECORDING can also be a hand-written transcript, which runs in a new folder
        below URL; that folder is removed afterwards.

          --to URL               server, such as http://127.0.0.1:8080/
          --ca FILE              trusted certificates for https, in PEM (default: those
                                 of the system)
          --user NAME:PASSWORD   credentials to send with Basic authentication, in place
                                 of masked ones and with each request of a transcript
          --expect FILE          known differences, one per line:
                                 'FILE | STEP | WHAT | REASON'. With this option, failed
                                 optional checks that are not listed also count as
                                 differences, and so do lines that match no difference,
                                 unless REASON begins with 'at times:'
          --help                 show this help

        Exit status: 0 if there are no unexpected differences, otherwise 1.

        """

    private static let stubText = """
        usage: davit stub FILE [OPTION...]
               davit stub rules [list | add JSON... | remove NAME...] [--to URL]
               davit stub requests [NUMBER] [--to URL]
               davit stub verify METHOD PATH [OPTION...] [--to URL]
               davit stub reset [--to URL]
               davit stub import SOURCE... --into FILE

        Serves a stand-in for a server, to build and test its clients: requests are
        answered by the rules in FILE, an SQLite database that is created if it does not
        exist. The page at /.davit/ of the server shows requests and rules; it can be
        used only on this machine. Prints its URL when ready, and the seed of everything
        random.

          --host HOST            address or name to listen on; repeatable (default:
                                 127.0.0.1)
          --port PORT            TCP port; 0 selects a free one (default: 8080)
          --proxy URL            forward requests that no rule matches to this server;
                                 if it cannot be reached, repeat its last responses
          --tls-self-signed      use HTTPS, with a certificate authority in FILE.tls
          --tls-fault KIND       give the certificate a fault: expired, not-yet-valid,
                                 wrong-name or untrusted
          --seed NUMBER          repeat the random responses and faults of another run
          --grace SECONDS        time for requests in progress when stopping (default:
                                 30)
          --help                 show this help

        The other forms use a running stub server:

          rules list             list the rules, as JSON, one per line
          rules add JSON...      add or replace rules; JSON is a rule, a file with one
                                 rule or an array of rules, or - for standard input
          rules remove NAME...   remove rules
          requests               list the requests that it has received
          requests NUMBER        print one of them with its content, as JSON
          verify METHOD PATH     count the requests with this method, or * for all, and
                                 this path; fail unless there is at least one
          --count N              for verify: fail unless there are exactly N
          --at-least N, --at-most N
                                 for verify: fail unless the number is within the limits
          --when JSON            for verify: only requests with this condition;
                                 repeatable
          reset                  forget requests, states, sessions and stored objects
          --to URL               the stub server (default: http://127.0.0.1:8080/)
          --ca FILE              trusted certificates for https, in PEM (default: those
                                 of the system)

          import SOURCE...       add rules to FILE, which no server may be using, from
                                 recordings of 'davit serve --record' or HTTP archives
                                 (HAR) of a browser

        Exit status: 0 on success, 1 on failure or if verify fails.

        """

    private static let serveText = """
        usage: davit serve FOLDER [OPTION...]

        Shares FOLDER over WebDAV until stopped (SIGTERM, Ctrl-C). Prints its URL when
        ready. Without options, only programs on this machine can connect, and no
        password is required.

        listening:
          --host HOST            address or name to listen on; repeatable (default:
                                 localhost). Non-local addresses require accounts
          --port PORT            TCP port; 0 selects a free one (default: 8080)
          --unix-socket PATH     Unix socket to listen on; replaces the default TCP
                                 addresses unless --host or --port is given
          --unix-socket-mode MODE
                                 permissions of the Unix socket, octal (default: 600)

        access:
          --user NAME:PASSWORD   add an account; repeatable. Other users of this machine
                                 can see the password in the process list
          --user-file FILE       file of accounts, one NAME:PASSWORD per line; 'davit
                                 password' prints lines with a hash instead
          --auth SCHEMES         authentication schemes to offer, in this order,
                                 separated by commas: digest, basic, digest-sha-256,
                                 digest-md5 (default: digest,basic)
          --realm TEXT           authentication realm (default: davit)
          --read-only            reject all changes
          --allow-origin ORIGIN  allow web pages of ORIGIN, such as
                                 https://app.example, to use the server; repeatable

        TLS 1.2 and 1.3\(CryptoLibrary.isAvailable ? "" : " (not included in this build)"):
          --tls-cert FILE        certificate chain in PEM, the server's certificate
                                 first; repeatable, selected by the requested host name
          --tls-key FILE         private key in PEM; one for each --tls-cert
          --tls-self-signed      create a certificate authority and a certificate in the
                                 state folder
          --tls-client-ca FILE   require client certificates signed by one of the
                                 authorities in FILE
          --tls-clients WHICH    whether client certificates are required or optional
                                 (default: required)

        files served:
          --allow-extensions LIST
                                 serve and accept only files with these extensions,
                                 separated by commas, such as jpg,png (default: all)
          --no-hidden            do not serve or accept names that begin with a period
          --mac-metadata POLICY  handling of macOS metadata files such as ._* and
                                 .DS_Store: keep; hide (omit from listings); refuse; or
                                 aside (hide, store ._* and .DS_Store outside FOLDER,
                                 and remove them after 90 days) (default: keep)

        browser page:
          --title TEXT           name of the share (default: the name of FOLDER)
          --header TEXT          heading of the root folder (default: the title)
          --prologue TEXT        plain text above the listing of the root folder
          --epilogue TEXT        plain text below the listing of the root folder
          --footer TEXT          plain text at the end of every page
          --no-page              disable the browser page

        storage limits (SIZE in bytes, or with a suffix K, M, G or T):
          --max-file-size SIZE   maximum size of a file (default: unlimited)
          --max-depth LEVELS     maximum depth of folders that clients can create
                                 (default: 1000)
          --keep-free SIZE       space to keep free on the volume (default: 0)
          --upload-expiry DAYS   how long an interrupted upload can be resumed, in days,
                                 or in hours with a suffix h (default: 7)

        trash:
          --trash                keep files that clients delete or overwrite, so that
                                 they can be restored in the browser or with 'davit
                                 trash'
          --trash-days DAYS      days to keep files in the trash; implies --trash
                                 (default: 30)
          --trash-size SIZE      maximum size of the trash; implies --trash (default:
                                 unlimited; the oldest entries are deleted when a change
                                 needs the space)

        durability (acknowledged changes always survive a crash of the server):
          --sync none            after a power failure, the latest changes of names,
                                 locks and properties may be lost, and new files may be
                                 short or empty (default)
          --sync data            like none, but the content of a file is on disk before
                                 the file gets its name
          --sync full            content, names, locks and properties survive a power
                                 failure

        behind a proxy:
          --public-url URL       URL that clients use; repeatable. The proxy must remove
                                 the part of the URL's path that precedes --prefix
          --prefix PATH          prefix of all request paths, such as /dav
          --trusted-proxy PROXY  trust the Forwarded or X-Forwarded-* fields of this
                                 proxy: an address, a network, or 'unix' for peers on
                                 the Unix socket; repeatable
          --proxy-fields FIELDS  header fields that the proxies set: forwarded,
                                 x-forwarded or either (default: either)

        logging:
          --log-level LEVEL      error, warning, info, access, verbose or debug
                                 (default: info)
          --access-log FILE      write a line for each response to FILE, or to standard
                                 error if FILE is -
          --access-log-format FORMAT
                                 davit, common, combined or json (default: combined)
          --record FOLDER        record all connections in FOLDER, which must be new or
                                 empty; credentials are masked, content is not

        testing clients:
          --faults FILE          delay, damage or refuse responses by the rules in FILE,
                                 such as 'PUT /** status=423 nth=2'

        other:
          --state-dir FOLDER     folder for locks and properties (default: one for each
                                 share, under XDG_STATE_HOME or ~/.local/state)
          --no-sync-collection   disable sync-collection (RFC 6578) and change events
          --no-compression       do not compress listings and other generated responses
                                 with gzip
          --qr                   print the URL as a QR code on standard
                                 error\(QRCodeLibrary.isAvailable ? "" : " (not included in this build)")
          --grace SECONDS        how long requests in flight can take to finish when the
                                 server stops (default: 30)
          --help                 show this help

        Without accounts, davit accepts only requests whose host is an IP address,
        localhost or the host of a --public-url. Without TLS, content is sent in the
        clear, and so are passwords with Basic. On a network, use TLS or a proxy that
        provides TLS. On SIGHUP, davit reads its certificates and its user file again
        and reopens the access log.

        """
}
