internal import DavitCrypto
internal import DavitQRCode

/// The help texts of the command.
package enum Help: Hashable, Sendable {
    case davit, serve, setup, config, reload, account, appPassword, group, access, doctor, check,
        importing, exporting, nodes, status, locks, uploads, trash, ban, log, password, replay, stub

    package var text: String {
        switch self {
        case .davit: Self.davitText
        case .serve: Self.serveText
        case .setup: Self.setupText
        case .config: Self.configText
        case .reload: Self.reloadText
        case .account: Self.accountText
        case .appPassword: Self.appPasswordText
        case .group: Self.groupText
        case .access: Self.accessText
        case .doctor: Self.doctorText
        case .check: Self.checkText
        case .importing: Self.importText
        case .exporting: Self.exportText
        case .nodes: Self.nodesText
        case .status: Self.statusText
        case .locks: Self.locksText
        case .uploads: Self.uploadsText
        case .trash: Self.trashText
        case .ban: Self.banText
        case .log: Self.logText
        case .password: Self.passwordText
        case .replay: Self.replayText
        case .stub: Self.stubText
        }
    }

    private static let davitText = """
        davit shares a folder over WebDAV.

        usage: davit serve FOLDER [OPTION...]
               davit serve --config FILE [OPTION...]
               davit setup [FOLDER] [OPTION...]
               davit config check|show FILE
               davit config defaults|schema
               davit reload FOLDER [--state-dir FOLDER]
               davit account ACTION FOLDER [ARGUMENT...]
               davit app-password ACTION FOLDER [ARGUMENT...]
               davit group ACTION FOLDER [ARGUMENT...]
               davit access ACTION FOLDER [ARGUMENT...]
               davit doctor FOLDER [OPTION...]
               davit check FOLDER [--state-dir FOLDER]
               davit check --database URL --blobs PLACE [OPTION...]
               davit import FOLDER --database URL --blobs PLACE [OPTION...]
               davit export FOLDER --database URL --blobs PLACE [OPTION...]
               davit nodes --database URL [--json]
               davit status FOLDER [--state-dir FOLDER]
               davit locks list FOLDER [--state-dir FOLDER]
               davit locks break FOLDER LOCK [--state-dir FOLDER]
               davit uploads list|cancel FOLDER [UPLOAD] [--state-dir FOLDER]
               davit trash list|restore|empty FOLDER [OPTION...]
               davit ban list|add|remove FOLDER [ADDRESS] [OPTION...]
               davit log PATH [OPTION...]
               davit password [NAME] [--digest] [--realm TEXT]
               davit replay RECORDING... --to URL [OPTION...]
               davit stub FILE [OPTION...]
               davit stub ACTION [ARGUMENT...]
               davit help [COMMAND]
               davit --version

        commands:
          serve FOLDER      share a folder
          setup [FOLDER]    ask a few questions, and write a configuration file, the
                            settings of a systemd service and the first account
          config ACTION     check or show a configuration file, or print its defaults
          reload FOLDER     make the server that shares FOLDER read its settings again
          account ACTION FOLDER
                            list, add, disable or remove accounts, and set passwords
          app-password ACTION FOLDER
                            list, add and revoke passwords for one device or program
          group ACTION FOLDER
                            list, add and remove groups and their members
          access ACTION FOLDER
                            list, set, remove, explain and check rights in folders
          doctor FOLDER     examine everything that a server needs, and print what to do
                            about problems
          check FOLDER      verify a share's locks and properties, and list names that
                            some clients cannot use
          check --database URL
                            compare a database of shares with its store of content
          import FOLDER     copy a folder to a share in a database
          export FOLDER     copy a share in a database to a folder
          nodes --database URL
                            list the servers that use a database, and its shares
          status FOLDER     print whether the server of a share is ready, and its load
          locks list FOLDER
                            list the locks in a share
          locks break FOLDER LOCK
                            remove a lock, even one that another account holds
          uploads ACTION FOLDER
                            list and cancel resumable uploads
          trash ACTION FOLDER
                            list, restore or permanently delete files in the trash
          ban ACTION FOLDER
                            list, add and remove bans of addresses
          log PATH          print the history of a file from the audit log
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
               davit account add FOLDER NAME [--rights RIGHTS] [--link]
               davit account password FOLDER NAME
               davit account link FOLDER NAME [--hours N]
               davit account enable|disable|remove FOLDER NAME
               davit account second-factor FOLDER NAME off
               davit account sessions FOLDER [NAME]
               davit account end-session FOLDER ID

        Manages the accounts of the shared FOLDER. They are stored in its state folder,
        replace --user and --user-file, and have only the rights that 'davit access'
        grants. Add the first account while no server is sharing FOLDER; from then on,
        clients must sign in. Later changes take effect immediately, even while a server
        is running; run the command as the server's user or as root.

          list                   list the accounts
          add NAME               add an account; asks for its password, or reads the
                                 first line of standard input
          password NAME          set another password, and revoke all app passwords of
                                 the account
          link NAME              end the password and all app passwords of the account,
                                 and print a link with which its user chooses a new
                                 password in the browser, once
          disable NAME           refuse the account, but keep its rules, groups and app
                                 passwords
          enable NAME            accept the account again
          remove NAME            remove the account with its rules and app passwords
          second-factor NAME off
                                 turn off two-step sign-in, for a user who has lost both
                                 the authenticator app and the recovery codes
          sessions [NAME]        list the browsers in which users are signed in: ID,
                                 user, browser, last use and sign-in
          end-session ID         sign a browser out and end its requests
          --rights RIGHTS        for add: rights to the whole FOLDER, as for 'davit
                                 access set'
          --link                 for add: print a link with which the user chooses the
                                 password, instead of asking for it
          --hours N              how long a link is valid (default: 24; at most 720)
          --state-dir FOLDER     state folder, as for 'davit serve'
          --help                 show this help

        Disabling or removing an account, or changing its password, ends its requests in
        progress and signs out its browsers.

        For a share in a database, postgresql://HOST/DATABASE#SHARE takes the place
        of FOLDER.

        """

    private static let appPasswordText = """
        usage: davit app-password list FOLDER [NAME]
               davit app-password add FOLDER NAME DEVICE [OPTION...]
               davit app-password revoke FOLDER NAME ID

        Manages app passwords. An app password is a random password with which one
        device or program signs in to an account. It can be limited to a folder and to
        some rights, can expire, and can be revoked without affecting other devices.

          list [NAME]            list the app passwords of the account NAME or of all
                                 accounts, with their IDs and last use
          add NAME DEVICE        create an app password for the account NAME and print
                                 it; it cannot be shown again. DEVICE is a name for it,
                                 such as phone
          revoke NAME ID         revoke an app password, and end its requests in
                                 progress
          --path PATH            for add: permit nothing outside the folder PATH
          --rights RIGHTS        for add: permit only these rights, as for 'davit access
                                 set', as far as the account has them
          --expires DAYS         for add: days until it expires (default: never)
          --qr                   for add: also draw the password as a QR code
          --state-dir FOLDER     state folder, as for 'davit serve'
          --help                 show this help

        For a share in a database, postgresql://HOST/DATABASE#SHARE takes the place
        of FOLDER.

        """

    private static let groupText = """
        usage: davit group list FOLDER
               davit group add|remove FOLDER GROUP
               davit group join|leave FOLDER GROUP NAME

        Manages groups of accounts, to which 'davit access' can grant rights.

          list                   list the groups with their members
          add GROUP              add a group
          remove GROUP           remove a group with its rules
          join GROUP NAME        add an account to a group
          leave GROUP NAME       remove an account from a group
          --state-dir FOLDER     state folder, as for 'davit serve'
          --help                 show this help

        For a share in a database, postgresql://HOST/DATABASE#SHARE takes the place
        of FOLDER.

        """

    private static let accessText = """
        usage: davit access list FOLDER
               davit access set FOLDER WHO PATH RIGHTS
               davit access remove FOLDER WHO PATH
               davit access explain FOLDER NAME PATH [--app-password ID]
                                    [--group GROUP]...
               davit access check FOLDER

        Manages the rules that determine what accounts may do in the shared FOLDER and
        in the folders in it. The rule of the deepest folder applies. Within one folder,
        the rule for the account takes precedence over those for its groups, which add
        up, and these over the rule for everyone. What an account has no right to list
        does not exist for it.

          list                   list the rules
          set WHO PATH RIGHTS    set the rights of WHO in the folder PATH. WHO is
                                 user:NAME, group:NAME, everyone (all who have signed
                                 in) or anonymous (clients that have not signed in);
                                 PATH is / or a path in the share
          remove WHO PATH        remove a rule; the rules of the folders above apply
          explain NAME PATH      print the rights of an account, or of 'anonymous', and
                                 the rules that they come from
          check                  list what has no effect: rules that change nothing or
                                 whose folder is missing, accounts without rights, and
                                 app passwords that have expired or permit nothing; exit
                                 with status 1 if there is anything
          --app-password ID      for explain: the rights with this app password
          --group GROUP          for explain: the rights as a member of this group, too;
                                 NAME can then be a user of a directory or proxy who
                                 has no account; repeatable
          --state-dir FOLDER     state folder, as for 'davit serve'
          --help                 show this help

        RIGHTS is one of these names, or some of list, read, create, change, delete,
        share and manage, separated by commas; share has no effect yet:

          none                   no rights
          drop                   create: add files, without seeing any
          view                   list and read
          add                    list, read and create
          edit                   list, read, create, change and delete
          all                    all rights, including manage, which permits changing
                                 rules and, in /, managing accounts and groups

        For a share in a database, postgresql://HOST/DATABASE#SHARE takes the place
        of FOLDER.

        """

    private static let checkText = """
        usage: davit check FOLDER [--state-dir FOLDER]
               davit check --database URL --blobs PLACE [OPTION...]

        Verifies the state of the shared FOLDER (its locks and properties) and prints
        any errors. If a server is sharing FOLDER, that server runs the check and
        continues to serve; run the command as the server's user or as root. Then lists
        the names in FOLDER that some clients cannot use: names that Windows does not
        allow, names that are not UTF-8, and names in one folder that differ only in
        case or in Unicode normalization.

          --state-dir FOLDER     state folder, as for 'davit serve'
          --help                 show this help

        With --database, compares the database with the folder or bucket of its content,
        and prints a line for each problem, at most 1,000 of each kind and then their
        number. Changes nothing. Servers of the database may run. Reads all rows of
        the database, and asks for the length of each object.

          --database URL         database, as for 'davit serve'; repeatable
          --blobs PLACE          folder or bucket for content, as for 'davit serve'
          --share NAME           check only this share, and not what belongs to no share
          --content              also read each object, and compare its SHA-256

        Exit status: 0 if nothing is wrong, 1 if something is. If the check fails, the
        status is 1 for a FOLDER and 2 for a database. The listed names do not affect
        the exit status.

        """

    private static let importText = """
        usage: davit import FOLDER --database URL --blobs PLACE [OPTION...]

        Copies all files of FOLDER to a share in a PostgreSQL database, with their
        properties and modification times. Files of the share that FOLDER does not have
        stay. If the command was interrupted, run it again: files with the same length
        and time are not copied again. No server may share FOLDER meanwhile; servers of
        the database may run.

          --database URL         database, as for 'davit serve'; repeatable
          --blobs PLACE          folder or bucket for content, as for 'davit serve'
          --share NAME           name of the share in the database (default: files)
          --state-dir FOLDER     state folder of FOLDER, as for 'davit serve'
          --digests FILE         write a line with the SHA-256 of each copied file, as
                                 sha256sum does
          --help                 show this help

        Exit status: 0 if everything was copied, otherwise 1.

        """

    private static let exportText = """
        usage: davit export FOLDER --database URL --blobs PLACE [OPTION...]

        Copies all files of a share in a PostgreSQL database to FOLDER, which is created
        if it does not exist, with their properties and modification times. A server can
        then share FOLDER. Files in FOLDER that the share does not have stay. If the
        command was interrupted, run it again: files with the same length and time are
        not copied again. No server may share FOLDER meanwhile; servers of the database
        may run.

          --database URL         database, as for 'davit serve'; repeatable
          --blobs PLACE          folder or bucket for content, as for 'davit serve'
          --share NAME           name of the share in the database (default: files)
          --state-dir FOLDER     state folder of FOLDER, as for 'davit serve'
          --digests FILE         write a line with the SHA-256 of each copied file, as
                                 sha256sum does
          --help                 show this help

        Exit status: 0 if everything was copied, otherwise 1.

        """

    private static let nodesText = """
        usage: davit nodes --database URL [--json]

        Lists the servers that use a PostgreSQL database of shares: ID, machine and
        process ID, when they were started and seen last, and the number of blobs that
        they are writing. A server that has not been seen for a minute is not running,
        or cannot reach the database. After seven days, it is no longer listed. Then
        lists the shares, with their numbers of files and folders, including the trash,
        and the size of their content. Content that several files have in common counts
        once.

          --database URL         database, as for 'davit serve'; repeatable
          --json                 print JSON for programs
          --help                 show this help

        Exit status: 0 on success, 1 if the database cannot be used.

        """

    private static let statusText = """
        usage: davit status FOLDER [--state-dir FOLDER]
               davit status --state-dir FOLDER

        Asks the server that shares FOLDER whether it is ready to serve requests, and
        prints the result of each check, and the numbers of requests, connections,
        locks, uploads and so on. Run the command as the server's user or as root, for
        example as the health check of a container. 'davit serve --admin-listen' offers
        the same to programs over HTTP.

          --state-dir FOLDER     state folder, as for 'davit serve'
          --help                 show this help

        Exit status: 0 if all checks passed, 1 if one failed or no server responds.

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

        For a share in a database, postgresql://HOST/DATABASE#SHARE takes the place
        of FOLDER.

        Exit status: 0 on success, 1 on failure or if no lock matches LOCK.

        """

    private static let uploadsText = """
        usage: davit uploads list FOLDER [--state-dir FOLDER]
               davit uploads cancel FOLDER UPLOAD [--state-dir FOLDER]

        Lists the resumable uploads to the shared FOLDER that are not complete, with
        their accounts, their progress and when they expire, or cancels the one with
        the ID UPLOAD, as printed by 'list', and removes the bytes received for it. A
        client that is sending to a cancelled upload is disconnected. If a server is
        sharing FOLDER, that server does the work; run the command as the server's user
        or as root.

          --state-dir FOLDER     state folder, as for 'davit serve'
          --help                 show this help

        For a share in a database, postgresql://HOST/DATABASE#SHARE takes the place
        of FOLDER.

        Exit status: 0 on success, 1 on failure or if there is no such upload.

        """

    private static let banText = """
        usage: davit ban list FOLDER [--state-dir FOLDER]
               davit ban add FOLDER ADDRESS [--minutes N] [--state-dir FOLDER]
               davit ban remove FOLDER ADDRESS [--state-dir FOLDER]

        Manages the addresses that the server of FOLDER refuses: those with too many
        failed logins, if it was started with --ban-after, and those added here. An
        address is an IPv4 address or an IPv6 address, which stands for its /64
        network. If a server is sharing FOLDER, changes take effect immediately, and
        connections of an added address are closed; run the command as the server's
        user or as root. The bans of a server with several shares are those of its
        first share.

          --minutes N            duration of the ban (default: 1440, a day)
          --state-dir FOLDER     state folder, as for 'davit serve'
          --help                 show this help

        Exit status: 0 on success, 1 on failure or if ADDRESS is not banned.

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

        For a share in a database, postgresql://HOST/DATABASE#SHARE takes the place
        of FOLDER.

        Exit status: 0 on success, 1 if any action failed.

        """

    private static let logText = """
        usage: davit log PATH --audit-log FILE [OPTION...]
               davit log PATH --config FILE [OPTION...]

        Prints what the audit log of 'davit serve --audit-log' says about a file or
        folder, the newest record last: who created, changed, moved, locked or deleted
        it, when and from where, and which requests were refused. If it was renamed, its
        history under its former names is included, also in the older files FILE.1,
        FILE.2 and so on. PATH is the path in the share, such as /docs/plan.txt; if a
        server has several shares, give the path on the server.

          --audit-log FILE       the audit log; 'syslog' and 'journald' cannot be read
          --config FILE          configuration file that names the audit log
          --limit COUNT          print at most COUNT records, the newest (default: 1000)
          --json                 print the records as they are stored
          --help                 show this help

        Exit status: 0 on success, also without any record, 1 if the log cannot be read.

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
               davit serve --config FILE [OPTION...]

        Shares FOLDER over WebDAV until stopped (SIGTERM, Ctrl-C). Prints its URL when
        ready. Without options, only programs on this machine can connect, and no
        password is required.

        \(OptionHelp.sections)
        Without accounts, davit accepts only requests whose host is an IP address,
        localhost or the host of a --public-url. Without TLS, content is sent in the
        clear, and so are passwords with Basic. On a network, use TLS or a proxy that
        provides TLS. On SIGHUP, davit reads its configuration file, certificates and
        user file again, and reopens the access log.

        """
}
