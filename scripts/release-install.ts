// Installs the tarballs of a release from a registry on this machine into empty folders, and uses them as a user would.
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { templates } from "../packages/cli/src/init/project-files.ts";
import { startLoopbackRegistry } from "../packages/cli/src/testing/loopback-registry.ts";
import type { ReleaseManifest } from "./release-checks.ts";

const execute = promisify(execFile);
const root = join(import.meta.dirname, "..");

export type InstalledTarball = { readonly manifest: ReleaseManifest; readonly file: string };

/** Uses the tarballs in fresh projects. Reports each step, and returns what fails. */
export async function checkInstallation(
  tarballs: readonly InstalledTarball[],
  report: (step: string) => void,
): Promise<string[]> {
  const place = mkdtempSync(join(tmpdir(), "capstan-fresh-"));
  const registry = await startLoopbackRegistry(root, tarballs);
  const env = buildEnvironment(place, registry.url);
  const problems: string[] = [];
  const step = async (name: string, cwd: string, [command, ...words]: readonly [string, ...string[]]) => {
    report(name);
    mkdirSync(cwd, { recursive: true });
    await execute(command, words, { cwd, env, maxBuffer: 50_000_000 }).catch(({ stdout, stderr, message }) =>
      problems.push(`${name}: ${message}\n${stdout}${stderr}`),
    );
  };
  try {
    await step("npx capstan", join(place, "npx"), ["npx", "--yes", "capstan", "--version"]);
    for (const template of Object.keys(templates)) {
      const folder = join(place, template);
      const create = ["create", "--yes", "capstan", template, "--", "--yes", "--template", template] as const;
      await step(`npm create capstan --template ${template}`, place, ["npm", ...create]);
      await step(`${template}: npm install`, folder, ["npm", "install"]);
      await step(`${template}: npm test`, folder, ["npm", "test"]);
      await step(`${template}: types`, folder, [join(root, "node_modules/.bin/tsc"), "-p", "."]);
    }
    await checkConsumer(join(place, "consumer"), tarballs, step);
  } finally {
    registry.close();
    rmSync(place, { recursive: true, force: true });
  }
  return problems;
}

type Step = (name: string, cwd: string, command: readonly [string, ...string[]]) => Promise<void>;

/** Imports every subpath with types, with the resolution of Node and of bundlers. */
async function checkConsumer(
  folder: string,
  tarballs: readonly InstalledTarball[],
  step: Step,
): Promise<void> {
  const names = tarballs.map(({ manifest }) => `${manifest.name}@${manifest.version}`);
  const subpaths = tarballs.flatMap(({ manifest: { name, exports = {} } }) =>
    Object.entries(exports).flatMap(([subpath, entry]) =>
      typeof entry !== "string" && entry.types ? [name + subpath.slice(1)] : [],
    ),
  );
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }');
  const imports = subpaths.map((path, index) => `import * as p${index} from ${JSON.stringify(path)};`);
  const uses = `export const all = [${subpaths.map((_, index) => `p${index}`).join(", ")}];`;
  writeFileSync(join(folder, "index.ts"), [...imports, uses, ""].join("\n"));
  await step("install all packages", folder, [
    "npm",
    "install",
    "@types/node",
    "vitest",
    "fast-check",
    ...names,
  ]);
  const tsc = join(root, "node_modules/.bin/tsc");
  const flags = [
    "--noEmit",
    "--strict",
    "--target",
    "es2024",
    "--types",
    "node",
    "--skipLibCheck",
    "index.ts",
  ];
  await step("types with nodenext", folder, [tsc, "--module", "nodenext", ...flags]);
  await step("types with a bundler", folder, [
    ...[tsc, "--module", "esnext", "--moduleResolution", "bundler"],
    ...flags,
  ] as [string, ...string[]]);
}

function buildEnvironment(place: string, registry: string): NodeJS.ProcessEnv {
  return {
    PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
    HOME: place,
    CAPSTAN_HOME: join(place, "data"),
    CAPSTAN_MODEL: "offline",
    npm_config_registry: registry,
    npm_config_cache: join(place, "npm-cache"),
    npm_config_userconfig: join(place, "none"),
    npm_config_audit: "false",
    npm_config_fund: "false",
    npm_config_update_notifier: "false",
    npm_config_ignore_scripts: "true",
  };
}
