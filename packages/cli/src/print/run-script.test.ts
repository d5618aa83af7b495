import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { sqlite } from "capstan/stores/sqlite";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { runCli } from "../testing/cli-in-process.ts";
import { cliCommand, createScratchProject, type ScratchProject, startCli } from "../testing/cli-process.ts";
import { type FakeChatServer, startFakeChatServer } from "../testing/fake-chat-server.ts";

let project: ScratchProject;
let fake: FakeChatServer;
const previous = process.env.OLLAMA_HOST;

beforeAll(async () => {
  fake = await startFakeChatServer();
});
afterAll(async () => {
  await fake[Symbol.asyncDispose]();
});
beforeEach(() => {
  project = createScratchProject();
  process.env.OLLAMA_HOST = fake.host;
  fake.requests.length = 0;
  fake.replies = [{ text: "Fine." }];
});
afterEach(() => {
  if (previous === undefined) delete process.env.OLLAMA_HOST;
  else process.env.OLLAMA_HOST = previous;
  project.remove();
});

const withModel = ["-m", "ollama/small"];
const ask = (words: readonly string[], stdin = "") => runCli([...withModel, ...words], project, { stdin });
const lastSaid = () => fake.requests.at(-1)?.messages.findLast(({ role }) => role === "user")?.content;
const lines = (text: string) => text.split("\n").filter((line) => line !== "");

describe("the first run on a machine with nothing", () => {
  it("answers, states that it is not AI and which key to set, and stores its data readable only by its owner (S4-57, S4-58, S4-59)", async () => {
    const { CAPSTAN_MODEL: _, ...env } = project.env;
    const cli = spawnSync(process.execPath, [...cliCommand, "-p", "Hello", "--tools", "none"], {
      cwd: project.folder,
      env: { ...env, OLLAMA_HOST: "127.0.0.1:9" },
      encoding: "utf8",
    });
    expect(cli.status).toBe(0);
    expect(cli.stdout).toMatch(/^Hello\. I am an offline model/);
    expect(cli.stdout).not.toContain("\u001b");
    expect(cli.stderr).toMatch(/Offline model: rules, not AI.*OPENAI_API_KEY/);
    expect(cli.stderr).not.toContain("Warning");
    expect(cli.stderr).not.toContain("\u001b");
    const home = env.CAPSTAN_HOME ?? "";
    expect(statSync(home).mode & 0o777).toBe(0o700);
    expect(readdirSync(home)).toContain("capstan.db");
  });
});

describe("--effort and --temperature", () => {
  it("go to the model, and are stored with its answer", async () => {
    const { stdout } = await ask(["-p", "Hi", "--effort", "8000", "--temperature", "0.2", "--stream-json"]);
    const message = lines(stdout)
      .map((line) => JSON.parse(line))
      .find(({ type }) => type === "message");
    expect(message.settings).toEqual({ effort: 8000, temperature: 0.2 });
    expect(fake.requests).toMatchObject([{ temperature: 0.2 }]);
  });

  it.each([
    ["--effort", "huge", "Use none, low, medium, high, xhigh, max, or a number of tokens such as 8000."],
    ["--effort", "0", "Use none, low, medium, high, xhigh, max, or a number of tokens such as 8000."],
    ["--temperature", "2.1", "Must be a number from 0 to 2."],
    ["--temperature", "warm", "Must be a number from 0 to 2."],
  ])("are refused with a hint: %s %s", async (flag, value, hint) => {
    const { code, stderr } = await ask(["-p", "Hi", flag, value]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(hint)]);
    expect(stderr).toContain(flag);
    expect(fake.requests).toHaveLength(0);
  });
});

describe("an older Node", () => {
  it("fails with a one-line error that names the required version", () => {
    const older = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.19.5" } });`;
    const cli = spawnSync(
      process.execPath,
      ["--import", `data:text/javascript,${encodeURIComponent(older)}`, ...cliCommand, "-p", "Hello"],
      { cwd: project.folder, env: project.env, encoding: "utf8" },
    );
    expect({ status: cli.status, stdout: cli.stdout }).toEqual({ status: 1, stdout: "" });
    expect(cli.stderr).toMatch(/^capstan requires Node 22\.19\.0 or later; this is 20\.19\.5\..*\n$/);
  });
});

describe("a script", () => {
  it("puts stdin before the prompt, and brings the files that it names along", async () => {
    project.write("notes/a b.txt", "Whales are blue.");
    const { code, stdout, stderr } = await ask(
      ["-p", 'Sum up @"notes/a b.txt" for @nobody.'],
      "From the pipe\n",
    );
    expect({ code, stdout }).toEqual({ code: 0, stdout: "Fine.\n" });
    expect(lastSaid()).toBe(
      'From the pipe\n\nSum up @"notes/a b.txt" for @nobody.\n\n<file path="notes/a b.txt">\nWhales are blue.\n</file>',
    );
    expect(stderr).toContain("@nobody. is not a file");
  });

  it("writes no escapes into a pipe, whatever the model's output (A70, A71, A124)", async () => {
    fake.replies = [{ text: "\u001b[31mred\u001b[0m \u001b]52;c;aGk=\u0007\u009b2Jdone\u0000\n\ttab" }];
    const { stdout, stderr } = await ask(["-p", "Say."]);
    expect(stdout).toBe("red done\n\ttab\n");
    expect(stderr).not.toContain("\u001b");
  });

  it("names generated media on stderr, and saves them where it is told", async () => {
    fake.replies = [{ text: "Drawn.", image: "data:image/png;base64,iVBORw0KGgo=" }];
    const { code, stdout, stderr } = await ask(["-p", "Draw", "--save-media", "out"]);
    expect([code, stdout]).toEqual([0, "Drawn.\n"]);
    const saved = join(project.folder, "out", "blob_1.png");
    expect(stderr).toContain("· [image image/png, 1 kB → blob_1]");
    expect(stderr).toContain(`· Saved ${saved}`);
    expect(readFileSync(saved).toString("base64")).toBe("iVBORw0KGgo=");
  });

  it("gives the whole result as one object, and the events as lines", async () => {
    fake.replies = [{ text: "One\u2028two\u0085three" }];
    const whole = await ask(["--json"], "Hi");
    expect(lines(whole.stdout)).toHaveLength(1);
    expect(JSON.parse(whole.stdout)).toMatchObject({
      status: "done",
      text: "One\u2028two\u0085three",
      turns: 1,
    });
    const streamed = await ask(["--stream-json"], "Hi");
    expect(streamed.stdout).not.toMatch(/[\u2028\u0085\r]/);
    const events = lines(streamed.stdout).map((line) => JSON.parse(line));
    expect(events.map(({ type }) => type)).toEqual([
      "run_start",
      "turn_start",
      "content_delta",
      "message",
      "turn_end",
      "done",
    ]);
  });

  it("waits out an outage of the model provider, and reports each attempt", async () => {
    fake.replies = [{ status: 503 }, { status: 503 }, { text: "Fine now." }];
    const { code, stdout, stderr } = await ask(["-p", "Hi."]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "Fine now.\n" });
    expect(stderr).toMatch(/· (?:Attempt 2 in|Waiting for the model provider)/);
    expect(fake.requests).toHaveLength(3);
  });

  it("says how to retry a run that failed because of its model, and continues it then", async () => {
    fake.replies = [{ status: 401 }];
    const failed = await ask(["-p", "Hi."]);
    expect(failed).toMatchObject({ code: 1, stdout: "" });
    const [, id = ""] = /To retry: capstan sessions retry (\S+)/.exec(failed.stderr) ?? [];
    fake.replies = [{ text: "Fine now." }];
    expect(await ask(["sessions", "retry", id])).toMatchObject({ code: 0, stdout: "Fine now.\n" });
    expect(lastSaid()).toBe("Hi.");
    const again = await ask(["sessions", "retry", id]);
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining("Nothing to retry") });
  });

  it("wants an answer of the form that is given, and fails without one", async () => {
    const schema = '{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}';
    fake.replies = [{ text: '{"n": 7}' }];
    const good = await ask(["-p", "Count.", "--output-schema", schema]);
    expect(good).toMatchObject({ code: 0, stdout: '{"n":7}\n' });
    fake.replies = [{ text: "seven" }];
    const bad = await ask(["-p", "Count.", "--output-schema", schema]);
    expect(bad).toMatchObject({ code: 1, stdout: "" });
    expect(bad.stderr).toContain("does not match the required schema");
    const none = await ask(["-p", "Count.", "--output-schema", "nowhere.json"]);
    expect(none).toMatchObject({ code: 2 });
  });

  it("has its events, a readable log and the model's reasoning in the session's files (S4-10, S4-51, S4-52, C-29)", async () => {
    fake.replies = [{ text: "Blue.", reasoning: "Whales are blue." }];
    const { stdout, stderr } = await ask(["-p", "Which colour?", "--session-id", "whales"]);
    expect(stdout).toBe("Blue.\n");
    expect(stderr).not.toContain("Whales are blue");
    const folder = join(project.folder, ".data", "logs", "whales");
    const log = (name: string) => readFileSync(join(folder, name), "utf8");
    expect(readdirSync(folder).sort()).toEqual(["events.jsonl", "readable.log", "reasoning.log"]);
    expect(log("reasoning.log")).toContain("Whales are blue.");
    expect(log("readable.log")).not.toContain("Whales are blue.");
    expect(lines(log("events.jsonl")).map((line) => JSON.parse(line).type)).toContain("done");
    expect(statSync(join(folder, "reasoning.log")).mode & 0o777).toBe(0o600);
  });

  it("stops for an approval with 3, explains how to continue, and continues", async () => {
    const write = { calls: [{ name: "write_file", input: { path: "a.txt", content: "hi" } }] };
    fake.replies = [write];
    const asked = await ask(["-p", "Write.", "--session-id", "ses_writing"]);
    expect(asked).toMatchObject({ code: 3, stdout: "" });
    expect(asked.stderr).toContain("Needs approval: write_file");
    expect(asked.stderr).toContain("capstan --resume ses_writing");
    const said = await ask(["-r", "writ", "-p", "Hurry."]);
    expect(said).toMatchObject({ code: 1 });
    expect(said.stderr).toContain("is waiting for a decision on write_file");
    fake.replies = [{ text: "Written." }];
    const allowed = await ask(["-r", "writ", "-p", "--approve", "all"]);
    expect(allowed).toMatchObject({ code: 0, stdout: "Written.\n" });
    expect(readFileSync(join(project.folder, "a.txt"), "utf8")).toBe("hi");
  });

  it("that answers in its last turn, in which it has no tools, is done: no limit was in its way", async () => {
    const answered = await ask(["-p", "Hi", "--max-turns", "1"]);
    expect(answered).toMatchObject({ code: 0, stdout: "Fine.\n" });
    expect(fake.requests.at(-1)?.tools).toBeUndefined();
  });

  it("refuses calls that need approval with --approve none, and ends with 4 at a limit", async () => {
    fake.replies = [{ calls: [{ name: "write_file", input: { path: "b.txt", content: "hi" } }] }];
    const denied = await ask(["-p", "Write.", "--approve", "none", "--max-turns", "2"]);
    expect(denied.code).toBe(4);
    expect(denied.stderr).toContain("limit");
    expect(existsSync(join(project.folder, "b.txt"))).toBe(false);
  });

  it("fails with 1 and the next step when the model has no key", async () => {
    const { code, stdout, stderr } = await runCli(["-m", "groq/x", "-p", "Hi", "--json"], project);
    expect(code).toBe(1);
    expect(stderr).toContain("set GROQ_API_KEY");
    expect(JSON.parse(stdout)).toMatchObject({ status: "failed", error: { code: "model_auth" } });
    const unknown = await runCli(["-m", "grok/x", "-p", "Hi", "--json"], project);
    expect(JSON.parse(unknown.stdout)).toMatchObject({
      status: "failed",
      error: { code: "model_not_found" },
    });
  });

  it("can be tried by doctor --online, which asks for one word", async () => {
    const good = await runCli(["doctor", "--online", ...withModel], project);
    expect(good.stdout).toContain("✓ Model answer: Fine.");
    expect(fake.requests.at(-1)?.tools).toBeUndefined();
  });

  it("keeps its result the one object when the configuration cannot be closed, which is a failure", async () => {
    project.write("ship.config.mjs", "export default { close() { throw new Error('stuck in the ice'); } };");
    const { code, stdout, stderr } = await ask(["-p", "Hi", "--json", "--config", "ship.config.mjs"]);
    expect(code).toBe(1);
    expect(lines(stdout)).toHaveLength(1);
    expect(JSON.parse(stdout)).toMatchObject({ status: "done", text: "Fine." });
    expect(stderr).toContain("stuck in the ice");
  });

  it("reports a data folder that is a file", async () => {
    project.write("afile", "");
    const env = { ...project.env, CAPSTAN_HOME: join(project.folder, "afile") };
    const { code, stderr } = await runCli(["-p", "Hi"], { folder: project.folder, env });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^capstan: The data folder \S+afile is a file\. .*CAPSTAN_HOME/);
    expect(stderr).not.toContain("not expected");
  });

  it("keeps nothing with --no-session", async () => {
    await ask(["-p", "Secret whale", "--no-session"]);
    expect(existsSync(join(project.folder, ".data", "capstan.db"))).toBe(false);
    expect(existsSync(join(project.folder, ".data", "logs"))).toBe(false);
    expect(await ask(["-c", "--no-session", "-p", "Hi"])).toMatchObject({ code: 2 });
  });

  it.each([
    [["-p"], "No prompt"],
    [["-p", "Hi", "-m", "opnai/gpt"], 'Did you mean "openai"?'],
    [["-p", "Hi", "--agent", "nobody"], "Available: assistant"],
    [["-p", "Hi", "--tools", "flies"], 'Did you mean "files"?'],
    [["-p", "Hi", "--approve", "maybe"], "Allowed choices are ask, all, none"],
    [["-p", "Hi", "--budget", "much"], "0.50"],
    [["-p", "Hi", "--fork"], "--continue or --resume"],
    [["--modle", "x"], "Did you mean --model?"],
    [["sesions"], 'Did you mean "sessions"?'],
    [["sessions", "lst"], 'Did you mean "list"?'],
    [["mcp", "lst"], 'Did you mean "list"?'],
    [["help"], 'Did you mean "--help"?'],
    [["-r"], "needs an id"],
    [["-p", "Hi", "--json", "--stream-json"], "cannot be used with option '--stream-json'"],
    [["-p", "Hi", "--database", "foo://x"], "Unsupported database URL foo://"],
  ])("is used wrongly as %j: exit 2, with a suggestion", async (words, hint) => {
    const { code, stdout, stderr } = await runCli(words, project);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(hint);
  });
});

describe("a session", () => {
  it("is continued by -c in its folder, by -r with the beginning of its id, and copied by --fork", async () => {
    await ask(["-p", "First question"]);
    project.write("other/x.txt", "");
    const elsewhere = await runCli([...withModel, "-c", "-p", "Hi"], project, {
      cwd: join(project.folder, "other"),
    });
    expect(elsewhere).toMatchObject({ code: 1 });
    expect(elsewhere.stderr).toContain("No session in");
    await ask(["-c", "-p", "Second question"]);
    expect(JSON.stringify(fake.requests.at(-1)?.messages)).toContain("First question");
    const [{ id }] = JSON.parse((await runCli(["sessions", "list", "--json"], project)).stdout);
    await ask(["-r", id.slice(4, 12), "--fork", "-p", "Third question"]);
    const listed = JSON.parse((await runCli(["sessions", "--json"], project)).stdout);
    expect(listed.map(({ title }: { title: string }) => title)).toEqual([
      "First question (fork)",
      "First question",
    ]);
    expect((await runCli(["sessions", "show", id], project)).stdout).not.toContain("Third question");
  });
});

describe("a script that is interrupted", () => {
  const env = () => ({ ...project.env, OLLAMA_HOST: fake.host });
  /** Asks, and is interrupted in the middle of the answer. */
  const interrupted = async () => {
    const cli = startCli([...withModel, "-p", "Say it.", "--stream-json"], {
      folder: project.folder,
      env: env(),
    });
    cli.child.stdin.end();
    await cli.waitForOutput(/content_delta/);
    cli.child.kill("SIGINT");
    expect(await cli.exit).toBe(130);
    return cli;
  };

  it("exits with 130, whole lines, and a run that can be resumed (not cancelled)", async () => {
    fake.replies = [{ beginning: "Half a" }, { text: "Whole." }];
    const cli = await interrupted();
    expect(cli.stdout().endsWith("\n")).toBe(true);
    for (const line of lines(cli.stdout())) JSON.parse(line);
    expect(cli.stderr()).toContain("To resume: capstan --resume ses_");
    const later = await ask(["-c", "-p", "--json"]);
    expect(JSON.parse(later.stdout)).toMatchObject({ status: "done", text: "Whole." });
    const shown = JSON.parse((await runCli(["sessions", "--json"], project)).stdout);
    const { runs } = JSON.parse((await runCli(["sessions", "show", shown[0].id, "--json"], project)).stdout);
    expect(runs).toMatchObject([{ status: "done", words: "Say it." }]);
  });

  it("whose run was cancelled afterwards ends it before the next run of its session starts", async () => {
    fake.replies = [{ beginning: "Half a" }, { text: "Something new." }];
    const cli = await interrupted();
    const { runId, sessionId } = JSON.parse(lines(cli.stdout())[0] ?? "");
    const store = await sqlite(join(project.env.CAPSTAN_HOME ?? "", "capstan.db"));
    await store.sendMessage(runId, { key: "stop", type: "cancel" });
    await store.close();
    const later = await ask(["-c", "-p", "And now?", "--json"]);
    expect(JSON.parse(later.stdout)).toMatchObject({ status: "done", text: "Something new." });
    const shown = await runCli(["sessions", "show", sessionId, "--json"], project);
    expect(JSON.parse(shown.stdout).runs).toMatchObject([
      { status: "cancelled", words: "Say it." },
      { status: "done", words: "And now?" },
    ]);
  });

  it("leaves at once while it only waits for its input", async () => {
    const cli = startCli(["-p"], { folder: project.folder, env: env() });
    // More than a pipe holds: when it is written, somebody reads.
    await new Promise((resolve) => cli.child.stdin.write("x".repeat(1_000_000), resolve));
    cli.child.kill("SIGTERM");
    expect(await cli.exit).toBe(130);
    expect(cli.stdout()).toBe("");
  });

  it("exits quietly when its output is closed", async () => {
    fake.replies = [{ text: "x".repeat(400_000) }];
    const cli = startCli([...withModel, "-p", "Say it.", "--stream-json"], {
      folder: project.folder,
      env: env(),
    });
    cli.child.stdin.end();
    cli.child.stdout.destroy();
    expect(await cli.exit).toBe(130);
    expect(cli.stderr()).toBe("");
  });
});
