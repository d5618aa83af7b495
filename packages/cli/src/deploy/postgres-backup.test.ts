import { type ChildProcessWithoutNullStreams, execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import {
  findPostgresFolder,
  type PostgresServer,
  postgresWriter,
  startPostgres,
} from "@capstan/verification/postgres";
import { postgres } from "capstan/stores/postgres";
import { afterEach, expect, it } from "vitest";
import { runCli } from "../testing/cli-in-process.ts";
import { hasProgram } from "../testing/deploy/kit-files.ts";

const embeddedVersion = 18;
const place = mkdtempSync(join(tmpdir(), "capstan-dump-"));
let server: PostgresServer | undefined;
let writer: ChildProcessWithoutNullStreams | undefined;
afterEach(async () => {
  writer?.kill("SIGKILL");
  await server?.stop();
  rmSync(place, { recursive: true, force: true });
});

/** Returns a server that the installed `pg_dump` can read: it refuses later versions. */
function findDumpableServer(): string | undefined {
  if (!hasProgram("pg_dump") || !hasProgram("pg_restore")) return undefined;
  const [, major] = / (\d+)/.exec(execFileSync("pg_dump", ["--version"], { encoding: "utf8" })) ?? [];
  if (Number(major) >= embeddedVersion) return findPostgresFolder();
  const folder = `/usr/lib/postgresql/${major}`;
  return existsSync(join(folder, "bin/postgres")) ? folder : undefined;
}

/** Runs the command that `capstan backup` or `capstan restore` prints for a Postgres database. */
async function runPrintedCommand(command: "backup" | "restore", file: string, url: string): Promise<void> {
  const { stderr } = await runCli([command, file, "--database", url], { folder: place, env: {} });
  const [, printed = ""] = /`(.*)`/.exec(stderr) ?? [];
  const [program = "", ...words] = printed
    .split(" ")
    .map((word) => word.replace("FILE", file).replace("URL", url));
  await promisify(execFile)(program, words);
}

const native = findDumpableServer();

it.skipIf(!native)(
  "a dump of Postgres made while a server writes can be restored and continued",
  async () => {
    server = await startPostgres({ native });
    const { url } = server;
    const running = spawn(process.execPath, ["--conditions=capstan-source", postgresWriter, url, "600000"]);
    writer = running;
    const written = createInterface(running.stdout);
    let acknowledged = 0;
    written.on("line", (line) => {
      acknowledged = Number(line);
    });
    while (acknowledged < 30) await once(written, "line");

    const before = acknowledged;
    const file = join(place, "capstan.dump");
    await runPrintedCommand("backup", file, url);
    await once(written, "line"); // the writer was not stopped by a lock
    await server.pool().query("CREATE DATABASE restored");
    await runPrintedCommand("restore", file, url.replace(/\/postgres$/, "/restored"));

    const store = postgres(server.pool({ database: "restored" }));
    const facts = await store.read("s");
    expect(facts.length).toBeGreaterThanOrEqual(before);
    expect(facts.map(({ seq, id }) => [seq, id])).toEqual(
      facts.map((_, index) => [index + 1, `${index + 1}`]),
    );
    await store.putBlob("s", { mediaType: "text/plain", data: "more" });
    await store.close();
  },
);
