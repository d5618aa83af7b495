// Writes that need several statements are database functions: one round trip each, atomic. All of them lock in the same
// order: lease, session, runs, messages. Texts are passed in encoded form (stored-text.ts), so they can be inserted
// between the quotes of a JSON payload.

/** Returns the name of the schema, which is passed in quotes. */
export function unquoteSchema(schema: string): string {
  return schema.slice(1, -1);
}

/**
 * Appends facts. Returns a row per fact: its index in the request, its `seq`, and its body if it was already stored; or
 * one row with a problem and the current number of facts. Rows before a problem must be ignored. Processes of different
 * versions call it, so its arguments and its result may only gain optional fields. `origin` is not used any longer.
 */
export function buildAppendFunction(schema: string): string {
  return `
    CREATE OR REPLACE FUNCTION ${schema}.append_facts(asked json, origin text)
    RETURNS TABLE (problem text, place integer, placed integer, known text)
    LANGUAGE plpgsql SET lock_timeout = '5s' AS $$
    #variable_conflict use_column
    DECLARE
      -- Read at once: each access to the request would parse all of it.
      request record;
      session text;
      lease_token bigint;
      length integer;
      next_seq integer;
      added_bytes bigint := 0;
      first_at double precision;
      last_at double precision;
      given record;
      -- A run is updated once, with its last fact.
      open_run text;
      open_state text;
    BEGIN
      SELECT * INTO request FROM json_to_record(asked) AS fields(
        session text, token bigint, expected integer, version integer, run text, summarized boolean,
        facts json, requests json, heard json);
      session := request.session;
      SELECT token INTO lease_token FROM ${schema}.leases WHERE session_id = session FOR UPDATE;
      IF lease_token IS DISTINCT FROM request.token THEN
        RETURN QUERY SELECT 'lease_lost', NULL::integer, NULL::integer, NULL::text;
        RETURN;
      END IF;
      -- Waits for a process that is summarizing the session.
      PERFORM FROM ${schema}.unsummarized WHERE session_id = session FOR SHARE;
      length := coalesce((SELECT facts FROM ${schema}.sessions WHERE id = session), 0);
      next_seq := length;
      FOR given IN SELECT * FROM json_to_recordset(request.facts) AS fact(
        place integer, identity text, run text, agent text, at double precision, state text, starts boolean,
        words tsvector, body text, summary json)
      LOOP
        IF length = request.expected THEN
          INSERT INTO ${schema}.facts (session_id, seq, identity, version, body, words)
            VALUES (session, next_seq + 1, sha256(convert_to(given.identity, 'UTF8')), request.version,
              given.body, given.words)
            ON CONFLICT (session_id, identity) DO NOTHING;
        END IF;
        IF length <> request.expected OR NOT FOUND THEN
          RETURN QUERY SELECT NULL::text, given.place, seq, body FROM ${schema}.facts
            WHERE session_id = session AND identity = sha256(convert_to(given.identity, 'UTF8'));
          CONTINUE WHEN FOUND;
          RETURN QUERY SELECT 'position_conflict', length, NULL::integer, NULL::text;
          RETURN;
        END IF;
        IF open_run <> given.run THEN
          UPDATE ${schema}.runs SET state = open_state, updated_at = last_at WHERE id = open_run;
        END IF;
        open_run := given.run;
        open_state := given.state;
        next_seq := next_seq + 1;
        first_at := coalesce(first_at, given.at);
        last_at := given.at;
        added_bytes := added_bytes + octet_length(given.body);
        IF given.starts THEN
          INSERT INTO ${schema}.runs (id, session_id, agent, state, started_at, updated_at)
            VALUES (given.run, session, given.agent, given.state, given.at, given.at) ON CONFLICT DO NOTHING;
        END IF;
        IF given.summary IS NOT NULL THEN
          PERFORM ${schema}.summarize_fact(session, next_seq, given.run, given.at, given.summary);
        END IF;
        RETURN QUERY SELECT NULL::text, given.place, next_seq, NULL::text;
      END LOOP;
      IF request.requests IS NOT NULL THEN
        INSERT INTO ${schema}.sessions (id) VALUES (session) ON CONFLICT DO NOTHING;
        WITH added AS (
          INSERT INTO ${schema}.requests (session_id, number, run_id, turn, body)
            SELECT session, number, run, turn, body
            FROM json_to_recordset(request.requests) AS sent(number integer, run text, turn integer, body text)
            ON CONFLICT (session_id, number) DO NOTHING RETURNING octet_length(body) AS size)
        SELECT added_bytes + coalesce(sum(size), 0) INTO added_bytes FROM added;
      END IF;
      IF next_seq > length THEN
        UPDATE ${schema}.runs SET state = open_state, updated_at = last_at WHERE id = open_run;
        INSERT INTO ${schema}.sessions AS session_row (id, facts, bytes, created_at, updated_at)
          VALUES (session, next_seq, added_bytes, first_at, last_at)
          ON CONFLICT (id) DO UPDATE SET facts = next_seq, bytes = session_row.bytes + added_bytes, updated_at = last_at,
            created_at = CASE WHEN session_row.facts = 0 THEN first_at ELSE session_row.created_at END;
        IF request.summarized IS NULL THEN
          INSERT INTO ${schema}.unsummarized VALUES (session) ON CONFLICT DO NOTHING;
        END IF;
      ELSIF added_bytes > 0 THEN
        UPDATE ${schema}.sessions SET bytes = bytes + added_bytes WHERE id = session;
      END IF;
      IF json_array_length(request.heard) > 0 THEN
        INSERT INTO ${schema}.told (run_id, key, heard, body)
          SELECT id, key, true, '' FROM ${schema}.runs, json_array_elements_text(request.heard) AS key
          WHERE id = request.run
          ON CONFLICT (run_id, key) DO UPDATE SET heard = true, body = '';
      END IF;
    END $$;`;
}

/** Stores a message to a run. Returns the session and the state of the run; `told` if the message is stored, now or before. */
export function buildTellFunction(schema: string): string {
  return `
    CREATE OR REPLACE FUNCTION ${schema}.tell(run text, message_key text, message text, origin text)
    RETURNS TABLE (session text, answer text)
    LANGUAGE plpgsql SET lock_timeout = '5s' AS $$
    #variable_conflict use_column
    BEGIN
      SELECT session_id, state INTO session, answer FROM ${schema}.runs WHERE id = run FOR UPDATE;
      IF NOT FOUND THEN
        RETURN;
      END IF;
      IF EXISTS (SELECT FROM ${schema}.told WHERE run_id = run AND key = message_key) THEN
        answer := 'told';
      ELSIF answer <> 'ended' THEN
        INSERT INTO ${schema}.told (run_id, key, body) VALUES (run, message_key, message);
        answer := 'told';
      END IF;
      RETURN NEXT;
    END $$;`;
}

/** Deletes a session. A valid lease is kept: its holder may continue in a new, empty session. */
export function buildRemoveFunction(schema: string): string {
  return `
    CREATE FUNCTION ${schema}.remove(session text) RETURNS void
    LANGUAGE plpgsql SET lock_timeout = '5s' AS $$
    DECLARE
      gone text[];
    BEGIN
      PERFORM FROM ${schema}.leases WHERE session_id = session FOR UPDATE;
      DELETE FROM ${schema}.sessions WHERE id = session;
      gone := ARRAY(SELECT id FROM ${schema}.runs WHERE session_id = session ORDER BY id FOR UPDATE);
      DELETE FROM ${schema}.told WHERE run_id = ANY (gone);
      DELETE FROM ${schema}.runs WHERE id = ANY (gone);
      DELETE FROM ${schema}.facts WHERE session_id = session;
      DELETE FROM ${schema}.blobs WHERE session_id = session;
      DELETE FROM ${schema}.leases WHERE session_id = session AND until <= clock_timestamp();
    END $$;`;
}

/**
 * Inserts a record version after the one the caller expects. Returns the caller's row, recognized by its `author` even
 * if the call is retried after a lost response; otherwise the latest row, if any. Writers of the same record take a lock
 * first: a replaced version frees its number, so the primary key alone would not detect the conflict.
 */
export function buildPutRecordFunction(schema: string): string {
  return `
    CREATE FUNCTION ${schema}.put_record(
      record_kind text, record_id text, content text, expected double precision, author uuid, replaces boolean)
    RETURNS SETOF ${schema}.records
    LANGUAGE plpgsql SET lock_timeout = '5s' AS $$
    DECLARE
      newest ${schema}.records;
      clock double precision;
    BEGIN
      PERFORM pg_advisory_xact_lock(
        hashtextextended(record_id, hashtextextended(record_kind, hashtextextended('${unquoteSchema(schema)}', 0))));
      clock := floor(extract(epoch FROM clock_timestamp()) * 1000); -- after the wait: a later version is not older
      SELECT * INTO newest FROM ${schema}.records WHERE kind = record_kind AND id = record_id
        ORDER BY writer = author DESC, version DESC LIMIT 1;
      IF newest.writer IS DISTINCT FROM author
        AND expected = (CASE WHEN newest.body IS NULL THEN 0 ELSE newest.version END) THEN
        INSERT INTO ${schema}.records (kind, id, version, body, created_at, updated_at, writer)
          VALUES (record_kind, record_id, coalesce(newest.version, 0) + 1, content,
            CASE WHEN newest.body IS NULL THEN clock ELSE newest.created_at END, clock, author)
          RETURNING * INTO newest;
        IF replaces THEN
          DELETE FROM ${schema}.records
            WHERE kind = record_kind AND id = record_id AND version < newest.version;
        END IF;
      END IF;
      RETURN QUERY SELECT newest.* WHERE newest.version IS NOT NULL;
    END $$;`;
}

/**
 * Creates the functions that prepare a fact's words for the index. They remove accents, in case the caller
 * did not, and add a word for the scope of the session. It starts with a private-use character that no word of a text has.
 */
export function buildSearchFunctions(schema: string): string {
  return `
    CREATE FUNCTION ${schema}.to_scope_word(scope text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
      SELECT quote_literal(chr(57344) || md5(scope)) $$;
    CREATE FUNCTION ${schema}.to_search_words(words tsvector, session text) RETURNS tsvector
    LANGUAGE sql IMMUTABLE AS $$
      SELECT replace(replace(
          regexp_replace(normalize(words::text, NFKD), '[' || chr(768) || '-' || chr(879) || ']', '', 'g'),
          'ß', 'ss'), 'ς', 'σ')::tsvector
        || ${schema}.to_scope_word(left(session, greatest(strpos(session, '~') - 1, 0)))::tsvector $$;
    CREATE FUNCTION ${schema}.set_search_words() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      NEW.words := ${schema}.to_search_words(NEW.words, NEW.session_id);
      RETURN NEW;
    END $$;`;
}
