import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { defineAgent, defineTool, run } from "capstan";
import { addApprovalRule } from "capstan/sessions";
import { sqlite } from "capstan/stores/sqlite";
import { fakeClock, scriptedModel } from "capstan/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chatKeys } from "../../chat/slash-commands.ts";
import { runCli } from "../../testing/cli-in-process.ts";
import { createScratchProject, type ScratchProject } from "../../testing/cli-process.ts";

let project: ScratchProject;
const told = (...words: string[]) => runCli(words, project);

beforeAll(async () => {
  project = createScratchProject();
  await told("-p", "Hello whale", "--session-id", "ses_alpha");
  await told("-p", "\u001b[31mHello\u001b[0m squid", "--session-id", "ses_beta");
});
afterAll(() => project.remove());

describe("sessions", () => {
  it("are listed for users and for scripts, newest first, without terminal control sequences", async () => {
    const { stdout } = await told("sessions");
    expect(stdout.split("\n").map((line) => line.split(/\s{2,}/).slice(0, 2))).toEqual([
      ["ID", "TITLE"],
      ["ses_beta", "\\u{1b}[31mHello\\u{1b}[0m squid"],
      ["ses_alpha", "Hello whale"],
      [""],
    ]);
    const listed = JSON.parse((await told("sessions", "list", "--json", "--most", "1")).stdout);
    expect(listed).toMatchObject([{ id: "ses_beta", folder: expect.stringContaining("capstan-cli-") }]);
  });

  it("are found by words, shown, replayed and renamed by the beginning of an id", async () => {
    expect((await told("sessions", "search", "whale")).stdout).toContain("ses_alpha");
    expect((await told("sessions", "search", "narwhal")).stderr).toContain("Try fewer words");
    expect((await told("sessions", "show", "al")).stdout).toContain("Hello whale");
    const { stdout } = await told("replay", "al");
    expect(stdout).toMatch(/Start of assistant in session ses_alpha: "Hello whale"[\s\S]*Turn 1\/10/);
    const [first] = (await told("replay", "al", "--stream-json")).stdout.split("\n");
    expect(JSON.parse(first ?? "")).toMatchObject({ type: "run_start", seq: 1 });
    await told("sessions", "rename", "al", "The whale talk");
    expect((await told("sessions")).stdout).toContain("The whale talk");
  });

  it("are exported to stdout, or to a file that others cannot read", async () => {
    expect((await told("export", "al")).stdout).toContain("Hello whale");
    const { stderr, stdout } = await told("export", "al", "--format", "html", "-o", "talk.html");
    expect(stdout).toBe("");
    expect(stderr).toContain("talk.html");
    const file = join(project.folder, "talk.html");
    expect(readFileSync(file, "utf8")).toMatch(/^<!doctype html>/i);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(JSON.parse((await told("sessions", "export", "al", "--format", "json")).stdout)).toHaveProperty(
      "facts",
    );
    expect(await told("export", "al", "--format", "pdf")).toMatchObject({ code: 2 });
  });

  it("list what is always allowed in them, and revoke it", async () => {
    const store = sqlite(join(project.folder, "rules.db"));
    const tool = defineTool({
      ...{ name: "send", description: "Sends.", input: { type: "object" }, needsApproval: true },
      target: ({ to }) => String(to),
    });
    const model = scriptedModel([{ calls: [{ name: "send", input: { to: "ann\u202e@example.com" } }] }]);
    const agent = defineAgent({ name: "sender", model, tools: [tool] });
    const { sessionId, runId, pending } = await run(agent, "Send.", { store, session: "ses_rules" });
    if (pending[0]) await addApprovalRule(store, { sessionId, runId }, pending[0]);
    await store.close();
    const approvals = ["sessions", "approvals", "ses_rules", "--database", "rules.db"];
    const words = "send for ann\\u{202e}@example.com, whatever the other arguments are";
    expect((await told(...approvals)).stdout).toContain(words);
    const [rule] = JSON.parse((await told(...approvals, "--json")).stdout);
    expect(await told(...approvals, "--revoke", "rule_none")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("not found"),
    });
    const { stderr } = await told(...approvals, "--revoke", rule.id);
    expect(stderr).toContain("Revoked 1 of 1 rule.");
    expect((await told(...approvals)).stderr).toContain("No calls are always allowed");
  });

  it("do not take an approval that comes too late, and continue without the call", async () => {
    const store = sqlite(join(project.folder, "late.db"));
    const input = { path: "late.txt", content: "x" };
    const model = scriptedModel([{ calls: [{ name: "write_file", input }] }]);
    const tool = defineTool({
      ...{ name: "write_file", description: "Writes.", input: { type: "object" }, needsApproval: true },
    });
    const agent = defineAgent({ name: "assistant", model, tools: [tool] });
    await run(agent, "Write.", { store, session: "ses_late", clock: fakeClock() });
    await store.close();
    const resume = ["--resume", "ses_late", "-p", "--database", "late.db"];
    expect(await told(...resume, "--approve", "all")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("expired at 2026-01-02T00:00:00.000Z"),
    });
    expect(await told(...resume)).toMatchObject({ code: 0 });
    expect(existsSync(join(project.folder, "late.txt"))).toBe(false);
  });

  it("must be named without doubt, and are removed only when that is meant", async () => {
    const many = await told("sessions", "show", "ses_");
    expect(many).toMatchObject({ code: 1 });
    expect(many.stderr).toContain("2 sessions start with");
    expect((await told("sessions", "show", "zzz")).stderr).toContain("`capstan sessions list`");
    expect(await told("sessions", "rm", "be")).toMatchObject({ code: 2 });
    const logs = join(project.folder, ".data", "logs", "ses_beta");
    expect(existsSync(logs)).toBe(true);
    expect(await told("sessions", "rm", "be", "--yes")).toMatchObject({ code: 0 });
    expect(existsSync(logs)).toBe(false);
    expect((await told("sessions", "--json")).stdout).not.toContain("ses_beta");
  });
});

describe("prune", () => {
  it("lists old and large sessions, and deletes them with their logs when that is confirmed", async () => {
    await told("-p", "Hello shrimp", "--session-id", "ses_gamma");
    const logs = join(project.folder, ".data", "logs", "ses_gamma");
    expect(existsSync(logs)).toBe(true);
    expect(await told("sessions", "prune")).toMatchObject({ code: 2, stderr: /by age, size or scope/ });
    for (const wrong of ["7", "0d", "3 weeks"])
      expect(await told("sessions", "prune", "--older-than", wrong)).toMatchObject({ code: 2 });
    expect((await told("sessions", "prune", "--older-than", "1d")).stderr).toContain("No sessions to delete");
    const listed = await told("sessions", "prune", "--larger-than", "1kb", "--dry-run", "--json");
    expect(JSON.parse(listed.stdout)).toContainEqual(
      expect.objectContaining({ id: "ses_gamma", bytes: expect.any(Number) }),
    );
    expect(await told("sessions", "prune", "--larger-than", "1kb")).toMatchObject({ code: 2 });
    expect((await told("sessions", "prune", "--user", "nobody", "--yes")).stderr).toContain("No sessions");
    await told("sessions", "rename", "al", "kept");
    expect(existsSync(logs)).toBe(true);
    const pruned = await told("sessions", "prune", "--larger-than", "1kb", "--yes");
    expect(pruned.stderr).toMatch(/Deleted \d sessions and their logs/);
    expect(existsSync(logs)).toBe(false);
    expect((await told("sessions", "--json")).stdout).not.toContain("ses_gamma");
    await told("-p", "Hello whale", "--session-id", "ses_alpha");
  });
});

describe("doctor", () => {
  it("reports the checks, the settings to add, and the log location (S4-52)", async () => {
    const { code, stdout } = await told("doctor");
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /✓ Node.*\n✓ Data folder.*\n✓ Database: .*1 session, intact\n✓ Configuration: none/,
    );
    expect(stdout).toContain("✓ MCP clients: none (`capstan mcp install <client>` adds Capstan to one)");
    expect(stdout).toMatch(/! Model: the offline model: rules, not AI\n {4}→ .*OPENAI_API_KEY/);
    expect(stdout).toMatch(/Logs: .*events\.jsonl.*readable\.log.*reasoning\.log/);
  });

  it("fails when something is broken, and suggests a fix", async () => {
    writeFileSync(join(project.folder, "bad.db"), "this is no database".repeat(100));
    const { code, stdout } = await told("doctor", "--database", "bad.db", "-m", "openai/x", "--json");
    expect(code).toBe(1);
    const broken = JSON.parse(stdout).filter(({ state }: { state: string }) => state === "broken");
    expect(broken).toMatchObject([
      { what: "Database", advice: expect.stringContaining("--database") },
      { what: "Model", says: "no API key for openai/x", advice: expect.stringContaining("OPENAI_API_KEY") },
    ]);
  });
});

describe("doctor on a database with a run that cannot continue", () => {
  it("names the run, the reason and its session", async () => {
    const store = sqlite(join(project.folder, "stuck.db"));
    const agent = defineAgent({
      name: "gone",
      model: scriptedModel([{ calls: [{ name: "measure" }] }]),
      tools: [defineTool({ name: "measure", description: "The client measures", input: {} })],
    });
    expect(await run(agent, "Go", { store, runId: "run_1", session: "ses_1" })).toMatchObject({
      status: "waiting",
    });
    await store.close();
    const { code, stdout } = await told("doctor", "--database", "stuck.db");
    expect(code).toBe(0);
    expect(stdout).toContain(
      '! Run run_1: cannot continue. The agent "gone" is not configured. Add it to the agents',
    );
    expect(stdout).toContain("→ `capstan sessions show ses_1` shows its session.");
    expect((await told("doctor")).stdout).toContain("✓ Runs: none is stuck");
  });
});

describe("models", () => {
  it("are listed with missing keys, prices, and the one in use", async () => {
    const { stdout } = await runCli(["models", "--json"], {
      ...project,
      env: { ...project.env, GOOGLE_API_KEY: "hidden-key" },
    });
    expect(stdout).not.toContain("hidden-key");
    const known = JSON.parse(stdout);
    expect(known[0]).toMatchObject({ model: "offline/rules", inUse: true });
    expect(known).toContainEqual({
      model: "openai/gpt-5-mini",
      provider: "openai",
      inUse: false,
      key: { type: "missing", variables: ["OPENAI_API_KEY"] },
      price: { input: 0.25, output: 2 },
      contextWindow: 400_000,
    });
    const gemini = known.find(({ provider }: { provider: string }) => provider === "gemini");
    expect(gemini.key).toEqual({ type: "set", variable: "GOOGLE_API_KEY" });
  });
});

describe("help", () => {
  it.each([
    "sessions",
    "replay",
    "export",
    "models",
    "doctor",
    "keys",
  ])("of %s teaches with examples", async (name) => {
    const { code, stdout } = await told(name, "--help");
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`Examples:\n  \\$ .*capstan ${name}`));
  });

  it("shows ids of keys as they are, and promises no command that does not exist", async () => {
    const { id } = JSON.parse((await told("keys", "create", "ada", "--json")).stdout);
    const [, example = ""] = /keys revoke (\S+)/.exec((await told("keys", "--help")).stdout) ?? [];
    expect(example).toHaveLength(id.length);
    expect(id + example).toMatch(/^[0-9a-f]+$/);
    expect((await told("export", "--help")).stdout).toContain("in the studio, or with POST /api/sessions");
  });

  it("of the chat and the documentation name the same keys", () => {
    const docs = readFileSync(join(import.meta.dirname, "../../../../../docs/cli.md"), "utf8").replaceAll(
      "`",
      "",
    );
    for (const key of chatKeys.flatMap(([names]) => names.split(", "))) expect(docs).toContain(key);
  });

  it("of the program has examples, exit codes and every command", async () => {
    const { code, stdout, stderr } = await told("--help");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    for (const word of ["Examples:", "Exit codes:", "dev", "serve", "mcp", "init", "doctor", "sessions"])
      expect(stdout).toContain(word);
    expect(await told("--version")).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    });
  });
});

describe("keys", () => {
  it("are shown once, listed without their secrets, and revoked", async () => {
    const made = await told("keys", "create", "alice", "--expires", "30d");
    expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/^cap_\S{30,}\n$/) });
    const listed = await told("keys", "list", "--json");
    const secret = made.stdout.trim();
    expect(listed.stdout).not.toContain(secret);
    const key = JSON.parse(listed.stdout).find(({ user }: { user: string }) => user === "alice");
    expect(key).toMatchObject({ user: "alice", isAdmin: false, isRevoked: false });
    expect((await told("keys")).stdout).toMatch(/alice +user +just now +until 20/);
    expect(await told("keys", "revoke", key.id)).toMatchObject({ code: 0 });
    expect((await told("keys")).stdout).toContain("revoked");
    expect(await told("keys", "revoke", "nobody")).toMatchObject({ code: 1 });
    expect(await told("keys", "create", "")).toMatchObject({ code: 2, stdout: "" });
    expect((await told("keys", "create", "bob", "--expires", "yesterday")).stderr).toContain("30d, 12h");
  });
});
