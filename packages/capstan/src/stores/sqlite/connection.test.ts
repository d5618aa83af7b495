import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { withOrdinaryRights } from "@capstan/verification/ordinary-rights";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { UnplacedFact } from "../../kernel/event.ts";
import { createConnection, openConnection } from "./connection.ts";
import { fileVersion, migrate } from "./migrations.ts";
import { sqlite } from "./sqlite.ts";

let folder = "";
let file = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "capstan-sqlite-"));
  file = join(folder, "store.db");
});
afterEach(() => {
  chmodSync(folder, 0o700);
  rmSync(folder, { recursive: true });
});

describe("a file that cannot be a store", () => {
  /** Opens it, and holds that the error names the file and that the file is as it was. */
  function refusal(path = file, code = "store_failed"): string {
    const before = statSync(path, { throwIfNoEntry: false })?.isFile() ? readFileSync(path) : undefined;
    let thrown: unknown;
    try {
      sqlite(path, { busyTimeoutMs: 50 });
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ code, retryable: false });
    if (before) expect(readFileSync(path).equals(before)).toBe(true);
    const { message } = thrown as Error;
    expect(message).toContain(path);
    return message.replaceAll(folder, "");
  }

  it("is rejected when it has a later version (F71)", async () => {
    await filled();
    change(`PRAGMA user_version = ${fileVersion + 1}`);
    expect(refusal(file, "newer_version")).toBe(
      `The store "/store.db" has version ${fileVersion + 1}, but this version of Capstan supports up to ${fileVersion}. Update Capstan, or use another file.`,
    );
    change(`PRAGMA user_version = ${fileVersion}`);
    await sqlite(file).close();
  });

  it("is rejected when it is a database of another program (F71)", () => {
    change("CREATE TABLE theirs (x)");
    expect(refusal()).toContain("is a SQLite database of another program. Use another file");
    change("PRAGMA application_id = 7; PRAGMA user_version = 1");
    expect(refusal()).toContain("another program");
  });

  it("is rejected when it is not a database (F71)", () => {
    writeFileSync(file, "Dear diary, ".repeat(1_000));
    expect(refusal()).toMatch(/is not a SQLite database \(.*\): use another file/);
  });

  it("is rejected when it is truncated at any point (F71)", async () => {
    await filled();
    const whole = readFileSync(file);
    for (const part of [0.1, 0.3, 0.5, 0.9]) {
      writeFileSync(file, whole.subarray(0, Math.floor(whole.length * part)));
      expect(refusal()).toMatch(/is damaged \(.*\): restore a backup/);
    }
  });

  it("is rejected when any page was overwritten (F71)", async () => {
    await filled();
    const whole = readFileSync(file);
    const pageSize = whole.readUInt16BE(16);
    let refused = 0;
    for (let at = 0; at < whole.length; at += pageSize) {
      const damaged = Buffer.from(whole);
      damaged.fill(0xa5, at, at + pageSize);
      writeFileSync(file, damaged);
      try {
        await sqlite(file).close();
      } catch {
        refused += 1;
        writeFileSync(file, damaged);
        expect(refusal()).toMatch(/is damaged|is not a SQLite database/);
      }
    }
    // Content that is text and not structure cannot be told from other text.
    expect(refused).toBeGreaterThan((whole.length / pageSize) * 0.8);
  });

  it("is rejected when its folder does not exist, or it is a folder", () => {
    const path = join(folder, "no", "store.db");
    expect(refusal(path)).toBe(
      'Cannot open the store "/no/store.db": the folder "/no" does not exist. Create it first.',
    );
    expect(existsSync(join(folder, "no"))).toBe(false);
    mkdirSync(file);
    expect(refusal()).toContain("is not a file");
  });

  it("is rejected when the file or its folder is read-only", async () => {
    await filled();
    chmodSync(file, 0o444);
    chmodSync(folder, 0o755);
    expect(await child()).toMatch(
      /^store_failed Cannot write to the store .*Allow reading and writing of ".*store\.db"/,
    );
    chmodSync(file, 0o666);
    chmodSync(folder, 0o555);
    expect(await child()).toMatch(/^store_failed .*Allow reading and writing of "[^"]*capstan-sqlite-[^/]*"/);
    chmodSync(folder, 0o777);
    expect(await child()).toBe("opened");
  });
});

describe("an open file", () => {
  it("is synced with each transaction, and overwrites deleted data", () => {
    const connection = openConnection(file, 100);
    const setting = (name: string) => Object.values(connection.get<object>(`PRAGMA ${name}`) ?? {})[0];
    const names = [
      "journal_mode",
      "synchronous",
      "secure_delete",
      "auto_vacuum",
      "foreign_keys",
      "trusted_schema",
    ];
    expect(names.map(setting)).toEqual(["wal", 2, 1, 2, 1, 0]);
    connection.close();
  });
});

describe("a new file", () => {
  it("may be created by several processes at once", async () => {
    const others = Array.from({ length: 3 }, () => child());
    expect(await Promise.all(others)).toEqual(["opened", "opened", "opened"]);
    await filled();
  });

  it("is waited for while another process uses it, then fails with a named error (F68)", async () => {
    const running = spawn(process.execPath, [
      "--input-type=module",
      "-e",
      `
      import { DatabaseSync } from "node:sqlite";
      const database = new DatabaseSync(${JSON.stringify(file)});
      database.exec("BEGIN IMMEDIATE; CREATE TABLE brief (x)");
      process.stdout.write("locked");
      process.stdin.once("data", () => setTimeout(() => database.exec("ROLLBACK"), 200)).once("data", () => process.stdin.destroy());`,
    ]);
    await once(running.stdout, "data");
    expect(() => sqlite(file, { busyTimeoutMs: 50 })).toThrow(
      expect.objectContaining({
        code: "store_busy",
        retryable: true,
        message: expect.stringContaining("is locked"),
      }),
    );
    running.stdin.write("let go");
    await sqlite(file, { busyTimeoutMs: 60_000 }).close();
    await once(running, "exit");
  });

  it("is created atomically, whichever statement fails (F70)", async () => {
    for (let failing = 1; ; failing++) {
      const path = join(folder, `${failing}.db`);
      const connection = createConnection(path, new DatabaseSync(path));
      let count = 0;
      const faulty = {
        ...connection,
        exec(sql: string) {
          count += 1;
          if (count === failing) throw Object.assign(new Error("disk I/O error"), { errcode: 10 });
          connection.exec(sql);
        },
      };
      try {
        migrate(faulty);
        break;
      } catch (error) {
        expect(error).toMatchObject({ message: "disk I/O error" });
      } finally {
        connection.close();
        await sqlite(path).close();
        expect(failing).toBeLessThan(20);
      }
    }
  });
});

async function filled(): Promise<void> {
  const store = sqlite(file);
  const lease = await store.lease("s1", "ann", 60_000);
  if (!lease) throw new Error("no lease");
  const fact = (number: number): UnplacedFact => {
    const origin = { runId: "r1", sessionId: "s1", agent: "a", turn: 0, at: number };
    return { type: "warning", code: `${number}`, message: "x".repeat(300), id: `r1/${number}`, ...origin };
  };
  await store.append(
    Array.from({ length: 200 }, (_, number) => fact(number)),
    { expected: 0, lease },
  );
  await store.close();
}

function change(sql: string): void {
  const database = new DatabaseSync(file);
  database.exec(sql);
  database.close();
}

async function child(): Promise<string> {
  const script = `import { sqlite } from ${JSON.stringify(import.meta.resolve("./sqlite.ts"))};
    try { const store = sqlite(${JSON.stringify(file)}); process.stdout.write("opened"); await store.close(); }
    catch (error) { process.stdout.write(error.code + " " + error.message); }`;
  const [program, ...args] = withOrdinaryRights([process.execPath, "--input-type=module", "-e", script]);
  const running = spawn(program, args);
  let said = "";
  for (const stream of [running.stdout, running.stderr])
    stream.on("data", (data) => {
      said += data;
    });
  await once(running, "close");
  return said;
}
