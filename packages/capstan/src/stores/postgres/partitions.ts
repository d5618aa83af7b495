import { AgentError } from "../../base/errors.ts";
import type { PostgresPool } from "./pool.ts";

const maxPartitions = 256;

/** Throws `invalid_definition` for a number of partitions that is not an integer from 2 to 256. */
export function assertPartitionCount(count: number): void {
  if (Number.isInteger(count) && count >= 2 && count <= maxPartitions) return;
  const message = `\`partitions\` must be an integer from 2 to ${maxPartitions}, not ${count}.`;
  throw new AgentError("invalid_definition", message);
}

/** Builds the partitions of the table of facts, by a hash of the session: all facts of a session are in one of them. */
export function buildPartitions(schema: string, count: number): string {
  const build = (remainder: number) =>
    `CREATE TABLE ${schema}.facts_${remainder} PARTITION OF ${schema}.facts
      FOR VALUES WITH (MODULUS ${count}, REMAINDER ${remainder});`;
  return Array.from({ length: count }, (_, remainder) => build(remainder)).join("\n");
}

/** Rejects with `invalid_definition` if the schema was created with another number of partitions. */
export async function assertPartitions(
  from: Pick<PostgresPool, "query">,
  schema: string,
  count: number,
): Promise<void> {
  const text = "SELECT count(*) AS count FROM pg_inherits WHERE inhparent = to_regclass($1)";
  const { rows } = await from.query(text, [`${schema}.facts`]);
  const existing = Number(rows[0]?.count);
  if (existing === count) return;
  const found = existing === 0 ? "is not partitioned" : `has ${existing} partitions`;
  const message = `The table of facts in the schema ${schema} ${found}, but \`partitions\` is ${count}. Only a new schema can be partitioned: use another schema, or remove the option.`;
  throw new AgentError("invalid_definition", message);
}
