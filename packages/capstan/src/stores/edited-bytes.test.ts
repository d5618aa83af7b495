import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { findPostgresFolder, type PostgresServer, startPostgres } from "@capstan/verification/postgres";
import fc from "fast-check";
import type pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AgentError } from "../base/errors.ts";
import type { Json } from "../base/json.ts";
import type { FactBody, UnplacedFact } from "../kernel/event.ts";
import { defaultPolicy } from "../kernel/policy.ts";
import type { Store } from "../runtime/store.ts";
import { postgres } from "./postgres/postgres.ts";
import { sqlite } from "./sqlite/sqlite.ts";

const code = "globalThis.capstanCanary = 1";
/** What other frameworks have made objects, secrets or code of. */
const crafted: readonly string[] = [
  `{"__proto__":{"polluted":true}}`,
  `{"constructor":{"prototype":{"polluted":true}}}`,
  `{"lc":1,"type":"constructor","id":["langchain","llms","OpenAI"],"kwargs":{"x":"${code}"}}`,
  `{"lc":1,"type":"secret","id":["PATH"]}`,
  `{"$type":"Date","$date":0,"__type":"Map","__class__":"Error","value":[]}`,
  `{"type":"Buffer","data":[99]}`,
  `{"then":"(resolve) => { ${code}; resolve() }","toJSON":"${code}","valueOf":"${code}"}`,
  `{"$function":"${code}","!!js/function":"function(){${code}}","_$$ND_FUNC$$_":"function(){${code}}()"}`,
  `{"type":"run_start","agent":{"name":"a"},"input":[{"type":"user","content":"${code}"}],"handle":"blob_1"}`,
  `{"type":"message","entry":null}`,
  `(function(){ ${code} })()`,
  `"half a text`,
  `","__proto__":{"polluted":true},"":"`,
  `[{"__proto__":[]},null,1e999]`,
  "null",
  "\\u0000\\",
  "",
];

const origin = { runId: "r", sessionId: "s", agent: "a", turn: 1, at: 1 };
const placed = (id: string, body: FactBody): UnplacedFact => ({ ...origin, ...body, id });
const usage = { inputTokens: 0, outputTokens: 0 };
const facts: readonly UnplacedFact[] = [
  placed("start", { type: "run_start", input: [], policy: defaultPolicy, timeZone: "UTC" }),
  placed("said", {
    ...{ type: "message", model: "m", usage, ms: 0, stopReason: "end" },
    entry: { type: "assistant", parts: [{ type: "text", text: "hello" }] },
  }),
];

async function seed(store: Store): Promise<void> {
  const lease = await store.lease("s", "owner", 1);
  if (!lease) throw new Error("no lease");
  await store.append(facts, { expected: 0, lease });
  await store.sendMessage("r", { key: "k", type: "steer", text: "hello" });
  await store.rename("s", "A title");
  await store.putBlob("s", { mediaType: "text/plain", data: "hello" });
  await store.putBlob("s", { mediaType: "image/png", data: new Uint8Array([1, 2]) });
  await store.putRecord({ kind: "agent", id: "one", body: { prompt: "hello" } }, 0);
}

/** Everything that can be asked of a store, with the ids that were there before somebody edited it. */
const readings = (store: Store): readonly Promise<unknown>[] => [
  store.read("s"),
  store.findSession("r"),
  store.getSession("s"),
  store.list(),
  store.listRuns("s"),
  store.listOrphans(),
  store.search("hello"),
  store.listMessages("r"),
  store.getBlob("s", "blob_1"),
  store.getBlob("s", "blob_2"),
  store.getRecord("agent", "one"),
  store.listRecords("agent"),
  store.listRecordVersions("agent", "one"),
];

/** What is only data: no class, no accessor, nothing that can be called. */
function problemsOf(value: unknown, path = "it"): string[] {
  if (value instanceof Uint8Array) return [];
  if (typeof value === "function" || typeof value === "symbol") return [`${path} is a ${typeof value}`];
  if (typeof value !== "object" || value === null) return [];
  const plain = Array.isArray(value) ? Array.prototype : Object.prototype;
  const own = Object.getPrototypeOf(value) === plain ? [] : [`${path} has another prototype`];
  const fields = Object.entries(Object.getOwnPropertyDescriptors(value));
  return own.concat(
    ...fields.map(([name, field]) =>
      field.get || field.set
        ? [`${path}.${name} is an accessor`]
        : problemsOf(field.value, `${path}.${name}`),
    ),
  );
}

const globals = Object.getOwnPropertyNames(Object.prototype).sort();

/** Plain data or an error by name, of every reading; and nothing else has happened. */
async function expectPlain(store: Store, edit: unknown): Promise<number> {
  const outcomes = await Promise.allSettled(readings(store));
  const said = JSON.stringify(edit);
  for (const outcome of outcomes) {
    if (outcome.status === "fulfilled") expect(problemsOf(outcome.value), said).toEqual([]);
    else {
      expect(outcome.reason, said).toBeInstanceOf(AgentError);
      expect(outcome.reason.code, said).toBe("store_failed");
    }
  }
  expect(Object.getOwnPropertyNames(Object.prototype).sort()).toEqual(globals);
  expect(Reflect.get({}, "polluted")).toBeUndefined();
  expect(Reflect.get(globalThis, "capstanCanary")).toBeUndefined();
  return outcomes.filter(({ status }) => status === "rejected").length;
}

type Column = { readonly table: string; readonly column: string; readonly isJson: boolean };
type Edit = Column & { readonly value: string | Uint8Array };

/** A crafted value alone and, where JSON is kept, as fields of what was there. */
function craftedFor(column: Column, stored: string): Edit[] {
  const alone = crafted.map((value) => ({ ...column, value }));
  if (!column.isJson) return alone;
  const joined = crafted.filter((value) => value.startsWith("{"));
  return [
    ...alone,
    ...joined.map((value) => ({ ...column, value: `${stored.slice(0, -1)},${value.slice(1)}` })),
  ];
}

const isJson = (column: string) => ["fact", "body", "message"].includes(column);
const anyEdit = (columns: readonly Column[]): fc.Arbitrary<Edit> =>
  fc
    .record({
      column: fc.constantFrom(...columns),
      value: fc.oneof(fc.string({ unit: "binary" }), fc.uint8Array({ maxLength: 64 }), fc.json()),
    })
    .map(({ column, value }) => ({ ...column, value }));

describe("an edited SQLite file", () => {
  const tables = ["sessions", "facts", "runs", "told", "leases", "blobs", "records"];
  let folder: string;
  let store: Store;
  let editor: DatabaseSync;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "capstan-edited-"));
    const file = join(folder, "store.db");
    store = sqlite(file);
    await seed(store);
    editor = new DatabaseSync(file, { enableForeignKeyConstraints: false });
    editor.exec("PRAGMA synchronous = OFF");
    for (const table of tables) editor.exec(`CREATE TEMP TABLE kept_${table} AS SELECT * FROM main.${table}`);
  });
  afterAll(async () => {
    editor.close();
    await store.close();
    rmSync(folder, { recursive: true });
  });

  function columns(): Column[] {
    return tables.flatMap((table) =>
      editor
        .prepare(`SELECT name, type FROM pragma_table_info('${table}')`)
        .all()
        .filter(({ type }) => type === "TEXT" || type === "BLOB")
        .map(({ name }) => ({ table, column: String(name), isJson: isJson(String(name)) })),
    );
  }

  const last = ({ table, column }: Pick<Edit, "table" | "column">) =>
    `SELECT max(${column}) AS stored FROM kept_${table}`;

  async function checkAfter(
    sql: string,
    values: readonly Uint8Array[],
    edit: Omit<Edit, "isJson" | "value">,
  ) {
    try {
      editor.prepare(sql).run(...values);
    } catch {
      return 0; // the table cannot hold it
    }
    const refusals = await expectPlain(store, { ...edit, values });
    editor.exec(
      `DELETE FROM main.${edit.table}; INSERT INTO main.${edit.table} SELECT * FROM kept_${edit.table}`,
    );
    return refusals;
  }

  /** Text from bytes that need not be any, and bytes as they are. */
  function check({ value, ...edit }: Edit): Promise<number> {
    const kind = edit.column === "data" ? "BLOB" : "TEXT";
    const sql = `UPDATE main.${edit.table} SET ${edit.column} = CAST(? AS ${kind}) WHERE ${edit.column} = (${last(edit)})`;
    return checkAfter(sql, [typeof value === "string" ? Buffer.from(value) : value], edit);
  }

  it("returns plain data or a named error, whatever is written into any column (A96)", async () => {
    let refusals = 0;
    for (const column of columns())
      for (const edit of craftedFor(column, String(editor.prepare(last(column)).get()?.stored)))
        refusals += await check(edit);
    expect(refusals).toBeGreaterThan(50); // the edits are seen
  });

  it("returns plain data or a named error for random bytes (A96)", async () => {
    const random = fc.asyncProperty(anyEdit(columns()), async (edit) => void (await check(edit)));
    await fc.assert(random, { numRuns: 150 });
  });

  it.each([
    ["facts", "seq"],
    ["facts", "version"],
    ["sessions", "facts"],
    ["records", "version"],
    ["blobs", "size"],
  ])("is rejected with a named error when a number of %s (%s) is too large (A96)", async (table, column) => {
    const sql = `UPDATE main.${table} SET ${column} = 9223372036854775800 WHERE ${column} = (${last({ table, column })})`;
    expect(await checkAfter(sql, [], { table, column })).toBeGreaterThan(0);
  });

  it("returns type markers of other frameworks in user text unchanged (A96)", async () => {
    let written = 0;
    const marker = fc.constantFrom("lc", "__proto__", "$type", "then", "constructor", "blob_1", '"', "type");
    const body = fc.dictionary(
      marker,
      fc.oneof(
        fc.json().map((text) => JSON.parse(text)),
        marker,
      ),
    );
    const roundTrip = fc.asyncProperty(body, async (value) => {
      written += 1;
      const id = `n${written}`;
      const plain: Json = JSON.parse(JSON.stringify(value));
      await store.putRecord({ kind: "written", id, body: plain }, 0);
      const found = (await store.getRecord("written", id))?.body;
      expect(JSON.stringify(found)).toBe(JSON.stringify(plain));
      expect(problemsOf(found)).toEqual([]);
    });
    await fc.assert(roundTrip, { numRuns: 50 });
  });
});

describe.skipIf(!findPostgresFolder())("an edited Postgres database", () => {
  let server: PostgresServer;
  let pool: pg.Pool;
  let store: Store;
  const tables = ["sessions", "facts", "runs", "told", "leases", "blobs", "records"];
  beforeAll(async () => {
    server = await startPostgres();
    pool = server.pool();
    store = postgres(pool, { schema: "edited" });
    await seed(store);
    for (const table of tables) await pool.query(`CREATE TABLE ${table} AS SELECT * FROM edited.${table}`);
  });
  afterAll(async () => {
    await store?.close();
    await server?.stop();
  });

  async function check({ table, column, value }: Edit): Promise<number> {
    const place = `WHERE ${column} = (SELECT max(${column}) FROM ${table})`;
    const bytes = column === "data" || column === "identity";
    const written = bytes ? Buffer.from(value) : value;
    try {
      await pool.query(`UPDATE edited.${table} SET ${column} = $1 ${place}`, [written]);
    } catch {
      return 0; // what is no text cannot be written there
    }
    const refusals = await expectPlain(store, { table, column, value });
    await pool.query(`DELETE FROM edited.${table}`);
    await pool.query(`INSERT INTO edited.${table} OVERRIDING SYSTEM VALUE SELECT * FROM ${table}`);
    return refusals;
  }

  async function columns(): Promise<Column[]> {
    const { rows } = await pool.query(
      `SELECT table_name, column_name FROM information_schema.columns
       WHERE table_schema = 'edited' AND data_type IN ('text', 'bytea') AND table_name = ANY($1)`,
      [tables],
    );
    return rows.map((row) => ({
      table: row.table_name,
      column: row.column_name,
      isJson: isJson(row.column_name),
    }));
  }

  it("returns plain data or a named error, whatever is written into any column (A96)", async () => {
    let refusals = 0;
    for (const column of await columns()) {
      const sql = `SELECT max(${column.column}) AS stored FROM ${column.table}`;
      const stored = String((await pool.query(sql)).rows[0]?.stored);
      for (const edit of craftedFor(column, stored)) refusals += await check(edit);
    }
    expect(refusals).toBeGreaterThan(50); // the edits are seen
    const random = fc.asyncProperty(anyEdit(await columns()), async (edit) => void (await check(edit)));
    await fc.assert(random, { numRuns: 50 });
  });
});
