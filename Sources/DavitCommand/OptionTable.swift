internal import Davit
internal import DavitACME
internal import DavitEngine
internal import DavitFileStore
internal import DavitLogging
internal import DavitQRCode
internal import DavitServer
internal import DavitStore

/// The table of all options of `davit serve`. The order in the help is that of the cases of ``ServeOption``.
extension ServeOption {
    var entry: OptionEntry {
        switch self {
        case .host:
            .init(
                .listening, "HOST", .text, "address or name to listen on; repeatable",
                standard: .value("localhost"), note: "Non-local addresses require accounts",
                isRepeatable: true)
        case .port:
            .init(
                .listening, "PORT", .number(0...65535), "TCP port; 0 selects a free one",
                standard: .value("8080"))
        case .unixSocket:
            .init(
                .listening, "PATH", .text,
                "Unix socket to listen on; replaces the default TCP addresses unless --host or --port is given"
            )
        case .unixSocketMode:
            .init(
                .listening, "MODE", .mode, "permissions of the Unix socket, octal", standard: .value("600"))
        case .announce:
            .init(
                .listening, "NAME", .text,
                "announce the server under NAME in the local network, so that file managers list it (mDNS, "
                    + "through Avahi)", standard: .described("not announced"))
        case .announceOn:
            .init(
                .listening, "INTERFACE", .text,
                "announce the server only on this network interface; repeatable",
                standard: .described("all except those of containers and virtual machines"),
                isRepeatable: true)
        case .announceWindows:
            .init(
                .listening, .flag,
                "announce the server to Windows too (WS-Discovery), which opens it in the browser")
        case .mapPort:
            .init(
                .listening, "PORT", .number(0...65535),
                "map this port of the router to the server, so that it can be reached from the Internet; 0 for the port "
                    + "of the server. Requires TLS and accounts (package trait NATMapping)",
                standard: .described("none"))
        case .adminListen:
            .init(
                .listening, "ADDRESS", .text,
                "address for health checks (/livez, /readyz) and metrics (/metrics), without a password: the path "
                    + "of a Unix socket, or a loopback HOST:PORT", standard: .described("none"))

        case .user:
            .init(
                .access, "NAME:PASSWORD", .account, "add an account with all rights; repeatable",
                note: "Other users of this machine can see the password in the process list",
                isRepeatable: true, isSecret: true, reload: .takesEffect)
        case .userFile:
            .init(
                .access, "FILE", .text,
                "file of accounts with all rights, one NAME:PASSWORD per line; 'davit password' prints lines with "
                    + "a hash. For accounts with rights in folders, see 'davit account'", reload: .takesEffect
            )
        case .auth:
            .init(
                .access, "SCHEMES", .words,
                "authentication schemes to offer, in this order, separated by commas: digest, basic, "
                    + "digest-sha-256, digest-md5", standard: .value("digest,basic"))
        case .realm: .init(.access, "TEXT", .text, "authentication realm", standard: .value("davit"))
        case .readOnly: .init(.access, .flag, "reject all changes", in: .share)
        case .allowOrigin:
            .init(
                .access, "ORIGIN", .text,
                "allow web pages of ORIGIN, such as https://app.example, to use the server; repeatable",
                isRepeatable: true)

        case .tlsCert:
            .init(
                .tls, "FILE", .text,
                "certificate chain in PEM, the server's certificate first; repeatable, selected by the "
                    + "requested host name", isRepeatable: true)
        case .tlsKey:
            .init(.tls, "FILE", .text, "private key in PEM; one for each --tls-cert", isRepeatable: true)
        case .tlsSelfSigned:
            .init(.tls, .flag, "create a certificate authority and a certificate in the state folder")
        case .tlsClientCA:
            .init(
                .tls, "FILE", .text, "require client certificates signed by one of the authorities in FILE")
        case .tlsClients:
            .init(
                .tls, "WHICH", .choices(TLSOptions.Clients.self),
                "whether client certificates are required or optional", standard: .value("required"))

        case .acme:
            .init(
                .acme, "DOMAIN", .text,
                "get a certificate for DOMAIN, and renew it; repeatable, for one certificate with several domains",
                note:
                    "The authority must reach the server on port 443 of DOMAIN, or with --acme-http on port 80",
                isRepeatable: true)
        case .acmeAgree: .init(.acme, .flag, "agree to the terms of service of the authority; required")
        case .acmeEmail:
            .init(
                .acme, "ADDRESS", .text, "email address of the account at the authority",
                standard: .described("none"))
        case .acmeDirectory:
            .init(
                .acme, "URL", .text, "directory of the authority",
                standard: .implied(ACMESettings.letsEncrypt))
        case .acmeCA:
            .init(
                .acme, "FILE", .text,
                "trusted certificate authorities for connections to the directory, in PEM",
                standard: .described("those of the system"))
        case .acmeHTTP:
            .init(
                .acme, "PORT", .number(0...65535),
                "TCP port for plain HTTP, on which the authority can validate the domains; other requests are "
                    + "redirected to https", standard: .described("none"))
        case .acmeAccount:
            .init(
                .acme, "ID", .text, "key identifier of an external account, if the authority requires one",
                standard: .described("none"))
        case .acmeAccountKeyFile:
            .init(.acme, "FILE", .text, "file with the key of the external account in Base64, mode 0600")

        case .allowExtensions:
            .init(
                .files, "LIST", .words,
                "serve and accept only files with these extensions, separated by commas, such as jpg,png",
                standard: .described("all"), in: .share)
        case .noHidden:
            .init(.files, .flag, "do not serve or accept names that begin with a period", in: .share)
        case .macMetadata:
            .init(
                .files, "POLICY", .choices(MacMetadataPolicy.self),
                "handling of macOS metadata files such as ._* and .DS_Store: keep; hide (omit from listings); "
                    + "refuse; or aside (hide, store ._* and .DS_Store outside FOLDER, and remove them after "
                    + "90 days)", standard: .value("keep"), in: .share)

        case .title:
            .init(
                .page, "TEXT", .text, "name of the share", standard: .described("the name of FOLDER"),
                in: .share)
        case .header:
            .init(
                .page, "TEXT", .text, "heading of the root folder", standard: .described("the title"),
                in: .share)
        case .prologue:
            .init(.page, "TEXT", .text, "plain text above the listing of the root folder", in: .share)
        case .epilogue:
            .init(.page, "TEXT", .text, "plain text below the listing of the root folder", in: .share)
        case .footer: .init(.page, "TEXT", .text, "plain text at the end of every page", in: .share)
        case .noPage: .init(.page, .flag, "disable the browser page", in: .share)

        case .maxFileSize:
            .init(
                .storage, "SIZE", .size, "maximum size of a file", standard: .described("unlimited"),
                in: .share)
        case .maxDepth:
            .init(
                .storage, "LEVELS", .number(1...100_000),
                "maximum depth of folders that clients can create", standard: .value("1000"), in: .share)
        case .keepFree:
            .init(
                .storage, "SIZE", .size, "space to keep free on the volume", standard: .value("0"),
                in: .share)
        case .uploadExpiry:
            .init(
                .storage, "DAYS", .age,
                "how long an interrupted upload can be resumed, in days, or in hours with a suffix h",
                standard: .value("7"), in: .share)

        case .maxConnections:
            .init(
                .clients, "N", .number(1...1_000_000),
                "open connections; more wait until others are closed", standard: .value("16384"))
        case .maxConnectionsPerAddress:
            .init(
                .clients, "N", .number(1...1_000_000),
                "open connections of one address, or of one IPv6 /64 network; more are closed",
                standard: .value("1024"))
        case .maxRequestsPerAccount:
            .init(
                .clients, "N", .number(1...1_000_000),
                "requests of one account at the same time, or of one address or IPv6 /64 network without an "
                    + "account; more wait, and are refused after 10 s", standard: .described("unlimited"))
        case .maxRatePerAccount:
            .init(
                .clients, "SIZE", .size,
                "bytes per second of one account, at least 1K, for uploads and for downloads; transfers over "
                    + "the rate are slowed down", standard: .described("unlimited"))
        case .maxRatePerAddress:
            .init(
                .clients, "SIZE", .size,
                "likewise for one address or IPv6 /64 network, with or without an account",
                standard: .described("unlimited"))
        case .banAfter:
            .init(
                .clients, "N", .number(1...10_000),
                "failed logins within an hour after which an address, or an IPv6 /64 network, is banned; 20 is "
                    + "suitable. Behind a proxy, requires --trusted-proxy",
                standard: .described("never"))
        case .banMinutes:
            .init(
                .clients, "N", .number(1...10_080),
                "duration of the first ban of an address; each further one lasts four times as long, up to 7 "
                    + "days", standard: .implied("10"))
        case .neverBan:
            .init(
                .clients, "NETWORK", .text,
                "address or network that is never banned; repeatable. Loopback addresses and trusted proxies "
                    + "never are", isRepeatable: true)
        case .noInfiniteDepth:
            .init(
                .clients, .flag,
                "refuse requests for everything below a folder (PROPFIND and SEARCH with Depth infinity)",
                in: .share)

        case .trash:
            .init(
                .trash, .flag,
                "keep files that clients delete or overwrite, so that they can be restored in the browser or "
                    + "with 'davit trash'", in: .share)
        case .trashDays:
            .init(
                .trash, "DAYS", .number(1...36_500), "days to keep files in the trash; implies --trash",
                standard: .implied("30"), in: .share)
        case .trashSize:
            .init(
                .trash, "SIZE", .size, "maximum size of the trash; implies --trash",
                standard: .described(
                    "unlimited; the oldest entries are deleted when a change needs the space"),
                in: .share)

        case .sync:
            .init(
                .durability, "LEVEL",
                .choice([
                    .init(
                        "none",
                        "after a power failure, the latest changes of names, locks and properties may be lost, "
                            + "and new files may be short or empty (default)"),
                    .init(
                        "data",
                        "like none, but the content of a file is on disk before the file gets its name"),
                    .init("full", "content, names, locks and properties survive a power failure"),
                ]), "what survives a power failure", standard: .value("none"), in: .share)

        case .publicURL:
            .init(
                .proxy, "URL", .text, "URL that clients use; repeatable",
                note: "The proxy must remove the part of the URL's path that precedes --prefix",
                isRepeatable: true)
        case .prefix: .init(.proxy, "PATH", .text, "prefix of all request paths, such as /dav")
        case .trustedProxy:
            .init(
                .proxy, "PROXY", .text,
                "trust the Forwarded or X-Forwarded-* fields of this proxy: an address, a network, or 'unix' "
                    + "for peers on the Unix socket; repeatable", isRepeatable: true)
        case .proxyFields:
            .init(
                .proxy, "FIELDS", .choices(TrustedProxies.Fields.self),
                "header fields that the proxies set: forwarded, x-forwarded or either",
                standard: .value("either"))
        case .remoteUser:
            .init(
                .proxy, "FIELD", .text,
                "sign in the user whom a trusted proxy reports in this field, such as Remote-User, without a "
                    + "password")
        case .remoteGroups: .init(.proxy, "FIELD", .text, "field in which it reports the user's groups")

        case .ldap:
            .init(
                .ldap, "URL", .text,
                "ldap:// with StartTLS, or ldaps://; several URLs are separated by spaces")
        case .ldapBase: .init(.ldap, "DN", .text, "entry below which users and groups are searched")
        case .ldapBind:
            .init(.ldap, "DN", .text, "name to search with", standard: .described("anonymous"))
        case .ldapPasswordFile:
            .init(.ldap, "FILE", .text, "file with the password for --ldap-bind, mode 0600")
        case .ldapFilter:
            .init(.ldap, "FILTER", .text, "filter that finds a user", standard: .implied("(uid={user})"))
        case .ldapUserDN:
            .init(
                .ldap, "DN", .text,
                "name to bind with instead of searching, such as uid={user},ou=people,dc=example,dc=org")
        case .ldapGroupFilter:
            .init(
                .ldap, "FILTER", .optionalText, "filter that finds the groups of a user, or '' for none",
                standard: .described("by member={dn}, uniqueMember={dn} or memberUid={user}"))
        case .ldapCA:
            .init(
                .ldap, "FILE", .text, "trusted certificate authorities, in PEM",
                standard: .described("those of the system"))
        case .ldapPlain: .init(.ldap, .flag, "do not encrypt connections to ldap:// URLs")

        case .oidcIssuer: .init(.oidc, "URL", .text, "URL that identifies the provider")
        case .oidcClientID: .init(.oidc, "ID", .text, "name of davit at the provider")
        case .oidcClientSecretFile:
            .init(.oidc, "FILE", .text, "file with its secret, mode 0600", standard: .described("none"))
        case .oidcUserClaim:
            .init(
                .oidc, "CLAIM", .text, "claim with the name of the user",
                standard: .implied("preferred_username"))
        case .oidcGroupsClaim:
            .init(.oidc, "CLAIM", .text, "claim with the groups of the user", standard: .implied("groups"))
        case .oidcScopes:
            .init(
                .oidc, "SCOPES", .text, "scopes to request in addition to openid, separated by spaces",
                standard: .implied("profile"))
        case .oidcName:
            .init(.oidc, "NAME", .text, "name on the button", standard: .implied("OpenID Connect"))
        case .oidcCA:
            .init(
                .oidc, "FILE", .text, "trusted certificate authorities, in PEM",
                standard: .described("those of the system"))

        case .pam: .init(.pam, "SERVICE", .text, "PAM service: the name of a file in /etc/pam.d")
        case .pamHelper:
            .init(
                .pam, "PATH", .text, "program that calls PAM",
                standard: .implied("/usr/libexec/davit-pam-helper"))

        case .logLevel:
            .init(
                .logging, "LEVEL", .choices(ServeOptions.LogLevel.self),
                "error, warning, info, access, verbose or debug", standard: .value("info"),
                reload: .takesEffect)
        case .accessLog:
            .init(
                .logging, "FILE", .text,
                "write a line for each response to FILE, or to standard error if FILE is -")
        case .accessLogFormat:
            .init(
                .logging, "FORMAT", .choices(AccessFormat.self), "davit, common, combined or json",
                standard: .implied("combined"))
        case .auditLog:
            .init(
                .logging, "FILE", .text,
                "record who changed what, and logins, as JSON lines in FILE, or with 'syslog' or 'journald'")
        case .auditFailure:
            .init(
                .logging, "POLICY", .choices(AuditLog.FailurePolicy.self),
                "refuse changes that cannot be recorded, or permit them and count the missing records",
                standard: .implied("refuse"))
        case .auditLogSize:
            .init(
                .logging, "SIZE", .size,
                "begin a new audit log when FILE reaches SIZE, and keep FILE.1 and so on",
                standard: .described("let FILE grow"))
        case .auditLogKeep:
            .init(
                .logging, "COUNT", .number(1...1_000), "number of renamed audit logs to keep",
                standard: .implied("10"))
        case .record:
            .init(
                .logging, "FOLDER", .text,
                "record all connections in FOLDER, which must be new or empty; credentials are masked, content "
                    + "is not")

        case .checkUploads:
            .init(
                .programs, "COMMAND", .text,
                "run COMMAND with the content of each upload as its input, before it is stored: exit status 0 stores "
                    + "it, 1 refuses it", standard: .described("none"), in: .share)
        case .checkUploadsFailure:
            .init(
                .programs, "POLICY", .choices(UploadProgram.FailurePolicy.self),
                "refuse uploads that COMMAND could not check, or accept them",
                standard: .implied("refuse"), in: .share)
        case .checkUploadsSeconds:
            .init(
                .programs, "N", .number(1...3_600), "seconds that COMMAND has for an upload",
                standard: .implied("60"), in: .share)
        case .eventCommand:
            .init(
                .programs, "COMMAND", .text,
                "run COMMAND after each change, with a JSON object as its input; repeatable",
                isRepeatable: true)
        case .eventURL:
            .init(
                .programs, "URL", .text,
                "send a POST request with a JSON object to URL after each change; repeatable (package trait "
                    + "Webhooks)", isRepeatable: true)
        case .eventSecretFile:
            .init(
                .programs, "FILE", .text,
                "file with the secret that signs these requests, readable only by its owner",
                standard: .described("not signed"))
        case .eventCA:
            .init(
                .programs, "FILE", .text, "authorities of the certificates of these services, in PEM",
                standard: .described("those of the system"))
        case .eventTypes:
            .init(
                .programs, "LIST", .words,
                "types of events, separated by commas: \(EventOptions.operationNames.joined(separator: ", "))",
                standard: .described("those that change content or names"))

        case .runAs:
            .init(
                .privileges, "USER[:GROUP]", .text,
                "open the TCP sockets as root, then serve as USER; the socket of --admin-listen is opened as USER"
            )
        case .sandbox:
            .init(
                .privileges, .flag,
                "restrict the process to the folders, connections and system calls that it needs (Landlock, "
                    + "seccomp)")

        case .faults:
            .init(
                .testing, "FILE", .text,
                "delay, damage or refuse responses by the rules in FILE, such as 'PUT /** status=423 nth=2'")

        case .config:
            .init(
                .other, "FILE", .text,
                "read options from a YAML file, for which FOLDER can be omitted; see 'davit config --help'",
                in: .commandLine)
        case .database:
            .init(
                .other, "URL", .text,
                "share files of a PostgreSQL database instead of a folder, such as postgresql://davit@10.0.0.5/davit; any "
                    + "number of servers can share them. Repeat it for each PostgreSQL server that can be the primary "
                    + "(package trait Postgres)", standard: .described("none"), isRepeatable: true)
        case .blobs:
            .init(
                .other, "PLACE", .text,
                "folder for the content of files in the database, on a volume that all servers of the share use, or "
                    + "s3://BUCKET with the keys of the environment (package trait S3)",
                standard: .described("none"))
        case .share:
            .init(
                .other, "NAME", .text, "name of the share in the database", standard: .value("files"))
        case .mount:
            .init(
                .other, "/PATH=FOLDER", .mount, "serve another FOLDER at PATH in the share; repeatable",
                isRepeatable: true, in: .share)
        case .home:
            .init(
                .other, "FOLDER/{user}", .text,
                "serve a folder for each account at /home/NAME; it is created when the account first signs in. "
                    + "Requires accounts of 'davit account'", in: .share)
        case .stateDir:
            .init(
                .other, "FOLDER", .text, "folder for locks, properties and accounts",
                standard: .described(
                    "one for each share, under XDG_STATE_HOME or ~/.local/state"), in: .share)
        case .noSyncCollection:
            .init(
                .other, .flag, "disable sync-collection (RFC 6578) and change events", in: .share)
        case .noCompression:
            .init(
                .other, .flag, "do not compress listings and other generated responses with gzip")
        case .qr:
            .init(
                .other, .flag,
                "print the URL as a QR code on standard error"
                    + (QRCodeLibrary.isAvailable ? "" : " (not included in this build)"))
        case .grace:
            .init(
                .other, "SECONDS", .number(0...3600),
                "how long requests in flight can take to finish when the server stops",
                standard: .value("30"))
        }
    }
}
