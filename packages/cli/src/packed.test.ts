// The packages as they are published: built and packed beside the workspace, installed from a registry on this machine
// into empty folders outside of it, and used as the documentation says.
import { execFile, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkContents } from "../../../scripts/release-checks.ts";
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
  registry = await startLoopbackRegistry(root, listed);
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
  });
});
