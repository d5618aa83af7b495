/** Equal for runs with the same agent, models and tools. */
export const namesExpression = "hash_array_extended(agent || models, 0) # hash_array_extended(tools, 1)";

const copiedColumns = [
  ...["started_at", "ended_at", "cost", "tokens", "turns", "status", "scope", "agent", "agent_version"],
  ...["stop_reason", "error_code", "rating", "tools", "models", "tags"],
];

/**
 * Builds the table of the runs that have ended: what lists filter, sort and add up, in rows that are a quarter as long as
 * the summaries. Numbers come first, because a row is read up to the last column that is needed. Triggers copy each row
 * when its run ends, and again if it changes later, whichever version of Capstan writes it. `feedback` is true if the
 * run has feedback. The index by time has all numbers, so that sorting all runs by one of them, or adding them up, reads no
 * rows.
 */
export function buildEndedRuns(schema: string): string {
  return `
    DROP INDEX IF EXISTS ${["by_time", "by_scope_and_time", "by_list", "by_names", "ended"]
      .map((name) => `${schema}.run_summaries_${name}`)
      .join(", ")};
    ALTER TABLE ${schema}.run_summaries DROP COLUMN IF EXISTS names;
    CREATE UNIQUE INDEX run_summaries_by_place ON ${schema}.run_summaries (place);
    CREATE INDEX run_summaries_open_by_scope ON ${schema}.run_summaries (scope, started_at, place) WHERE ended_at IS NULL;
    CREATE TABLE ${schema}.ended_runs (
      place bigint NOT NULL,
      started_at double precision NOT NULL,
      ended_at double precision NOT NULL,
      cost double precision NOT NULL,
      tokens double precision NOT NULL,
      names bigint NOT NULL,
      turns integer NOT NULL,
      feedback boolean,
      status text,
      scope text NOT NULL,
      agent text NOT NULL,
      agent_version text,
      stop_reason text,
      error_code text,
      rating text,
      tools text[] NOT NULL,
      models text[] NOT NULL,
      tags text[] NOT NULL
    );
    ${buildTriggers(schema)}
    INSERT INTO ${schema}.ended_runs (place, feedback, names, ${copiedColumns.join(", ")})
      SELECT place, feedback IS NOT NULL OR NULL, ${namesExpression}, ${copiedColumns.join(", ")}
      FROM ${schema}.run_summaries WHERE ended_at IS NOT NULL ORDER BY place;
    ALTER TABLE ${schema}.ended_runs ADD PRIMARY KEY (place);
    CREATE INDEX ended_runs_by_time ON ${schema}.ended_runs (started_at, place)
      INCLUDE (ended_at, cost, tokens, turns, status, names);
    CREATE INDEX ended_runs_by_scope_and_time ON ${schema}.ended_runs (scope, started_at, place);
    CREATE INDEX ended_runs_by_list ON ${schema}.ended_runs USING gin (tags, tools, models);`;
}

function buildTriggers(schema: string): string {
  const updates = ["feedback", "names", ...copiedColumns].map((name) => `${name} = excluded.${name}`);
  return `
    CREATE FUNCTION ${schema}.copy_ended_run() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO ${schema}.ended_runs (place, feedback, names, ${copiedColumns.join(", ")})
        SELECT place, feedback IS NOT NULL OR NULL, ${namesExpression}, ${copiedColumns.join(", ")} FROM (SELECT NEW.*) AS run
        ON CONFLICT (place) DO UPDATE SET ${updates.join(", ")};
      RETURN NULL;
    END $$;
    CREATE FUNCTION ${schema}.delete_ended_run() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      DELETE FROM ${schema}.ended_runs WHERE place = OLD.place;
      RETURN NULL;
    END $$;
    CREATE TRIGGER insert_ended_run AFTER INSERT ON ${schema}.run_summaries FOR EACH ROW
      WHEN (NEW.ended_at IS NOT NULL) EXECUTE FUNCTION ${schema}.copy_ended_run();
    CREATE TRIGGER update_ended_run AFTER UPDATE ON ${schema}.run_summaries FOR EACH ROW
      WHEN (NEW.ended_at IS NOT NULL) EXECUTE FUNCTION ${schema}.copy_ended_run();
    CREATE TRIGGER reopen_ended_run AFTER UPDATE ON ${schema}.run_summaries FOR EACH ROW
      WHEN (OLD.ended_at IS NOT NULL AND NEW.ended_at IS NULL) EXECUTE FUNCTION ${schema}.delete_ended_run();
    CREATE TRIGGER delete_ended_run AFTER DELETE ON ${schema}.run_summaries FOR EACH ROW
      WHEN (OLD.ended_at IS NOT NULL) EXECUTE FUNCTION ${schema}.delete_ended_run();`;
}
