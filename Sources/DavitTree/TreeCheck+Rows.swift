#if Postgres
internal import DavitPostgres

/// A check of the rows of the database.
///
/// The statement has one parameter, the id of the share or NULL for all, and reads four columns: the subject of a finding, its
/// text, the id of an affected resource or NULL, and the number of all findings.
private struct RowCheck {
    let kind: TreeFinding.Kind
    let statement: PostgresStatement
}

/// What a check of rows has found.
struct RowSuspicions {
    fileprivate let check: RowCheck
    fileprivate let subjects: Set<String>
    fileprivate let total: Int
}

extension TreeCheck {
    /// Blobs that are staged are left out: they are not published yet.
    private static let rowChecks = [
        RowCheck(
            kind: .wrongReferenceCount,
            statement: """
                SELECT b.id::text, format('the count is %s, but %s resources use the blob', b.reference_count,
                    coalesce(u.uses, 0)), (SELECT min(r.id) FROM resource r WHERE r.blob = b.id), count(*) OVER ()
                FROM blob b LEFT JOIN (
                    SELECT blob, count(*) AS uses FROM resource WHERE blob IS NOT NULL GROUP BY blob
                ) u ON u.blob = b.id
                WHERE b.reference_count <> coalesce(u.uses, 0) AND ($1::bigint IS NULL OR b.share = $1)
                    AND NOT EXISTS (SELECT FROM staged_blob s WHERE s.blob = b.id)
                ORDER BY b.id LIMIT 1000
                """),
        RowCheck(
            kind: .wrongContent,
            statement: """
                SELECT r.id::text, CASE WHEN r.kind = 0 THEN format('the collection has blob %s', r.blob)
                        WHEN r.blob IS NULL THEN format('the resource has %s bytes, but no blob', r.length)
                        WHEN b.id IS NULL THEN format('blob %s does not exist', r.blob)
                        WHEN b.share <> r.share THEN format('blob %s belongs to another share', r.blob)
                        ELSE format('the resource has %s bytes, but blob %s has %s', r.length, r.blob, b.length) END,
                    r.id, count(*) OVER ()
                FROM resource r LEFT JOIN blob b ON b.id = r.blob
                WHERE ($1::bigint IS NULL OR r.share = $1)
                    AND CASE WHEN r.blob IS NULL THEN r.kind <> 0 AND r.length <> 0
                        ELSE r.kind = 0 OR b.id IS NULL OR b.length <> r.length OR b.share <> r.share END
                ORDER BY r.id LIMIT 1000
                """),
        RowCheck(
            kind: .incompleteContent,
            statement: """
                SELECT b.id::text, CASE WHEN c.blob IS NOT NULL AND s.blob IS NOT NULL
                            THEN 'the blob has both segments and bytes in the database'
                        WHEN c.blob IS NOT NULL
                            THEN format('the blob has %s bytes, but %s in the database', b.length, octet_length(c.bytes))
                        WHEN s.blob IS NULL THEN format('the blob has %s bytes, but no content', b.length)
                        WHEN s.has_gap THEN 'the segments of the blob have a gap or overlap'
                        ELSE format('the blob has %s bytes, but its segments end at %s', b.length, s.last) END,
                    (SELECT min(r.id) FROM resource r WHERE r.blob = b.id), count(*) OVER ()
                FROM blob b LEFT JOIN small_content c ON c.blob = b.id LEFT JOIN (
                    SELECT blob, bool_or(start <> previous OR length <= 0) AS has_gap, max(start + length) AS last
                    FROM (
                        SELECT blob, start, length,
                            lag(start + length, 1, 0::bigint) OVER (PARTITION BY blob ORDER BY start) AS previous
                        FROM segment
                    ) piece GROUP BY blob
                ) s ON s.blob = b.id
                WHERE ($1::bigint IS NULL OR b.share = $1)
                    AND CASE WHEN c.blob IS NOT NULL THEN s.blob IS NOT NULL OR octet_length(c.bytes) <> b.length
                        WHEN s.blob IS NULL THEN b.length <> 0
                        ELSE s.has_gap OR s.last <> b.length END
                    AND NOT EXISTS (SELECT FROM staged_blob t WHERE t.blob = b.id)
                ORDER BY b.id LIMIT 1000
                """),
        RowCheck(
            kind: .lostContent,
            statement: """
                SELECT lost.blob::text, format('the database has %s segments of the blob, which does not exist',
                    lost.count), NULL::bigint, count(*) OVER ()
                FROM (
                    SELECT blob, count(*) AS count FROM (
                        SELECT blob FROM segment UNION ALL SELECT blob FROM small_content
                    ) piece
                    WHERE $1::bigint IS NULL AND NOT EXISTS (SELECT FROM blob b WHERE b.id = piece.blob)
                        AND NOT EXISTS (SELECT FROM staged_blob s WHERE s.blob = piece.blob)
                    GROUP BY blob
                ) lost ORDER BY lost.blob LIMIT 1000
                """),
        RowCheck(
            kind: .unreachableResource,
            // Each resource has one parent, so that the recursion reaches it once at most, and ends: cycles are not below a root.
            statement: """
                WITH RECURSIVE reached AS (
                    SELECT id, share FROM resource
                    WHERE parent = 0 AND id <> 0 AND kind = 0 AND ($1::bigint IS NULL OR share = $1)
                        AND key IN ('files', '.davit-trashofthisshare', 'removed')
                    UNION ALL
                    SELECT r.id, r.share FROM reached JOIN resource r ON r.share = reached.share AND r.parent = reached.id
                    WHERE r.kind = 0
                )
                SELECT r.id::text, CASE WHEN r.parent = 0 THEN 'the root is not one that davit creates'
                        WHEN p.id IS NULL THEN format('the parent %s does not exist', r.parent)
                        WHEN p.share <> r.share THEN format('the parent %s belongs to another share', r.parent)
                        WHEN p.kind <> 0 THEN format('the parent %s is not a collection', r.parent)
                        ELSE format('the parent %s is not below a root of the share', r.parent) END,
                    r.id, count(*) OVER ()
                FROM (
                    -- `NOT IN` reads `reached` once, and a join may read it for each resource.
                    SELECT id, share, parent FROM resource
                    WHERE ($1::bigint IS NULL OR share = $1)
                        AND CASE WHEN parent = 0 THEN key NOT IN ('files', '.davit-trashofthisshare', 'removed')
                            ELSE parent NOT IN (SELECT id FROM reached) END
                ) r LEFT JOIN resource p ON p.id = r.parent
                ORDER BY r.id LIMIT 1000
                """),
        RowCheck(
            kind: .lostProperty,
            statement: """
                SELECT lost.resource::text, format('the database has %s properties of the resource, which does not exist',
                    lost.count), NULL::bigint, count(*) OVER ()
                FROM (
                    SELECT resource, count(*) AS count FROM property p
                    WHERE $1::bigint IS NULL AND NOT EXISTS (SELECT FROM resource r WHERE r.id = p.resource)
                    GROUP BY resource
                ) lost ORDER BY lost.resource LIMIT 1000
                """),
        RowCheck(
            kind: .lostLock,
            statement: """
                SELECT l.token::text, format('the locked resource %s does not exist', l.resource), NULL::bigint,
                    count(*) OVER ()
                FROM lock l
                WHERE ($1::bigint IS NULL OR l.share = $1)
                    AND NOT EXISTS (SELECT FROM resource r WHERE r.id = l.resource AND r.share = l.share)
                ORDER BY l.token LIMIT 1000
                """),
        RowCheck(
            kind: .lostTrash,
            statement: """
                SELECT t.id, format('the trashed resource %s does not exist', t.resource), NULL::bigint, count(*) OVER ()
                FROM trash t
                WHERE ($1::bigint IS NULL OR t.share = $1)
                    AND NOT EXISTS (SELECT FROM resource r WHERE r.id = t.resource AND r.share = t.share)
                ORDER BY t.number LIMIT 1000
                """),
    ]

    /// Runs the checks of rows.
    func rowSuspicions() throws(TreeCheckFailure) -> [RowSuspicions] {
        var found: [RowSuspicions] = []
        for check in Self.rowChecks {
            let result = try query(check.statement, .integer(share))
            if result.count == 0 { continue }
            found.append(
                try decode { () throws(PostgresError) in
                    var subjects: Set<String> = []
                    for row in 0..<result.count { subjects.insert(try result.text(row, 0)) }
                    return RowSuspicions(
                        check: check, subjects: subjects, total: Int(try result.integer(0, 3)))
                })
        }
        return found
    }

    /// Runs the checks that have found something once more, and reports what both runs have found.
    func confirm(_ suspicions: [RowSuspicions]) throws(TreeCheckFailure) {
        for suspicion in suspicions {
            let kind = suspicion.check.kind
            let result = try query(suspicion.check.statement, .integer(share))
            if result.count == 0 { continue }
            var reported = 0
            for row in 0..<result.count {
                let (subject, text, resource) = try decode { () throws(PostgresError) in
                    (
                        try result.text(row, 0), try result.text(row, 1),
                        result.isNull(row, 2) ? nil : try result.integer(row, 2)
                    )
                }
                guard suspicion.subjects.contains(subject) else { continue }
                reported += 1
                try report(kind, subject, text) { resource }
            }
            let total = try decode { () throws(PostgresError) in Int(try result.integer(0, 3)) }
            if min(total, suspicion.total) > Self.limit {
                count(kind, min(total, suspicion.total) - reported)
            }
        }
    }
}
#endif
