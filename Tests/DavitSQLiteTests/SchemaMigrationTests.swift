import DavitHTTP
import DavitSQLite
import DavitStore
import DavitWebDAV
import Testing

/// A database written by an earlier version keeps all its rows, and accepts the rows of the newest version.
struct SchemaMigrationTests {
    /// Returns one row for each table of the version, and several if a table has several forms.
    private func rows(of version: Int) -> [StaticString] {
        var rows: [StaticString] = [
            "INSERT INTO resource VALUES (x'2F', x'61', 1, 2, NULL, NULL), (x'2F612F', x'FF', 3, 4, 5, 6)",
            """
            INSERT INTO property VALUES (x'2F', x'61', 'urn:x', 'colour', x'3C612F3E'),
                (x'2F612F', x'FF', 'urn:x', 'colour', x'3C622F3E')
            """,
            """
            INSERT INTO lock (number, token, parent, name, is_infinite, is_exclusive, owner, principal, timeout_seconds,
                expiry, root_href) VALUES (7, 'urn:b', x'2F', x'61', 1, 0, x'3C6F2F3E', 'anna', 60, 70000000000, x'2F61'),
                (8, 'urn:a', x'2F', x'61', 1, 0, NULL, NULL, 60, 80000000000, x'2F61')
            """,
            """
            INSERT INTO intent (id, source, destination, moved_inode, moved_birth, replaced_inode, replaced_birth,
                is_copy, origin, origin_inode, origin_birth, executable) VALUES
                (4, x'61', x'62', 1, 2, 3, 4, 1, x'63', 5, 6, NULL), (5, x'61', x'61', 1, 2, NULL, NULL, 0, NULL, NULL, NULL, 1)
            """,
        ]
        if version >= 4 {
            rows.append(
                """
                INSERT INTO upload (id, folder, name, staged_name, inode, birth, principal, field_lines, options, length,
                    offset, is_unverified, is_complete, expiry) VALUES ('abc', x'2F612F', x'6E', x'2E73', 9, 8, 'anna', x'613A620A', 1, 100, 50, 1, 0,
                    90000000000), ('abd', x'2F', x'6E', x'2E74', 9, 8, NULL, x'', 0, NULL, 0, 0, 1, 90000000000)
                """)
        }
        if version >= 5 { rows.append("UPDATE lock SET created = 5000000000 WHERE token = 'urn:b'") }
        if version >= 6 {
            rows.append(
                "INSERT INTO trash VALUES (3, 'id', x'62', x'63', 1, 2, 6000000000, 'anna', 10, 0, 1)")
        }
        return rows
    }

    @Test(arguments: 1...Schema.migrations.count)
    func rowsOfEarlierVersionsAreKept(version: Int) throws {
        let folder = DatabaseFolder()
        do {
            let connection = try DatabaseConnection(path: folder.database, busyMilliseconds: 0)
            try Schema.migrate(connection, migrations: Array(Schema.migrations.prefix(version)))
            for row in rows(of: version) { try connection.execute(row) }
        }
        do {
            let store = try SQLiteStateStore(folder: folder.path)
            try expectRows(store, version)
            try write(to: store)
        }
        let store = try SQLiteStateStore(folder: folder.path)
        try expectRows(store, version, more: 1)
        #expect(try store.integrityCheck() == [])
    }

    private func expectRows(_ store: SQLiteStateStore, _ version: Int, more: Int = 0) throws {
        let inner = try #require(path("a").appending([0xFF]))
        let records = try store.records(under: path("a"))
        #expect(records.count == 2)
        let record = try #require(records.first { $0.path == inner }).record
        #expect(record.binding.identity == ResourceIdentity(inode: 3, birth: 4))
        #expect(record.binding.pending == ResourceIdentity(inode: 5, birth: 6))
        #expect(record.properties.map(\.value.element) == [Array("<b/>".utf8)])

        let locks = try store.locks().map(\.lock)
        #expect(locks.map(\.token.uri).prefix(2) == ["urn:b", "urn:a"])
        #expect(locks.count == 2 + more)
        #expect(locks[0].principal == "anna" && locks[0].owner?.element == Array("<o/>".utf8))
        #expect(locks[0].expiry == Timestamp(seconds: 70) && locks[0].timeoutSeconds == 60)
        #expect(locks[0].created == (version >= 5 ? Timestamp(seconds: 5) : nil))

        let intents = try store.intents()
        #expect(intents.map(\.id) == (more == 0 ? [4, 5] : [4, 5, 6]))
        #expect(
            intents[0]
                == RenameIntent(
                    id: 4, source: path("a"), destination: path("b"), moved: identity,
                    replaced: ResourceIdentity(inode: 3, birth: 4), isCopy: true,
                    origin: RenameIntent.Origin(
                        path: path("c"), identity: ResourceIdentity(inode: 5, birth: 6))))
        #expect(intents[1].attributes == ResourceAttributes(isExecutable: true))

        let uploads = try store.uploads()
        #expect(uploads.count == (version >= 4 ? 2 : 0) + more)
        if version >= 4 {
            let upload = try #require(uploads.first { $0.id == "abc" })
            #expect(upload.collection == path("a") && upload.principal == "anna")
            #expect(upload.progress == progress(length: 100, offset: 50, isUnverified: true))
        }
        let trash = try store.trash(after: 0, limit: 9)
        #expect(trash.count == (version >= 6 ? 1 : 0) + more)
        if version >= 6 { #expect(trash[0].id == "id" && trash[0].reason == .overwritten) }
    }

    private func progress(length: Int64?, offset: Int64, isUnverified: Bool) -> UploadRecord.Progress {
        UploadRecord.Progress(
            length: length, offset: offset, isUnverified: isUnverified, expiry: Timestamp(seconds: 90))
    }

    /// Adds another row of every kind, including those that only the newest version supports.
    private func write(to store: SQLiteStateStore) throws {
        let lock = Lock(
            token: LockToken(uri: "urn:c"), root: path("a"), depth: .infinity, scope: .shared, owner: nil,
            principal: nil, timeoutSeconds: 60, expiry: Timestamp(seconds: 60), rootHref: [])
        let upload = UploadRecord(
            id: "new", collection: path("a"), name: [1], stagedName: [2], identity: identity, principal: nil,
            fieldLines: [], options: [], progress: progress(length: nil, offset: 0, isUnverified: false))
        let entry = TrashEntry(
            number: 9, id: "new", path: path("z"), location: path("y"), identity: identity,
            deleted: Timestamp(seconds: 1), principal: nil, length: nil, isCollection: true, reason: .deleted)
        try store.apply([
            .addLock(lock), .putUpload(upload), .putTrash(entry),
            .putIntent(
                RenameIntent(
                    id: 6, source: path("a"), destination: path("b"), moved: identity, replaced: nil,
                    isCopy: false, kept: path("k"))),
        ])
    }
}
