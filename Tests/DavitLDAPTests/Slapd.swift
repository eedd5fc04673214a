#if LDAP
import DavitSystem
import DavitTesting
import Testing

/// A directory with its database in a temporary folder: OpenLDAP's slapd.
final class Slapd {
    static let isInstalled = ShellCommand.exists("/usr/sbin/slapd")

    let folder: TemporaryFolder
    private(set) var port: UInt16 = 0

    /// - Parameter folder: contains the certificate `server.pem` and its key `server.key`.
    init(_ folder: TemporaryFolder) throws {
        self.folder = folder
        _ = try ExclusiveFolder(path: folder.path + "/data")
        try SmallFiles.write(Self.settings(folder.path), to: folder.path + "/slapd.conf")
        try SmallFiles.write(Self.entries, to: folder.path + "/entries.ldif")
        let path = folder.path
        let loaded = try #require(
            ShellCommand.run("/usr/sbin/slapadd -f \(path)/slapd.conf -l \(path)/entries.ldif 2>&1"))
        try #require(loaded.status == 0, "slapadd: \(String(decoding: loaded.output, as: UTF8.self))")
        try start()
    }

    /// Starts on a free port at first, and on the same one later.
    func start() throws {
        // slapd reports no port that the system chooses, so that free ones are tried.
        for _ in 0..<20 {
            let candidate = port == 0 ? UInt16.random(in: 20_000..<60_000) : port
            let path = folder.path
            let started = ShellCommand.run(
                "/usr/sbin/slapd -f \(path)/slapd.conf -h ldap://127.0.0.1:\(candidate)/ >/dev/null 2>\(path)/log"
            )
            // slapd detaches when the address is its own, but listens later.
            guard started?.status == 0 else { continue }
            _ = ShellCommand.run(
                "bash -c 'until (: >/dev/tcp/127.0.0.1/\(candidate)) 2>/dev/null; do sleep 0.02; done'")
            port = candidate
            return
        }
        Issue.record("slapd does not start")
    }

    func stop() {
        // Waits until the process has ended, so that its port is free.
        _ = ShellCommand.run(
            """
            pid=$(cat \(folder.path)/slapd.pid) && kill $pid && while kill -0 $pid 2>/dev/null; do sleep 0.05; done
            """)
    }

    deinit { stop() }

    /// Applies a change, as a child process that the server's own tools provide no other way for.
    func modify(_ ldif: String) throws {
        stop()
        try SmallFiles.write(ldif, to: folder.path + "/change.ldif")
        let path = folder.path
        let changed = try #require(
            ShellCommand.run("/usr/sbin/slapmodify -f \(path)/slapd.conf -l \(path)/change.ldif 2>&1"))
        try #require(changed.status == 0, "slapmodify: \(String(decoding: changed.output, as: UTF8.self))")
        try start()
    }

    private static func settings(_ path: String) -> String {
        """
        include /etc/ldap/schema/core.schema
        include /etc/ldap/schema/cosine.schema
        include /etc/ldap/schema/nis.schema
        include /etc/ldap/schema/inetorgperson.schema
        modulepath /usr/lib/ldap
        moduleload back_mdb
        moduleload ppolicy
        pidfile \(path)/slapd.pid
        TLSCertificateFile \(path)/server.pem
        TLSCertificateKeyFile \(path)/server.key
        database mdb
        maxsize 10485760
        suffix dc=example,dc=org
        rootdn cn=root,dc=example,dc=org
        rootpw root
        directory \(path)/data
        overlay ppolicy
        access to attrs=userPassword by anonymous auth by * none
        access to * by dn="cn=davit,dc=example,dc=org" read by self read by anonymous auth by * none

        """
    }

    private static let entries = """
        dn: dc=example,dc=org
        objectClass: dcObject
        objectClass: organization
        dc: example
        o: Example

        dn: cn=davit,dc=example,dc=org
        objectClass: simpleSecurityObject
        objectClass: organizationalRole
        cn: davit
        userPassword: search

        dn: uid=anna,dc=example,dc=org
        objectClass: inetOrgPerson
        uid: anna
        cn: Anna
        sn: A
        mail: anna@example.org
        userPassword: secret

        dn: uid=ben,dc=example,dc=org
        objectClass: inetOrgPerson
        uid: ben
        cn: Ben
        sn: B
        mail: shared@example.org
        userPassword: secret

        dn: uid=carl,dc=example,dc=org
        objectClass: inetOrgPerson
        uid: carl
        cn: Carl
        sn: C
        mail: shared@example.org
        userPassword: secret

        dn: uid=d*(x),dc=example,dc=org
        objectClass: inetOrgPerson
        uid: d*(x)
        cn: D
        sn: D
        userPassword: secret

        dn: cn=editors,dc=example,dc=org
        objectClass: groupOfNames
        cn: editors
        member: uid=anna,dc=example,dc=org
        member: uid=ben,dc=example,dc=org

        dn: cn=staff,dc=example,dc=org
        objectClass: posixGroup
        cn: staff
        gidNumber: 100
        memberUid: anna
        memberUid: d*(x)

        """
}
#endif
