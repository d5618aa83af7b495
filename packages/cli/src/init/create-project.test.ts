import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createScratchProject, type ScratchProject } from "../testing/cli-process.ts";
import { checkTrust } from "../trust/trust.ts";
import { version } from "../version.ts";
import { createProject } from "./create-project.ts";
import type { TemplateName } from "./project-files.ts";

let project: ScratchProject;
beforeEach(() => {
  project = createScratchProject();
});
afterEach(() => project.remove());

async function make(folder?: string, template?: TemplateName): Promise<string> {
  const stdout = new PassThrough({ encoding: "utf8" });
  const io = { stdin: new PassThrough(), stdout, stderr: stdout, env: project.env, cwd: project.folder };
  await createProject(folder, { yes: true, ...(template && { template }) }, io);
  return stdout.read() ?? "";
}

it("init creates a trusted project with pinned versions, no key and no address, and prints the next steps (A123)", async () => {
  const said = await make("My Agent!");
  const folder = join(project.folder, "My Agent!");
  expect(said).toContain("cd 'My Agent!'\n  npm install\n  npm test\n  npx capstan\n");
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  expect(manifest.name).toBe("my-agent-");
  const pinned = { ...manifest.dependencies, ...manifest.devDependencies };
  expect(pinned).toMatchObject({ capstan: version, "@capstan/cli": version });
  for (const wanted of Object.values(pinned)) expect(wanted).toMatch(/^\d+\.\d+\.\d+$/);
  for (const line of readFileSync(join(folder, ".env.example"), "utf8").split("\n"))
    expect(line).toMatch(/^(?:#.*|[A-Z_]+=|)$/);
  expect(readFileSync(join(folder, ".gitignore"), "utf8").split("\n")).toContain(".env");
  expect(checkTrust(join(folder, "capstan.config.ts"), project.env).state).toBe("trusted");
});

it("init creates each template with its own files, dependencies and next step", async () => {
  expect(await make("api", "server")).toContain("npm start\n");
  const api = join(project.folder, "api");
  expect(existsSync(join(api, "server.ts"))).toBe(true);
  expect(existsSync(join(api, "capstan.config.ts"))).toBe(false);
  expect(readFileSync(join(api, "README.md"), "utf8")).toMatch(/^# api\n/);
  expect(await make("coder", "coding")).toContain("npx capstan\n");
  const manifest = JSON.parse(readFileSync(join(project.folder, "coder/package.json"), "utf8"));
  expect(manifest.dependencies).toHaveProperty("@capstan/tools", version);
});

it("init overwrites nothing: it names the existing files, and creates nothing in that case", async () => {
  project.write("README.md", "mine");
  await expect(make()).rejects.toThrow(/already contains README\.md\. Choose another folder/);
  expect(readFileSync(join(project.folder, "README.md"), "utf8")).toBe("mine");
  expect(existsSync(join(project.folder, "package.json"))).toBe(false);
});
