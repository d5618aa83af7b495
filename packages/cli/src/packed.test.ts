// The packages as they are published: built and packed beside the workspace, installed from a registry on this machine
// into empty folders outside of it, and used as the documentation says.
import { execFile, spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { findPostgresFolder, type PostgresServer, startPostgres } from "@capstan/verification/postgres";
import { createClient } from "capstan/client";
import { sqlite } from "capstan/stores/sqlite";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { checkContents } from "../../../scripts/release-checks.ts";
import { buildProjectFiles } from "./init/project-files.ts";
import { buildImage, type Image } from "./testing/deploy/build-image.ts";
import { findInstructions } from "./testing/deploy/container-file.ts";
import { hasProgram } from "./testing/deploy/kit-files.ts";
import { runInSandbox } from "./testing/deploy/sandbox.ts";
import { type KitServer, startComposeService, startUnit } from "./testing/deploy/start-kit.ts";
import { readUnitCommand } from "./testing/deploy/unit-file.ts";
import { type LoopbackRegistry, startLoopbackRegistry } from "./testing/loopback-registry.ts";
import { type PackedPackage, packPackages } from "./testing/pack-packages.ts";

const execute = promisify(execFile);
const root = join(import.meta.dirname, "../../..");
const names = ["capstan", "offline", "tools", "mcp", "server", "cli"];

let place = "";
let listed: readonly PackedPackage[] = [];
let registry: LoopbackRegistry;
let env: NodeJS.ProcessEnv = {};

const read = (folder: string) => JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));

beforeAll(async () => {
  place = mkdtempSync(join(tmpdir(), "capstan-packed-"));
  env = {
    // The Node that runs this test, before any other on the machine.
    PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
    HOME: place,
    CAPSTAN_HOME: join(place, "data"),
    CAPSTAN_MODEL: "offline",
    npm_config_cache: join(place, "npm-cache"),
    npm_config_userconfig: join(place, "none"),
    npm_config_audit: "false",
    npm_config_fund: "false",
    npm_config_update_notifier: "false",
    npm_config_ignore_scripts: "true",
  };
  listed = await packPackages({ place, names, env });
  registry = await startLoopbackRegistry(root, listed, { programsOnly: true });
  env.npm_config_registry = registry.url;
});

afterAll(() => {
  registry?.close();
  rmSync(place, { recursive: true, force: true });
});

describe("the packed packages", () => {
  it("hold no tests, no secrets and no paths of the machine that built them, and are small (A122)", () => {
    const localFolders = [root, homedir()].filter((path) => path.length > 3).map((path) => `${path}/`);
    const problems = listed.flatMap(({ name, manifest, files, size, folder }) => {
      const contents = files.map(({ path }) => ({ path, text: readFileSync(join(folder, path), "utf8") }));
      // Declarations are not built here.
      const found = checkContents({ ...manifest, exports: {} }, contents, localFolders);
      return size < 1_500_000 ? found : [...found, `${name} has ${size} bytes`];
    });
    expect(problems).toEqual([]);
    expect(listed.flatMap(({ files }) => files.filter(({ path }) => path === "package.json"))).toHaveLength(
      6,
    );
  });

  it("make a project in an empty folder that is installed, tested, chats and is served (A123)", async () => {
    const empty = join(place, "empty");
    mkdirSync(empty);
    const made = await execute("npx", ["--yes", "@capstan/cli", "init", "demo"], { cwd: empty, env });
    expect(made.stdout).toContain("Created a project in demo");
    const demo = join(empty, "demo");
    const { dependencies } = read(demo);
    expect(dependencies).toEqual({ "@capstan/cli": "0.1.0", capstan: "0.1.0" });
    const texts = readdirSync(demo, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"));
    expect(texts.join("\n")).not.toMatch(/_KEY=\S|0\.0\.0\.0/);

    await execute("npm", ["install"], { cwd: demo, env });
    const tested = await execute("npm", ["test"], { cwd: demo, env });
    expect(tested.stdout).toMatch(/pass 2\n[\s\S]*fail 0\n/);

    const capstan = join(demo, "node_modules/.bin/capstan");
    expect((await execute(capstan, ["--version"], { cwd: demo, env })).stdout).toBe("0.1.0\n");
    const question = "How many days are there from 2026-11-15 to 2026-12-24?";
    const answer = await execute(capstan, ["-p", question], { cwd: demo, env });
    expect(answer.stdout).toContain("39");
    const loaded = await execute(capstan, ["-p", "Write a countdown to the launch"], { cwd: demo, env });
    expect(loaded.stdout).toContain("Skill: countdown");

    const server = spawn(capstan, ["dev", "--no-open", "--port", "0"], { cwd: demo, env });
    const left = new Promise((resolve) => server.on("close", resolve));
    let said = "";
    server.stdout.on("data", (text) => {
      said += text;
    });
    await expect.poll(() => said).toContain("Press Ctrl-C to stop");
    const [, url] = /listens on (\S+)/.exec(said) ?? [];
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:/);
    expect(await (await fetch(`${url}/api/health`)).json()).toMatchObject({ status: "ok" });
    server.kill("SIGTERM");
    expect(await left).toBe(0);

    const serve = () => execute(capstan, ["serve", "--studio", "--port", "0"], { cwd: demo, env });
    await expect(serve()).rejects.toThrow("The studio is not installed. Run `npm install @capstan/studio`.");
    // As in a checkout that was not built.
    const studio = join(demo, "node_modules/@capstan/studio");
    mkdirSync(studio);
    writeFileSync(join(studio, "package.json"), JSON.stringify({ type: "module", exports: "./index.js" }));
    writeFileSync(join(studio, "index.js"), 'export const studioFolder = "none";\n');
    await expect(serve()).rejects.toThrow("The studio is not built. Run `npm run build -w @capstan/studio`.");
  });

  const older = "/usr/bin/node";
  it.skipIf(!existsSync(older))("say in one line which Node they need, on an older one", async () => {
    const { stdout } = await execute(older, ["--version"]);
    const bin = join(place, "workspace/packages/cli/bin/capstan.js");
    const ran = await execute(older, [bin, "--version"], { env }).catch((error) => error);
    const isOlder = Number(/^v(\d+)/.exec(stdout)?.[1]) < 22;
    if (!isOlder) return expect(ran.stderr).toBe("");
    expect(ran.code).toBe(1);
    expect(ran.stderr).toMatch(/^capstan requires Node 22\.19\.0 or later; this is [\d.]+\. .*\n$/);
    const library = join(place, "workspace/packages/capstan/dist/index.js");
    const program = `import { defineAgent } from "${library}"; defineAgent({ name: "a", model: "openai/m" });`;
    const used = await execute(older, ["--input-type=module", "-e", program], { env }).catch(
      (error) => error,
    );
    expect(used.stderr).toContain("Capstan requires Node 22.19 or later; this is");
  });
});

const canSandbox = process.getuid?.() === 0 && hasProgram("bwrap") && hasProgram("setpriv");

describe.skipIf(!canSandbox)("the production kit, in a sandbox of bubblewrap", () => {
  const key = "a-key-for-the-production-kit";
  let kit = "";
  let image: Image;
  let server: KitServer | undefined;

  beforeAll(async () => {
    process.umask(0o022); // as in a container; other users run the server
    kit = join(place, "kit");
    const context = join(kit, "project");
    mkdirSync(context, { recursive: true });
    chmodSync(place, 0o755);
    const files = buildProjectFiles({ name: "project", version: "0.1.0" });
    const unwanted = [".env", "production.env", "data.db", "tls.key", "deploy/secrets/capstan.env"];
    for (const [path, text] of [...files, ...unwanted.map((path) => [path, "canary"] as const)]) {
      mkdirSync(dirname(join(context, path)), { recursive: true });
      writeFileSync(join(context, path), text);
    }
    const manifest = read(context);
    Object.assign(manifest.dependencies, { pg: "8.23.1" });
    writeFileSync(join(context, "package.json"), JSON.stringify(manifest));
    await execute("npm", ["install", "--package-lock-only"], { cwd: context, env });
    const { npm_config_registry = "", npm_config_cache = "" } = env;
    image = await buildImage({ context, place: kit, cache: npm_config_cache, env: { npm_config_registry } });
  });
  afterEach(() => server?.kill());

  /** Uses the server as a client does until a run has ended, and returns its answer. */
  async function askServer({ url, output, exit }: KitServer): Promise<string> {
    let isRunning = true;
    void exit.then(() => {
      isRunning = false;
    });
    const getStatus = () =>
      fetch(`${url}/readyz`).then(
        ({ status }) => status,
        () => undefined,
      );
    while ((await getStatus()) !== 200) {
      expect(isRunning, output()).toBe(true);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect((await fetch(`${url}/api/about`)).status).toBe(401);
    const client = createClient({ baseURL: url, key });
    const { runId } = await client.runs.start({
      input: "How many days are there from 2026-11-15 to 2026-12-24?",
    });
    for await (const event of client.runs.events(runId)) if (event.type === "done") return event.text;
    return "";
  }

  it("builds an image with the packages and the code, without tests, tools and secrets", () => {
    const app = join(image.root, image.workingFolder);
    expect(readdirSync(app).toSorted()).toEqual([
      ...[
        "capstan.config.ts",
        "node_modules",
        "package-lock.json",
        "package.json",
        "skills",
        "tools",
        "tsconfig.json",
      ],
    ]);
    expect(readdirSync(join(app, "tools"))).toEqual(["days-between.ts"]);
    expect(existsSync(join(app, "skills/countdown/SKILL.md"))).toBe(true);
    expect(existsSync(join(app, "node_modules/pg"))).toBe(true);
    expect(existsSync(join(app, "node_modules/@types"))).toBe(false);
  });

  describe.skipIf(!findPostgresFolder())("with Postgres", () => {
    let postgres: PostgresServer | undefined;
    afterAll(() => postgres?.stop());

    it("the container serves as another user on a read-only file system, and drains on SIGTERM", async () => {
      postgres = await startPostgres();
      const secrets = { CAPSTAN_API_KEY: key, CAPSTAN_DATABASE: postgres.url, CAPSTAN_MODEL: "offline" };
      server = await startComposeService({ image, place: kit, secrets });
      expect(await askServer(server)).toContain("39");
      const runs = await postgres.pool().query("SELECT count(*) FROM capstan.runs");
      expect(runs.rows).toEqual([{ count: "1" }]);

      const [{ words: check } = { words: [] }] = findInstructions(image.stage, "HEALTHCHECK");
      await runInSandbox(server.sandbox, check);
      const stopped = { ...server.sandbox, env: { ...server.sandbox.env, CAPSTAN_HEALTH_PORT: "9" } };
      await expect(runInSandbox(stopped, check)).rejects.toThrow();

      const found = JSON.parse(await runInSandbox(server.sandbox, ["node", "--eval", inspection]));
      expect(found).toEqual({
        user: [1000, 1000],
        writable: ["/data", "/tmp"],
        rights: ["0000000000000000", "0000000000000000", "0000000000000000"],
        noNewPrivileges: "1",
      });
      expect(await server.stop(server.graceSeconds)).toBe(0);
      expect(server.output()).toContain('"method":"POST","route":"/api/runs","user":"",');
      expect(server.output()).not.toMatch(/How many days|a-key-for/);
    });
  });

  it("the systemd unit serves from its state directory, is backed up while it runs, and drains", async () => {
    const secrets = { CAPSTAN_API_KEY: key, CAPSTAN_MODEL: "offline" };
    server = await startUnit({ image, place: kit, secrets });
    expect(await askServer(server)).toContain("39");
    const state = join(kit, "state");
    await expect.poll(() => readdirSync(state)).toEqual(expect.arrayContaining(["capstan.db"]));
    const [node = "", program = ""] = readUnitCommand();
    await runInSandbox(server.sandbox, [node, program, "backup", "/var/lib/capstan/copy.db"]);
    const copy = sqlite(join(state, "copy.db"));
    const [session] = await copy.list();
    await copy.close();
    const stream = await fetch(`${server.url}/api/sessions/${session?.id}/events`, {
      headers: { authorization: `Bearer ${key}` },
    });
    expect(await server.stop(server.graceSeconds)).toBe(0);
    expect(await stream.text()).toContain("server_draining");
  });
});

/** Prints what a process in the container may do. */
const inspection = `
const { readFileSync, writeFileSync } = require("node:fs");
const canWrite = (path) => {
  try {
    writeFileSync(path + "/canary", "");
    return true;
  } catch {
    return false;
  }
};
const status = readFileSync("/proc/self/status", "utf8");
const read = (name) => new RegExp(name + ":[^0-9a-f]*([0-9a-f]+)").exec(status)?.[1];
console.log(JSON.stringify({
  user: [process.getuid(), process.getgid()],
  writable: ["/", "/app", "/app/node_modules", "/data", "/etc", "/run/secrets", "/tmp", "/usr/lib", "/var"].filter(canWrite),
  rights: ["CapPrm", "CapEff", "CapBnd"].map(read),
  noNewPrivileges: read("NoNewPrivs"),
}));`;
