/**
 * Builds the table of runs that are ready for any process, at most one per session: its newest run, if it has work and
 * no process has the lease. Triggers keep it, so that finding work reads these rows only, however many runs are held or
 * wait. `lane` is a number for the scope, so that scopes can take turns.
 */
export function buildReadyTable(schema: string): string {
  return `
    CREATE TABLE ${schema}.ready (
      session_id text PRIMARY KEY,
      run_id text NOT NULL UNIQUE REFERENCES ${schema}.runs ON DELETE CASCADE,
      lane integer NOT NULL,
      claimed_until timestamptz NOT NULL DEFAULT '-infinity',
      place bigint GENERATED ALWAYS AS IDENTITY
    );
    CREATE INDEX ready_by_lane ON ${schema}.ready (lane, claimed_until, place);
    CREATE INDEX runs_active ON ${schema}.runs (place) WHERE state = 'active';
    CREATE INDEX leases_by_expiry ON ${schema}.leases (until);
    ${buildRefreshFunction(schema)}
    ${buildTriggers(schema)}
    ${buildClaimFunction(schema)}
    SELECT ${schema}.refresh_ready(id) FROM (SELECT DISTINCT session_id AS id FROM ${schema}.runs
      WHERE state <> 'ended') AS open WHERE NOT EXISTS (SELECT FROM ${schema}.leases WHERE session_id = open.id);`;
}

/**
 * Adds the session to the ready ones, or removes it. It locks the newest run first, as a writer of messages does: either
 * this function sees the message, or the writer sees that no process has the lease.
 */
function buildRefreshFunction(schema: string): string {
  return `
    CREATE FUNCTION ${schema}.refresh_ready(session text) RETURNS void LANGUAGE plpgsql AS $$
    DECLARE
      newest record;
    BEGIN
      SELECT id, state INTO newest FROM ${schema}.runs WHERE session_id = session ORDER BY place DESC LIMIT 1
        FOR UPDATE;
      IF newest.state = 'active' OR (newest.state = 'waiting'
        AND EXISTS (SELECT FROM ${schema}.told WHERE run_id = newest.id AND NOT heard)) THEN
        INSERT INTO ${schema}.ready AS known (session_id, run_id, lane)
          VALUES (session, newest.id,
            hashtext(left(session, greatest(strpos(session, '~') - 1, 0))) & 2147483647)
          ON CONFLICT (session_id) DO UPDATE SET run_id = newest.id, claimed_until = '-infinity'
            WHERE known.run_id <> newest.id;
      ELSE
        DELETE FROM ${schema}.ready WHERE session_id = session;
      END IF;
    END $$;`;
}

function buildTriggers(schema: string): string {
  return `
    CREATE FUNCTION ${schema}.on_lease() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      DELETE FROM ${schema}.ready WHERE session_id = NEW.session_id;
      RETURN NULL;
    END $$;
    CREATE FUNCTION ${schema}.on_release() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM ${schema}.refresh_ready(OLD.session_id);
      RETURN NULL;
    END $$;
    CREATE FUNCTION ${schema}.on_message() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
      session text := (SELECT session_id FROM ${schema}.runs WHERE id = NEW.run_id);
    BEGIN
      IF NOT EXISTS (SELECT FROM ${schema}.leases WHERE session_id = session) THEN
        PERFORM ${schema}.refresh_ready(session);
      END IF;
      RETURN NULL;
    END $$;
    CREATE TRIGGER leased AFTER INSERT OR UPDATE OF token ON ${schema}.leases FOR EACH ROW
      EXECUTE FUNCTION ${schema}.on_lease();
    CREATE TRIGGER released AFTER DELETE ON ${schema}.leases FOR EACH ROW EXECUTE FUNCTION ${schema}.on_release();
    CREATE TRIGGER messaged AFTER INSERT ON ${schema}.told FOR EACH ROW WHEN (NOT NEW.heard)
      EXECUTE FUNCTION ${schema}.on_message();`;
}

/**
 * Claims up to `max_runs` ready runs and returns their ids, and whether a run was never claimed before. Each round takes one run of every lane, from a random lane on,
 * in a lane the one whose claim is the oldest. Rows that another process is claiming are skipped. Sessions whose lease
 * has expired are made ready first, by one process at a time.
 */
function buildClaimFunction(schema: string): string {
  return `
    CREATE FUNCTION ${schema}.claim_runs(max_runs integer, claim_ms double precision, skipped text[])
    RETURNS TABLE (run text, is_new boolean)
    LANGUAGE plpgsql ROWS 10 SET enable_seqscan = off SET enable_sort = off AS $$
    DECLARE
      started_at timestamptz := clock_timestamp();
      last_lane integer := floor(random() * 2147483647);
      claimed integer := 0;
      candidate record;
    BEGIN
      IF pg_try_advisory_xact_lock(hashtextextended('${schema}.ready', 0)) THEN
        PERFORM ${schema}.refresh_ready(session_id) FROM (SELECT session_id FROM ${schema}.leases
          WHERE until <= started_at
            AND NOT EXISTS (SELECT FROM ${schema}.ready WHERE ready.session_id = leases.session_id)
            AND EXISTS (SELECT FROM ${schema}.runs WHERE runs.session_id = leases.session_id AND state <> 'ended')
          ORDER BY until DESC LIMIT 1000) AS expired;
      END IF;
      WHILE claimed < max_runs LOOP
        SELECT session_id, run_id, lane, claimed_until INTO candidate FROM ${schema}.ready
          WHERE lane > last_lane AND claimed_until <= started_at AND run_id <> ALL (skipped) AND NOT EXISTS (
            SELECT FROM ${schema}.leases WHERE session_id = ready.session_id AND until > started_at)
          ORDER BY lane, claimed_until, place LIMIT 1 FOR UPDATE OF ready SKIP LOCKED;
        IF FOUND THEN
          UPDATE ${schema}.ready SET claimed_until = clock_timestamp() + make_interval(secs => claim_ms / 1000.0)
            WHERE session_id = candidate.session_id;
          run := candidate.run_id;
          is_new := candidate.claimed_until = '-infinity';
          RETURN NEXT;
          claimed := claimed + 1;
          last_lane := candidate.lane;
        ELSIF last_lane < 0 THEN
          RETURN;
        ELSE
          last_lane := -1;
        END IF;
      END LOOP;
    END $$;`;
}
