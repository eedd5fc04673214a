#if Postgres
/// The tables, and the migrations from older versions.
///
/// Names of resources are `bytea`, because they need not be UTF-8. Times that clients see are `bigint`, in nanoseconds since
/// 1970 in UTC. Times that decide whether something is expired are `timestamptz`, and are compared with
/// `clock_timestamp()`. There are no foreign keys to `resource`: checking one locks the row, and the rows of collections
/// near the root would be locked by each change.
enum PostgresSchema {
    /// The migration at index `n` converts version `n` to version `n + 1`. Migrations are only appended, never edited.
    static let migrations: [StaticString] = [
        """
        -- One row. The folder or bucket with the content carries the same id, so that it belongs to one database only.
        CREATE TABLE database (id uuid NOT NULL, created timestamptz NOT NULL);
        INSERT INTO database VALUES (gen_random_uuid(), clock_timestamp());

        -- The running davit processes.
        CREATE TABLE node (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            name text NOT NULL,
            started timestamptz NOT NULL DEFAULT clock_timestamp(),
            seen timestamptz NOT NULL DEFAULT clock_timestamp()
        );

        -- A transaction that may have to be looked for after its connection was lost.
        CREATE TABLE commit_marker (
            key uuid PRIMARY KEY,
            -- False if a node looked for the transaction before it committed, which it therefore cannot do any more.
            is_committed boolean NOT NULL,
            created timestamptz NOT NULL DEFAULT clock_timestamp()
        );
        CREATE INDEX commit_marker_created ON commit_marker (created);

        -- Keys that all nodes use, such as those of session tickets.
        CREATE TABLE secret (
            name text NOT NULL,
            created timestamptz NOT NULL DEFAULT clock_timestamp(),
            value bytea NOT NULL,
            PRIMARY KEY (name, created)
        );

        CREATE TABLE share (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            name text NOT NULL UNIQUE,
            -- Identifies the numbers in `change` to clients.
            journal uuid NOT NULL DEFAULT gen_random_uuid(),
            -- Changes before this transaction are no longer in `change`.
            first_change xid8 NOT NULL DEFAULT '0'
        );

        CREATE TABLE resource (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            share bigint NOT NULL,
            -- 0 for the roots of a share: what it contains, its trash, and what is being removed.
            parent bigint NOT NULL,
            -- The name in Unicode normalization form C, so that equivalent names are one name.
            key bytea NOT NULL,
            -- The name as the client wrote it.
            name bytea NOT NULL,
            -- 0 collection, 1 content.
            kind smallint NOT NULL,
            length bigint NOT NULL DEFAULT 0,
            modified bigint NOT NULL,
            created bigint NOT NULL,
            -- Rises with each change of the content; part of the entity tag.
            version bigint NOT NULL DEFAULT 1,
            -- NULL for collections and empty content.
            blob bigint,
            is_executable boolean NOT NULL DEFAULT false,
            has_properties boolean NOT NULL DEFAULT false,
            content_language text
        ) WITH (fillfactor = 80);
        CREATE UNIQUE INDEX resource_name ON resource (share, parent, key);
        CREATE INDEX resource_blob ON resource (blob) WHERE blob IS NOT NULL;

        CREATE TABLE property (
            resource bigint NOT NULL,
            namespace text NOT NULL,
            local text NOT NULL,
            element bytea NOT NULL,
            PRIMARY KEY (resource, namespace, local)
        );

        CREATE TABLE lock (
            token uuid PRIMARY KEY,
            -- The order in which the locks were created.
            number bigint GENERATED ALWAYS AS IDENTITY,
            share bigint NOT NULL,
            resource bigint NOT NULL,
            -- The collections above the resource. They do not change, because a lock does not move (RFC 4918 section 7.5).
            ancestors bigint[] NOT NULL,
            is_infinite boolean NOT NULL,
            is_exclusive boolean NOT NULL,
            owner bytea,
            principal text,
            network text,
            timeout_seconds bigint NOT NULL,
            created timestamptz NOT NULL DEFAULT clock_timestamp(),
            expiry timestamptz NOT NULL,
            root_href bytea NOT NULL
        );
        CREATE INDEX lock_resource ON lock (resource);
        CREATE INDEX lock_ancestors ON lock USING gin (ancestors);
        CREATE INDEX lock_expiry ON lock (expiry);

        CREATE TABLE trash (
            number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            id text NOT NULL,
            share bigint NOT NULL,
            -- Its parent is the root of the trash.
            resource bigint NOT NULL UNIQUE,
            -- Where it was.
            path bytea NOT NULL,
            deleted timestamptz NOT NULL DEFAULT clock_timestamp(),
            principal text,
            -- NULL until a collection is measured.
            length bigint,
            is_collection boolean NOT NULL,
            is_overwritten boolean NOT NULL,
            UNIQUE (share, id)
        );
        CREATE INDEX trash_deleted ON trash (share, deleted) INCLUDE (length);

        -- Content. Blobs never change; a copy uses the blob of its source.
        CREATE TABLE blob (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            share bigint NOT NULL,
            length bigint NOT NULL,
            digest bytea,
            -- The number of resources and trashed versions.
            reference_count bigint NOT NULL DEFAULT 0,
            -- When the last reference was removed.
            unreferenced timestamptz
        );
        CREATE INDEX blob_unreferenced ON blob (unreferenced) WHERE reference_count = 0;

        -- The content of a small blob. Larger ones have segments.
        CREATE TABLE small_content (blob bigint PRIMARY KEY, bytes bytea NOT NULL);
        ALTER TABLE small_content ALTER bytes SET STORAGE EXTERNAL;

        CREATE TABLE segment (
            blob bigint NOT NULL,
            -- The position in the blob.
            start bigint NOT NULL,
            length bigint NOT NULL,
            -- The name of the file or object with the bytes. Blobs with a part in common share it.
            object uuid NOT NULL,
            -- The position in the object.
            object_start bigint NOT NULL DEFAULT 0,
            -- Of the whole object.
            digest bytea NOT NULL,
            PRIMARY KEY (blob, start)
        );
        CREATE INDEX segment_object ON segment (object);

        -- Blobs that no resource uses yet. A change that uses one deletes the row, and fails if it is gone.
        CREATE TABLE staged_blob (
            blob bigint PRIMARY KEY,
            node bigint NOT NULL,
            created timestamptz NOT NULL DEFAULT clock_timestamp(),
            -- NULL if the blob is given up when its node is gone.
            expiry timestamptz
        );
        CREATE INDEX staged_blob_node ON staged_blob (node);

        -- Objects that were removed and are removed once more later, because an upload may end after the removal.
        CREATE TABLE removed_object (
            object uuid PRIMARY KEY,
            share bigint NOT NULL,
            removed timestamptz NOT NULL DEFAULT clock_timestamp()
        );
        CREATE INDEX removed_object_removed ON removed_object (removed);

        CREATE TABLE upload (
            id text PRIMARY KEY,
            share bigint NOT NULL,
            parent bigint NOT NULL,
            name bytea NOT NULL,
            blob bigint NOT NULL,
            -- Rises when a request takes over the upload. Others can no longer append then.
            turn bigint NOT NULL DEFAULT 0,
            principal text,
            network text,
            field_lines bytea NOT NULL,
            options bigint NOT NULL,
            length bigint,
            received bigint NOT NULL,
            is_unverified boolean NOT NULL,
            is_complete boolean NOT NULL,
            expiry timestamptz NOT NULL
        );
        CREATE INDEX upload_parent ON upload (share, parent);
        CREATE INDEX upload_expiry ON upload (expiry);

        -- The journal. A row with a large xid may become visible before one with a smaller xid, see PostgresChanges.
        CREATE TABLE change (
            share bigint NOT NULL,
            xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
            number bigint GENERATED ALWAYS AS IDENTITY,
            resource bigint NOT NULL,
            parent bigint NOT NULL,
            name bytea NOT NULL,
            -- 0 created or changed, 1 removed, 2 created with all members, 3 locks.
            kind smallint NOT NULL,
            PRIMARY KEY (share, xid, number)
        );

        CREATE TABLE account (
            name text PRIMARY KEY,
            secret text NOT NULL,
            is_enabled boolean NOT NULL
        );
        CREATE TABLE user_group (name text PRIMARY KEY);
        CREATE TABLE member (
            user_group text NOT NULL,
            account text NOT NULL,
            PRIMARY KEY (user_group, account)
        );
        CREATE INDEX member_account ON member (account);

        -- One row. Nodes compare it with the generation of what they remember of accounts, groups and rules.
        CREATE TABLE account_generation (generation bigint NOT NULL);
        INSERT INTO account_generation VALUES (0);

        -- Rules belong to the resource and not to its path, so that they move with it.
        CREATE TABLE rule (
            resource bigint NOT NULL,
            -- `user`, `group`, `everyone` or `anonymous`.
            subject text NOT NULL,
            -- The name of the user or group; empty for the others.
            name text NOT NULL,
            -- The names of the rights, or of a preset.
            rights text NOT NULL,
            PRIMARY KEY (resource, subject, name)
        );

        CREATE TABLE app_password (
            id text PRIMARY KEY,
            account text NOT NULL,
            -- The name of the device or program.
            label text NOT NULL,
            secret text NOT NULL,
            -- The folder that the password is limited to, and the rights in it; both or none are NULL.
            resource bigint,
            rights text,
            created timestamptz NOT NULL DEFAULT clock_timestamp(),
            -- NULL if the password does not expire.
            expiry timestamptz,
            -- NULL if the password was not used.
            used timestamptz,
            used_from text
        );
        CREATE INDEX app_password_account ON app_password (account);

        CREATE TABLE session (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            token_hash bytea NOT NULL UNIQUE,
            account text NOT NULL,
            created timestamptz NOT NULL DEFAULT clock_timestamp(),
            used timestamptz NOT NULL DEFAULT clock_timestamp(),
            -- The address of the last use.
            address text NOT NULL,
            -- What the browser reported about itself.
            agent text NOT NULL
        );
        CREATE INDEX session_account ON session (account);

        CREATE TABLE second_factor (
            account text PRIMARY KEY,
            secret bytea NOT NULL,
            created timestamptz NOT NULL DEFAULT clock_timestamp(),
            -- The time step of the last accepted code; no code of this step or an earlier one is accepted.
            used_step bigint NOT NULL
        );
        CREATE TABLE recovery_code (
            account text NOT NULL,
            code_hash bytea NOT NULL,
            PRIMARY KEY (account, code_hash)
        );

        -- Triggers, so that no way to change an account leaves its sessions behind.
        CREATE FUNCTION end_sessions() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            DELETE FROM session WHERE account = OLD.name;
            IF TG_OP = 'DELETE' THEN
                DELETE FROM second_factor WHERE account = OLD.name;
                DELETE FROM recovery_code WHERE account = OLD.name;
            END IF;
            RETURN NULL;
        END $$;
        CREATE TRIGGER account_removed AFTER DELETE ON account FOR EACH ROW EXECUTE FUNCTION end_sessions();
        CREATE TRIGGER account_changed AFTER UPDATE OF secret, is_enabled ON account FOR EACH ROW
            WHEN (OLD.secret <> NEW.secret OR NOT NEW.is_enabled) EXECUTE FUNCTION end_sessions();
        CREATE FUNCTION remove_recovery_codes() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            DELETE FROM recovery_code WHERE account = OLD.account;
            RETURN NULL;
        END $$;
        CREATE TRIGGER second_factor_removed AFTER DELETE ON second_factor FOR EACH ROW
            EXECUTE FUNCTION remove_recovery_codes();

        -- The resources along a path, from the root to the last name that exists. A function, because its plan does not
        -- depend on statistics, as the plan of a join does.
        CREATE FUNCTION resolve_path(root bigint, keys bytea[])
        RETURNS TABLE (depth integer, member resource) LANGUAGE plpgsql STABLE AS $$
        DECLARE next_key bytea;
        BEGIN
            SELECT * INTO member FROM resource r WHERE r.id = root;
            IF NOT FOUND THEN RETURN; END IF;
            depth := 0;
            RETURN NEXT;
            FOREACH next_key IN ARRAY keys LOOP
                SELECT * INTO member FROM resource r
                WHERE r.share = member.share AND r.parent = member.id AND r.key = next_key;
                EXIT WHEN NOT FOUND;
                depth := depth + 1;
                RETURN NEXT;
            END LOOP;
        END $$;
        """,
        """
        -- The objects of staged blobs. A row is inserted before its object is stored.
        CREATE TABLE staged_object (object uuid PRIMARY KEY, blob bigint NOT NULL);
        CREATE INDEX staged_object_blob ON staged_object (blob);

        -- Whether the object has been removed once.
        ALTER TABLE removed_object ADD is_removed boolean NOT NULL DEFAULT false;

        CREATE INDEX lock_client ON lock (share, coalesce(principal, network, ''));

        -- Ends the staging of a blob. Fails if the collector has taken it.
        CREATE FUNCTION adopt_blob(blob_id bigint, node_id bigint) RETURNS void LANGUAGE plpgsql AS $$
        BEGIN
            DELETE FROM staged_blob WHERE blob = blob_id AND node = node_id;
            IF NOT FOUND THEN
                RAISE 'the content was given up, because this node did not respond for a long time';
            END IF;
            -- Objects that were overwritten before the end are left to the collector.
            DELETE FROM staged_object o
            WHERE o.blob = blob_id AND EXISTS (SELECT FROM segment s WHERE s.object = o.object);
        END $$;

        -- Removes blobs that lost their last reference some time ago. Their objects are left to be removed, unless other blobs
        -- use them.
        CREATE FUNCTION remove_unreferenced_blobs(share_id bigint, age_seconds bigint, row_limit bigint)
        RETURNS void LANGUAGE sql AS $$
            WITH doomed AS (
                SELECT id FROM blob WHERE share = share_id AND reference_count = 0
                    AND unreferenced < clock_timestamp() - age_seconds * interval '1 second'
                LIMIT row_limit FOR UPDATE SKIP LOCKED
            ), pieces AS (
                DELETE FROM segment WHERE blob IN (SELECT id FROM doomed) RETURNING object
            ), small AS (
                DELETE FROM small_content WHERE blob IN (SELECT id FROM doomed)
            ), blobs AS (
                DELETE FROM blob WHERE id IN (SELECT id FROM doomed)
            )
            INSERT INTO removed_object (object, share)
            SELECT DISTINCT object, share_id FROM pieces p
            WHERE NOT EXISTS (
                SELECT FROM segment s WHERE s.object = p.object AND s.blob NOT IN (SELECT id FROM doomed))
            ON CONFLICT (object) DO NOTHING
        $$;

        -- Removes resources whose parent is `root`. The members of a collection take its place, so that there is no recursion.
        -- Returns how many rows were moved or removed.
        CREATE FUNCTION remove_detached(share_id bigint, root bigint, row_limit bigint)
        RETURNS bigint LANGUAGE plpgsql AS $$
        DECLARE
            doomed resource;
            done bigint := 0;
            moved bigint;
        BEGIN
            FOR doomed IN
                SELECT * FROM resource WHERE share = share_id AND parent = root ORDER BY key LIMIT row_limit
                FOR UPDATE SKIP LOCKED
            LOOP
                EXIT WHEN done >= row_limit;
                IF doomed.kind = 0 THEN
                    UPDATE resource SET parent = root, key = convert_to(id::text, 'UTF8'),
                        name = convert_to(id::text, 'UTF8')
                    WHERE id IN (
                        SELECT id FROM resource WHERE share = share_id AND parent = doomed.id LIMIT row_limit - done);
                    GET DIAGNOSTICS moved = ROW_COUNT;
                    done := done + moved;
                    CONTINUE WHEN EXISTS (SELECT FROM resource WHERE share = share_id AND parent = doomed.id);
                ELSIF doomed.blob IS NOT NULL THEN
                    UPDATE blob SET reference_count = reference_count - 1, unreferenced = clock_timestamp()
                    WHERE id = doomed.blob;
                END IF;
                DELETE FROM property WHERE resource = doomed.id;
                DELETE FROM lock WHERE resource = doomed.id;
                DELETE FROM rule WHERE resource = doomed.id;
                DELETE FROM resource WHERE id = doomed.id;
                done := done + 1;
            END LOOP;
            RETURN done;
        END $$;

        -- Copies a resource, with its members except `omitted`. The content is not copied.
        CREATE FUNCTION copy_tree(
            share_id bigint, source bigint, new_id bigint, new_parent bigint, new_key bytea, new_name bytea,
            new_modified bigint, new_created bigint, has_members boolean, omitted bigint[]
        ) RETURNS void LANGUAGE sql AS $$
            WITH RECURSIVE tree AS (
                SELECT r.id AS old, new_id AS new, new_parent AS parent, new_key AS key, new_name AS name
                FROM resource r WHERE r.id = source
                UNION ALL
                SELECT r.id, nextval('resource_id_seq'), t.new, r.key, r.name
                FROM tree t JOIN resource r ON r.share = share_id AND r.parent = t.old
                WHERE has_members AND r.id <> ALL (omitted)
            ), copies AS (
                INSERT INTO resource (id, share, parent, key, name, kind, length, modified, created, blob, is_executable,
                    has_properties, content_language)
                OVERRIDING SYSTEM VALUE
                SELECT t.new, share_id, t.parent, t.key, t.name, r.kind, r.length, coalesce(new_modified, r.modified),
                    new_created, r.blob, r.is_executable, r.has_properties, r.content_language
                FROM tree t JOIN resource r ON r.id = t.old
            ), properties AS (
                -- Checksums belong to the entity tag of the source, and a copy has a creation date of its own (RFC 4918 §15.1).
                INSERT INTO property (resource, namespace, local, element)
                SELECT t.new, p.namespace, p.local, p.element FROM tree t JOIN property p ON p.resource = t.old
                WHERE (p.namespace, p.local) NOT IN (
                    ('DAV:', 'creationdate'), ('http://owncloud.org/ns', 'checksums'))
            )
            UPDATE blob SET reference_count = reference_count + used.count
            FROM (
                SELECT r.blob, count(*) AS count FROM tree t JOIN resource r ON r.id = t.old
                WHERE r.blob IS NOT NULL GROUP BY r.blob
            ) used WHERE blob.id = used.blob
        $$;
        """,
        """
        -- What an upload has received after its last object, as of the end of a request: few bytes.
        ALTER TABLE upload ADD rest bytea NOT NULL DEFAULT '', ADD charged_bytes bigint NOT NULL DEFAULT 0;
        ALTER TABLE upload ALTER rest SET STORAGE EXTERNAL;
        CREATE UNIQUE INDEX upload_blob ON upload (blob);

        -- The path of a resource, from one of the roots of its share down. Nothing if a collection above it is missing.
        CREATE FUNCTION path_of(resource_id bigint)
        RETURNS TABLE (root bigint, path bytea) LANGUAGE plpgsql STABLE AS $$
        DECLARE
            above bigint;
            segment bytea;
        BEGIN
            root := resource_id;
            FOR level IN 0..100000 LOOP
                SELECT r.parent, r.name INTO above, segment FROM resource r WHERE r.id = root;
                IF NOT FOUND THEN RETURN; END IF;
                IF above = 0 THEN
                    path := coalesce(path, '');
                    RETURN NEXT;
                    RETURN;
                END IF;
                path := segment || coalesce('/'::bytea || path, '');
                root := above;
            END LOOP;
        END $$;

        -- Removes resources whose parent is `root`. The members of a collection take its place, so that there is no recursion.
        -- Returns how many rows were moved or removed.
        CREATE OR REPLACE FUNCTION remove_detached(share_id bigint, root bigint, row_limit bigint)
        RETURNS bigint LANGUAGE plpgsql AS $$
        DECLARE
            doomed resource;
            done bigint := 0;
            moved bigint;
        BEGIN
            FOR doomed IN
                SELECT * FROM resource WHERE share = share_id AND parent = root ORDER BY key LIMIT row_limit
                FOR UPDATE SKIP LOCKED
            LOOP
                EXIT WHEN done >= row_limit;
                IF doomed.kind = 0 THEN
                    UPDATE resource SET parent = root, key = convert_to(id::text, 'UTF8'),
                        name = convert_to(id::text, 'UTF8')
                    WHERE id IN (
                        SELECT id FROM resource WHERE share = share_id AND parent = doomed.id LIMIT row_limit - done);
                    GET DIAGNOSTICS moved = ROW_COUNT;
                    done := done + moved;
                    CONTINUE WHEN EXISTS (SELECT FROM resource WHERE share = share_id AND parent = doomed.id);
                    DELETE FROM upload WHERE share = share_id AND parent = doomed.id;
                    DELETE FROM journal_collection WHERE share = share_id AND collection = doomed.id;
                    DELETE FROM member_change WHERE share = share_id AND parent = doomed.id;
                ELSIF doomed.blob IS NOT NULL THEN
                    UPDATE blob SET reference_count = reference_count - 1, unreferenced = clock_timestamp()
                    WHERE id = doomed.blob;
                END IF;
                DELETE FROM property WHERE resource = doomed.id;
                DELETE FROM lock WHERE resource = doomed.id;
                DELETE FROM resource WHERE id = doomed.id;
                done := done + 1;
            END LOOP;
            RETURN done;
        END $$;

        -- Accounts, in the columns of the database of accounts of a share in a folder, so that the statements are the same.
        -- Times are in seconds since 1970.
        DROP TABLE account, user_group, member, account_generation, rule, app_password, session, second_factor, recovery_code;
        DROP FUNCTION end_sessions(), remove_recovery_codes();

        -- One row. Rises with each change of accounts, groups or rules, except uses of credentials.
        CREATE TABLE account_generation (generation bigint NOT NULL);
        INSERT INTO account_generation VALUES (0);

        CREATE TABLE account (
            name text COLLATE "C" PRIMARY KEY,
            secret text NOT NULL,
            -- 0 or 1.
            is_enabled bigint NOT NULL
        );
        CREATE TABLE user_group (name text COLLATE "C" PRIMARY KEY);
        CREATE TABLE member (
            user_group text COLLATE "C" NOT NULL,
            account text COLLATE "C" NOT NULL,
            PRIMARY KEY (user_group, account)
        );
        CREATE INDEX member_account ON member (account);
        CREATE TABLE app_password (
            id text COLLATE "C" PRIMARY KEY,
            account text COLLATE "C" NOT NULL,
            label text NOT NULL,
            secret text NOT NULL,
            path bytea,
            rights text,
            created bigint NOT NULL,
            expiry bigint,
            used bigint,
            used_from text
        );
        CREATE INDEX app_password_account ON app_password (account);
        CREATE TABLE session (
            id bigint PRIMARY KEY,
            token_hash bytea NOT NULL,
            account text COLLATE "C" NOT NULL,
            created bigint NOT NULL,
            used bigint NOT NULL,
            address text NOT NULL,
            agent text NOT NULL
        );
        CREATE INDEX session_account ON session (account);
        CREATE TABLE second_factor (
            account text COLLATE "C" PRIMARY KEY,
            secret bytea NOT NULL,
            created bigint NOT NULL,
            used_step bigint NOT NULL
        );
        CREATE TABLE recovery_code (
            account text COLLATE "C" NOT NULL,
            code_hash bytea NOT NULL,
            PRIMARY KEY (account, code_hash)
        );

        -- The rules of all shares. The statements use views of those of one share.
        CREATE TABLE share_rule (
            share bigint NOT NULL DEFAULT current_setting('davit.share')::bigint,
            path bytea NOT NULL,
            subject text COLLATE "C" NOT NULL,
            name text COLLATE "C" NOT NULL,
            rights text NOT NULL,
            PRIMARY KEY (share, subject, name, path)
        );
        CREATE VIEW rule AS SELECT path, subject, name, rights FROM share_rule
            WHERE share = current_setting('davit.share')::bigint;
        CREATE TABLE share_trashed_rule (
            share bigint NOT NULL DEFAULT current_setting('davit.share')::bigint,
            entry text COLLATE "C" NOT NULL,
            folder bytea NOT NULL,
            path bytea NOT NULL,
            subject text COLLATE "C" NOT NULL,
            name text COLLATE "C" NOT NULL,
            rights text NOT NULL,
            PRIMARY KEY (share, entry, subject, name, path)
        );
        CREATE VIEW trashed_rule AS SELECT entry, folder, path, subject, name, rights FROM share_trashed_rule
            WHERE share = current_setting('davit.share')::bigint;
        CREATE TABLE share_rule_move (
            share bigint NOT NULL DEFAULT current_setting('davit.share')::bigint,
            -- Another node ends the move if this one is gone.
            node bigint NOT NULL DEFAULT current_setting('davit.node')::bigint,
            id bigint NOT NULL,
            source_path bytea,
            source_entry text COLLATE "C",
            destination_path bytea,
            destination_entry text COLLATE "C",
            retained_entry text COLLATE "C",
            PRIMARY KEY (share, id)
        );
        CREATE VIEW rule_move AS
            SELECT id, source_path, source_entry, destination_path, destination_entry, retained_entry
            FROM share_rule_move WHERE share = current_setting('davit.share')::bigint;

        -- Triggers, so that no way to change an account leaves its sessions behind, nor rules in another share.
        CREATE FUNCTION account_changed() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            DELETE FROM session WHERE account = OLD.name;
            IF TG_OP = 'DELETE' THEN
                DELETE FROM second_factor WHERE account = OLD.name;
                DELETE FROM share_rule WHERE subject = 'user' AND name = OLD.name;
                DELETE FROM share_trashed_rule WHERE subject = 'user' AND name = OLD.name;
            END IF;
            RETURN NULL;
        END $$;
        CREATE TRIGGER account_removed AFTER DELETE ON account FOR EACH ROW EXECUTE FUNCTION account_changed();
        CREATE TRIGGER account_changed AFTER UPDATE OF secret, is_enabled ON account FOR EACH ROW
            WHEN (OLD.secret <> NEW.secret OR NEW.is_enabled = 0) EXECUTE FUNCTION account_changed();
        CREATE FUNCTION group_removed() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            DELETE FROM share_rule WHERE subject = 'group' AND name = OLD.name;
            DELETE FROM share_trashed_rule WHERE subject = 'group' AND name = OLD.name;
            RETURN NULL;
        END $$;
        CREATE TRIGGER group_removed AFTER DELETE ON user_group FOR EACH ROW EXECUTE FUNCTION group_removed();
        CREATE FUNCTION second_factor_removed() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            DELETE FROM recovery_code WHERE account = OLD.account;
            RETURN NULL;
        END $$;
        CREATE TRIGGER second_factor_removed AFTER DELETE ON second_factor FOR EACH ROW
            EXECUTE FUNCTION second_factor_removed();

        -- The journal. `change` is only its input: a node that reads the journal gives the changes that are committed by then
        -- the next numbers, one node at a time, so that no change ever becomes visible before one with a lower number.
        ALTER TABLE share
            -- Whether the journal is in use. If not, changes are discarded.
            ADD is_journaled boolean NOT NULL DEFAULT false,
            ADD journal_used timestamptz,
            ADD last_number bigint NOT NULL DEFAULT 0,
            -- Removals up to this number are no longer known.
            ADD forgotten_number bigint NOT NULL DEFAULT 0,
            DROP first_change;

        -- The last change of each member, including members that were removed.
        CREATE TABLE member_change (
            share bigint NOT NULL,
            parent bigint NOT NULL,
            key bytea NOT NULL,
            name bytea NOT NULL,
            -- 0 if the member was removed.
            resource bigint NOT NULL,
            is_collection boolean NOT NULL,
            number bigint NOT NULL,
            -- The number of the change that gave the name to this resource; 0 if it was before the journal began.
            placed bigint NOT NULL,
            -- The number of the change that gave the name of a collection to another resource.
            replaced bigint,
            -- The number of the last change of its locks.
            locks bigint,
            PRIMARY KEY (share, parent, key)
        );
        CREATE UNIQUE INDEX member_change_number ON member_change (share, number);
        CREATE INDEX member_change_parent ON member_change (share, parent, number);
        CREATE INDEX member_change_removed ON member_change (share, number) WHERE resource = 0;
        CREATE INDEX member_change_replaced ON member_change (share, replaced) WHERE replaced IS NOT NULL;

        CREATE INDEX member_change_locks ON member_change (share, locks) WHERE locks IS NOT NULL;

        -- The collections that clients have asked about. All of their members have a row in `member_change` once they are
        -- listed.
        CREATE TABLE journal_collection (
            share bigint NOT NULL,
            collection bigint NOT NULL,
            -- Whether clients have asked about everything below it.
            is_deep boolean NOT NULL,
            is_listed boolean NOT NULL DEFAULT false,
            -- The last member that was listed.
            after_key bytea NOT NULL DEFAULT '',
            PRIMARY KEY (share, collection)
        );
        CREATE INDEX journal_collection_unlisted ON journal_collection (share) WHERE NOT is_listed;
        """,
        """
        -- The planner cannot know how many members a tree has, and would read whole tables, which takes longer than
        -- `statement_timeout` in a large database. Each row is found by an index instead.
        CREATE OR REPLACE FUNCTION copy_tree(
            share_id bigint, source bigint, new_id bigint, new_parent bigint, new_key bytea, new_name bytea,
            new_modified bigint, new_created bigint, has_members boolean, omitted bigint[]
        ) RETURNS void LANGUAGE sql
        SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
            WITH RECURSIVE tree AS (
                SELECT r.id AS old, new_id AS new, new_parent AS parent, new_key AS key, new_name AS name, r.kind, r.length, r.modified,
                    r.blob, r.is_executable, r.has_properties, r.content_language
                FROM resource r WHERE r.id = source
                UNION ALL
                SELECT r.id, nextval('resource_id_seq'), t.new, r.key, r.name, r.kind, r.length, r.modified, r.blob, r.is_executable,
                    r.has_properties, r.content_language
                FROM tree t CROSS JOIN LATERAL (
                    SELECT * FROM resource m WHERE m.share = share_id AND m.parent = t.old OFFSET 0
                ) r
                WHERE has_members AND t.kind = 0 AND r.id <> ALL (omitted)
            ), copies AS (
                INSERT INTO resource (id, share, parent, key, name, kind, length, modified, created, blob, is_executable,
                    has_properties, content_language)
                OVERRIDING SYSTEM VALUE
                SELECT t.new, share_id, t.parent, t.key, t.name, t.kind, t.length, coalesce(new_modified, t.modified), new_created,
                    t.blob, t.is_executable, t.has_properties, t.content_language
                FROM tree t
            ), properties AS (
                -- Checksums belong to the entity tag of the source, and a copy has a creation date of its own (RFC 4918 §15.1).
                INSERT INTO property (resource, namespace, local, element)
                SELECT t.new, p.namespace, p.local, p.element
                FROM tree t CROSS JOIN LATERAL (SELECT * FROM property o WHERE o.resource = t.old OFFSET 0) p
                WHERE t.has_properties AND (p.namespace, p.local) NOT IN (
                    ('DAV:', 'creationdate'), ('http://owncloud.org/ns', 'checksums'))
            )
            UPDATE blob SET reference_count = reference_count + used.count
            FROM (SELECT t.blob, count(*) AS count FROM tree t WHERE t.blob IS NOT NULL GROUP BY t.blob) used
            WHERE blob.id = used.blob
        $$;

        -- Nodes look for sessions that others have begun.
        CREATE INDEX session_token ON session (token_hash);

        -- Only one node at a time: two that remove blobs with an object in common would each leave the object to the other one.
        CREATE OR REPLACE FUNCTION remove_unreferenced_blobs(share_id bigint, age_seconds bigint, row_limit bigint)
        RETURNS void LANGUAGE plpgsql AS $$
        BEGIN
            IF NOT pg_try_advisory_xact_lock(1684108905, 3) THEN RETURN; END IF;
            WITH doomed AS (
                SELECT id FROM blob WHERE share = share_id AND reference_count = 0
                    AND unreferenced < clock_timestamp() - age_seconds * interval '1 second'
                LIMIT row_limit FOR UPDATE SKIP LOCKED
            ), pieces AS (
                DELETE FROM segment WHERE blob IN (SELECT id FROM doomed) RETURNING object
            ), small AS (
                DELETE FROM small_content WHERE blob IN (SELECT id FROM doomed)
            ), blobs AS (
                DELETE FROM blob WHERE id IN (SELECT id FROM doomed)
            )
            INSERT INTO removed_object (object, share)
            SELECT DISTINCT object, share_id FROM pieces p
            WHERE NOT EXISTS (
                SELECT FROM segment s WHERE s.object = p.object AND s.blob NOT IN (SELECT id FROM doomed))
            ON CONFLICT (object) DO NOTHING;
        END $$;
        """,
        """
        -- Transactions that change the same blobs lock them in the order of their ids, so that they do not wait for each other.
        -- Statements that look for old rows compare with a subquery: an index is not used for `clock_timestamp()` itself.

        -- The height of a tree depends on its collections only.
        CREATE INDEX resource_collections ON resource (share, parent) WHERE kind = 0;
        CREATE INDEX removed_object_pending ON removed_object (share) WHERE NOT is_removed;
        -- A copy only changes the counts of blobs, so that no index may depend on them, and pages need room: then no
        -- index is written. `unreferenced` is NULL for blobs that are in use.
        ALTER TABLE blob SET (fillfactor = 50);
        DROP INDEX blob_unreferenced;
        UPDATE blob SET unreferenced = NULL WHERE unreferenced IS NOT NULL AND reference_count > 0;
        CREATE INDEX blob_unreferenced ON blob (unreferenced) WHERE unreferenced IS NOT NULL;
        -- The size of all content.
        CREATE INDEX blob_length ON blob (share) INCLUDE (length);

        -- Removes resources whose parent is `root`. The collections below a collection take its place, so that there is no
        -- recursion. Returns how many rows were moved or removed.
        CREATE OR REPLACE FUNCTION remove_detached(share_id bigint, root bigint, row_limit bigint)
        RETURNS bigint LANGUAGE plpgsql
        SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
        DECLARE
            collections bigint[];
            doomed bigint[];
            moved bigint;
            ended bigint[];
        BEGIN
            SELECT coalesce(array_agg(id) FILTER (WHERE kind = 0), '{}'), coalesce(array_agg(id) FILTER (WHERE kind <> 0), '{}')
            INTO collections, doomed
            FROM (
                SELECT id, kind FROM resource WHERE share = share_id AND parent = root ORDER BY key LIMIT row_limit
                FOR UPDATE SKIP LOCKED
            ) found;
            -- Collections below them take their place, so that there is no recursion. Other members are removed where they are.
            WITH found AS MATERIALIZED (
                SELECT m.id, m.kind FROM unnest(collections) c (id) CROSS JOIN LATERAL (
                    SELECT id, kind FROM resource WHERE share = share_id AND parent = c.id ORDER BY key LIMIT row_limit
                ) m LIMIT greatest(row_limit - cardinality(doomed), 1)
            ), moves AS (
                UPDATE resource SET parent = root, key = convert_to(id::text, 'UTF8'), name = convert_to(id::text, 'UTF8')
                WHERE id = ANY (ARRAY(SELECT id FROM found WHERE kind = 0)) RETURNING id
            )
            SELECT doomed || ARRAY(SELECT id FROM found WHERE kind <> 0), (SELECT count(*) FROM moves) INTO doomed, moved;
            -- In the order of `copy_tree`, so that neither waits for the other one.
            PERFORM FROM blob
            WHERE id = ANY (ARRAY(SELECT DISTINCT blob FROM resource WHERE id = ANY (doomed) AND blob IS NOT NULL))
            ORDER BY id FOR NO KEY UPDATE;
            UPDATE blob SET reference_count = reference_count - used.count,
                unreferenced = CASE WHEN reference_count <= used.count THEN clock_timestamp() END
            FROM (
                SELECT blob, count(*) AS count FROM resource WHERE id = ANY (doomed) AND blob IS NOT NULL GROUP BY blob
            ) used WHERE blob.id = used.blob;
            ended := ARRAY(
                SELECT c FROM unnest(collections) c
                WHERE NOT EXISTS (SELECT FROM resource WHERE share = share_id AND parent = c AND id <> ALL (doomed)));
            DELETE FROM upload WHERE share = share_id AND parent = ANY (ended);
            DELETE FROM journal_collection WHERE share = share_id AND collection = ANY (ended);
            DELETE FROM member_change WHERE share = share_id AND parent = ANY (ended);
            DELETE FROM property WHERE resource = ANY (doomed || ended);
            DELETE FROM lock WHERE resource = ANY (doomed || ended);
            DELETE FROM resource WHERE id = ANY (doomed || ended);
            RETURN moved + cardinality(doomed) + cardinality(ended);
        END $$;
        CREATE OR REPLACE FUNCTION copy_tree(
            share_id bigint, source bigint, new_id bigint, new_parent bigint, new_key bytea, new_name bytea,
            new_modified bigint, new_created bigint, has_members boolean, omitted bigint[]
        ) RETURNS void LANGUAGE sql
        SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
            WITH RECURSIVE tree AS (
                SELECT r.id AS old, new_id AS new, new_parent AS parent, new_key AS key, new_name AS name, r.kind, r.length, r.modified,
                    r.blob, r.is_executable, r.has_properties, r.content_language
                FROM resource r WHERE r.id = source
                UNION ALL
                SELECT r.id, nextval('resource_id_seq'), t.new, r.key, r.name, r.kind, r.length, r.modified, r.blob, r.is_executable,
                    r.has_properties, r.content_language
                FROM tree t CROSS JOIN LATERAL (
                    SELECT * FROM resource m WHERE m.share = share_id AND m.parent = t.old OFFSET 0
                ) r
                WHERE has_members AND t.kind = 0 AND r.id <> ALL (omitted)
            ), copies AS (
                INSERT INTO resource (id, share, parent, key, name, kind, length, modified, created, blob, is_executable,
                    has_properties, content_language)
                OVERRIDING SYSTEM VALUE
                SELECT t.new, share_id, t.parent, t.key, t.name, t.kind, t.length, coalesce(new_modified, t.modified), new_created,
                    t.blob, t.is_executable, t.has_properties, t.content_language
                FROM tree t
            ), properties AS (
                -- Checksums belong to the entity tag of the source, and a copy has a creation date of its own (RFC 4918 §15.1).
                INSERT INTO property (resource, namespace, local, element)
                SELECT t.new, p.namespace, p.local, p.element
                FROM tree t CROSS JOIN LATERAL (SELECT * FROM property o WHERE o.resource = t.old OFFSET 0) p
                WHERE t.has_properties AND (p.namespace, p.local) NOT IN (
                    ('DAV:', 'creationdate'), ('http://owncloud.org/ns', 'checksums'))
            )
            UPDATE blob SET reference_count = reference_count + used.count
            -- In this order, so that two transactions that change the same rows do not wait for each other.
            FROM (
                SELECT t.blob, count(*) AS count FROM tree t WHERE t.blob IS NOT NULL GROUP BY t.blob ORDER BY t.blob OFFSET 0
            ) used
            WHERE blob.id = used.blob
        $$;

        -- Only one node at a time: two that remove blobs with an object in common would each leave the object to the other one.
        CREATE OR REPLACE FUNCTION remove_unreferenced_blobs(share_id bigint, age_seconds bigint, row_limit bigint)
        RETURNS void LANGUAGE plpgsql AS $$
        BEGIN
            IF NOT pg_try_advisory_xact_lock(1684108905, 3) THEN RETURN; END IF;
            WITH doomed AS (
                SELECT id FROM blob WHERE share = share_id AND reference_count = 0
                    AND unreferenced < (SELECT clock_timestamp() - age_seconds * interval '1 second')
                LIMIT row_limit FOR UPDATE SKIP LOCKED
            ), pieces AS (
                DELETE FROM segment WHERE blob IN (SELECT id FROM doomed) RETURNING object
            ), small AS (
                DELETE FROM small_content WHERE blob IN (SELECT id FROM doomed)
            ), blobs AS (
                DELETE FROM blob WHERE id IN (SELECT id FROM doomed)
            )
            INSERT INTO removed_object (object, share)
            SELECT DISTINCT object, share_id FROM pieces p
            WHERE NOT EXISTS (
                SELECT FROM segment s WHERE s.object = p.object AND s.blob NOT IN (SELECT id FROM doomed))
            ON CONFLICT (object) DO NOTHING;
        END $$;
        """,
        """
        -- For each share, the number of changes of the accounts and of its own rules: nodes decide again when it has risen, which
        -- the rules of other shares are no reason for.
        CREATE TABLE access_generation (
            share bigint PRIMARY KEY,
            generation bigint NOT NULL
        );
        INSERT INTO access_generation SELECT s.id, a.generation FROM share s, account_generation a;

        -- Without these numbers, the planner expects 1,000 rows, and prefers to read a whole index of up to some 100,000 rows to
        -- looking each one up.
        ALTER FUNCTION resolve_path(bigint, bytea[]) ROWS 8;
        ALTER FUNCTION path_of(bigint) ROWS 1;
        """,
    ]
}
#endif
