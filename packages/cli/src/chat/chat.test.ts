import { mkdir, mkdtemp, readFile, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sqlite } from "capstan/stores/sqlite";
import { describe, it } from "vitest";
import { type PtyOptions, type PtyProgram, startInPty } from "../testing/pty.ts";

const ready = "Ask anything";

async function begin(options: PtyOptions & { readonly home?: string; readonly session?: string } = {}) {
  const home = options.home ?? join(await mkdtemp(join(tmpdir(), "capstan-chat-")), "project");
  await mkdir(home, { recursive: true });
  const args = [home, ...(options.session === undefined ? [] : [options.session])];
  const program = startInPty(import.meta.url, ["../testing/pty-chat.ts", ...args], options);
  return { home, program };
}

/** What people see, without what differs from run to run. */
function still(screen: string): string {
  return screen
    .replace(/\d+\.\d s/g, "N s")
    .replace(/^( *[✓✗⊘] .*) N s$/gm, "$1")
    .replace("thought for N s", "thought for a moment")
    .replace(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/gu, "⠿")
    .replace(/[0-9a-f]{8}(?=, just now)/g, "xxxxxxxx");
}

/** The screen once the answer is there and the prompt is free again. */
async function answered(program: PtyProgram, said: string): Promise<string> {
  return program.waitFor(new RegExp(`${said}[\\s\\S]*context[^›]*› Ask anything`));
}

describe.concurrent("the chat in a terminal", () => {
  it("begins with model, session and trust, answers in Markdown with a card for the tool, and unfolds", async ({
    expect,
  }) => {
    const { program } = await begin({ rows: 50 });
    await using _ = program;
    expect(await program.waitFor(ready)).toMatchInlineSnapshot(`
      "capstan scripted · new session · project (not trusted)

      › Ask anything, /help for commands

        scripted · assistant"
    `);
    program.type("weather in oslo\r");
    expect(still(await answered(program, "Rome"))).toMatchInlineSnapshot(`
      "capstan scripted · new session · project (not trusted)

      › weather in oslo

      ∴ thought for a moment (Ctrl-O)

      I look it up.

      ✓ weather Oslo
        It is 21 degrees in Oslo.
        Wind: 3 km/h
        Humidity: 40 %
        Pressure: 1013 hPa
        … 2 more lines (Ctrl-O)

      Oslo

      It is 21 degrees and calm:

      • wind 3 km/h
      • sun until 20:48, see the table (https://example.com/sun)

        ── ts
        const warm = true;

      city │ degrees
      ─────┼────────
      Oslo │ 21
      Rome │ 30

        20 in · 10 out · N s · context 67

      › Ask anything, /help for commands

        scripted · assistant"
    `);
    program.type("/reasoning\r");
    await program.waitFor("I look it up.\n\n");
    program.type("\x0f");
    await program.waitFor("The person wants to know the weather.");
    program.type("/quit\r");
    expect(await program.exitCode).toBe(0);
    expect(program.written).toContain("\x1b[?2004l");
    expect(program.getScreen()).toContain("bye");
  });

  it("shows each requested call; it can be allowed, denied with a reason, or always allowed", async ({
    expect,
  }) => {
    const { program } = await begin({ rows: 70 });
    await using _ = program;
    await program.waitFor(ready);
    program.type("mail one\r");
    expect(still(await program.waitFor("y allow"))).toMatchInlineSnapshot(`
      "capstan scripted · new session · project (not trusted)

      › mail one

      ? Allow send_mail?
        It sends words to somebody.
        │ {
        │   "to": "ann@example.com",
        │   "text": "Hello"
        │ }
        always: send_mail with exactly these arguments

        y allow   n deny   a always in this session   e edit   r deny and say why
        Esc stop"
    `);
    program.type("n");
    expect(await answered(program, "denied[\\s\\S]*Done with the mail")).not.toContain("sent to");
    program.type("mail two\r");
    await program.waitFor(/mail two[\s\S]*y allow/);
    program.type("r");
    await program.waitFor("Why not?");
    program.type("too early\r");
    await answered(program, "mail two[\\s\\S]*denied: too early[\\s\\S]*Done with the mail");
    program.type("mail edited\r");
    await program.waitFor(/mail edited[\s\S]*y allow/);
    program.type("e");
    await program.waitFor(/Arguments of send_mail[\s\S]*"text":"Hello"/);
    program.type("\u0015[1]\r"); // Ctrl-U clears the line
    await program.waitFor("The arguments must be a JSON object.");
    program.type('\u0015{"to":7}\r');
    await program.waitFor(/Arguments of send_mail\s+[^\n]*to/);
    program.type('\u0015{"to":"bob@example.com","text":"Bye"}\r');
    const changed = await program.waitFor(/Allow send_mail with your changes\?[\s\S]*y allow/);
    expect(still(changed)).toMatch(/"to": "bob@example\.com"[\s\S]*"text": "Bye"/);
    expect(still(changed).split("with your changes?")[1]).not.toContain("always");
    program.type("e"); // once more, from the changed arguments
    await program.waitFor(/Arguments of send_mail[\s\S]*"text":"Bye"/);
    program.type('\u0015{"to":"bob@example.com","text":"See you"}\r');
    await program.waitFor(/"text": "See you"[\s\S]*y allow/);
    program.type("y");
    await answered(program, "mail edited[\\s\\S]*allowed with your changes[\\s\\S]*sent to bob@example.com");
    program.type("mail three\r");
    await program.waitFor(/mail three[\s\S]*y allow/);
    program.type("a");
    await answered(program, "mail three[\\s\\S]*sent to ann@example.com");
    program.type("mail four\r");
    expect(await answered(program, "mail four[\\s\\S]*sent to ann")).not.toMatch(/mail four[\s\S]*Allow/);
    program.type("/approvals\r");
    await program.waitFor(/1 send_mail +send_mail with exactly these arguments: \{ "to":\s+"ann/);
    program.type("/approvals revoke 2\r");
    await program.waitFor("No such rule.");
    program.type("/approvals revoke 1\r");
    await program.waitFor(/Revoked: send_mail with exactly/);
    program.type("mail five\r");
    await program.waitFor(/mail five[\s\S]*y allow/);
  });

  it("retries a run after its model failed, when the user says so", async ({ expect }) => {
    const { program } = await begin({ rows: 40 });
    await using _ = program;
    await program.waitFor(ready);
    program.type("/retry\r");
    await program.waitFor(/Nothing to retry: this session is empty\.\s+› Ask anything/);
    program.type("flaky\r");
    await program.waitFor(/tries again from where the run failed\.\s+› Ask anything/);
    program.type("/retry\r");
    expect(still(await answered(program, "You said: flaky"))).toMatchInlineSnapshot(`
      "capstan scripted · new session · project (not trusted)

      ! Nothing to retry: this session is empty.

      › flaky

      ! scripted failed: Scripted: model_auth.

      · /retry tries again from where the run failed.

      · Retrying.

      You said: flaky

        10 in · 5 out · N s · context 18

      › Ask anything, /help for commands

        scripted · assistant"
    `);
    program.type("/retry\r");
    await program.waitFor("did not fail because of");
    program.type("/compact\r");
    await program.waitFor("Nothing to compact: there is nothing before the last two turns.");
  });

  it("counts down while the model provider is not available, and stops waiting with Esc", async ({
    expect,
  }) => {
    const { program } = await begin({ rows: 30 });
    await using _ = program;
    await program.waitFor(ready);
    program.type("busy\r");
    const screen = await program.waitFor(/next in (?:60|59) min/);
    expect(screen).toMatch(
      /! scripted failed: Slow down\.\n[\s\S]*waiting for the model provider until \d\d:/,
    );
    program.type("\x1b");
    await program.waitFor(/! Stopped\.\s+[\s\S]*› Ask anything/);
  });

  it("steers a run with text typed meanwhile, and lets the user answer tools", async ({ expect }) => {
    const { program } = await begin({ rows: 60, env: { NAP_MS: "400" } });
    await using _ = program;
    await program.waitFor(ready);
    program.type("nap\r");
    await program.waitFor("snoring");
    program.type("hurry up\r");
    await answered(program, "› hurry up[\\s\\S]*You said: hurry up");
    program.type("survey\r");
    await program.waitFor("colour (red / blue)");
    program.type("green\r");
    await program.waitFor("Must be one of red, blue.");
    program.type("\x17blue\r");
    await program.waitFor("age (a whole number)");
    program.type("\r");
    await answered(program, '"colour":"blue"');
    program.type("choose\r");
    await program.waitFor("choose needs a result from you");
    program.type("b\r");
    await answered(program, "So be it");
    program.type("nested\r");
    expect(await answered(program, "reader weather please[^\\n]*\\n  ✓ weather Oslo")).toContain(
      "The reader is back.",
    );
  });

  it("with the policy `interrupt` stops a run for the text typed meanwhile", async () => {
    const { program } = await begin({ rows: 60, env: { ON_BUSY: "interrupt" } });
    await using _ = program;
    await program.waitFor(ready);
    program.type("nap\r");
    await program.waitFor("snoring");
    program.type("hurry up\r");
    await answered(program, "Stopped[\\s\\S]*› hurry up[\\s\\S]*You said: hurry up");
  });

  it("stops with Ctrl-C or Esc in every state and keeps the conversation", async ({ expect }) => {
    const { program } = await begin({ rows: 60 });
    await using _ = program;
    await program.waitFor(ready);
    program.type("half a thought");
    await program.waitFor("› half a thought");
    program.type("\x03");
    await program.waitUntilGone("half a thought");
    program.type("slow\r");
    await program.waitFor("four five six");
    program.type("\x03");
    const stopped = await answered(program, "Stopped");
    expect(stopped).toContain("four five six");
    program.type("slow\r");
    await program.waitFor(/› slow[\s\S]*› slow[\s\S]*four five/);
    program.type("\x1b");
    await answered(program, "› slow[\\s\\S]*Stopped[\\s\\S]*› slow[\\s\\S]*Stopped");
    program.type("nap\r");
    await program.waitFor("snoring");
    program.type("\x03hello again\r");
    // What is said while it stops is not lost.
    await answered(program, "You said: hello again");
    await answered(program, "! nap interrupted[\\s\\S]*Stopped");
    program.type("mail\r");
    await program.waitFor("y allow");
    program.type("\x03");
    expect(await answered(program, "Allow send_mail[\\s\\S]*Stopped")).not.toContain("sent to");
    program.type("\x03");
    await program.waitFor("Ctrl-C again to exit");
    program.type("\x03");
    expect(await program.exitCode).toBe(0);
  });

  it("resumes a run whose process was killed, and shows its end; Ctrl-D exits", async ({ expect }) => {
    const first = await begin({ env: { NAP_MS: "60000" } });
    await first.program.waitFor(ready);
    first.program.type("nap\r");
    await first.program.waitFor("snoring");
    first.program.kill("SIGKILL");
    expect(await first.program.exitCode).toBe(137);
    const store = await sqlite(join(first.home, "sessions.db"));
    const [stored] = await store.list();
    await store.close();
    const second = await begin({ home: first.home, session: stored?.id ?? "", env: { NAP_MS: "1500" } });
    await using program = second.program;
    const screen = await answered(program, "I am awake");
    expect(screen).toContain("› nap");
    expect(screen).toContain("slept well");
    expect(screen).toContain("The previous process stopped.");
    program.type("\x04");
    expect(await program.exitCode).toBe(0);
  });

  it("that is left in the middle of a run has stored the end of that run", async ({ expect }) => {
    const { home, program } = await begin();
    await program.waitFor(ready);
    program.type("nap\r");
    await program.waitFor("snoring");
    program.type("\x04");
    expect(await program.exitCode).toBe(0);
    const store = await sqlite(join(home, "sessions.db"));
    const [stored] = await store.list();
    expect(await store.listRuns(stored?.id ?? "")).toMatchObject([{ state: "ended" }]);
    await store.close();
  });

  it("shows an approval again to who comes later", async ({ expect }) => {
    const first = await begin();
    await first.program.waitFor(ready);
    first.program.type("mail\r");
    await first.program.waitFor("y allow");
    first.program.kill("SIGKILL");
    await first.program.exitCode;
    const store = await sqlite(join(first.home, "sessions.db"));
    const [stored] = await store.list();
    await store.close();
    const second = await begin({ home: first.home, session: stored?.id ?? "" });
    await using program = second.program;
    await program.waitFor("y allow");
    program.type("y");
    expect(await answered(program, "sent to ann@example.com")).toContain("Done with the mail.");
  });

  it("protects the screen, title and clipboard from any output of models and tools (A70, A71, A124)", async ({
    expect,
  }) => {
    const { program } = await begin();
    await using _ = program;
    await program.waitFor(ready);
    program.type("evil\r");
    const screen = await answered(program, "It is over");
    expect(program.sideEffects).toEqual([]);
    expect(screen).toContain("capstan scripted");
    expect(screen).toContain("Look: \\u{202e}bidi");
    expect(screen).toContain("EVIL\n  gone red\\u{202e} txtlink␇");
  });

  it("names the untrusted source of a call, which then needs approval each time, and shows changes as a diff (A71)", async ({
    expect,
  }) => {
    const { program } = await begin({ rows: 70 });
    await using _ = program;
    await program.waitFor(ready);
    program.type("edit\r");
    expect(still(await program.waitFor("y allow")).slice(-330)).toMatchInlineSnapshot(`
      "capstan scripted · new session · project (not trusted)

      › edit

      ? Allow edit_file?
        "edit_file" needs approval.
        │ --- a.txt
        │ @@
        │ -old line
        │ +new line
        │ +and more
        always: edit_file with exactly these arguments

        y allow   n deny   a always in this session   e edit   r deny and say why
        Esc stop"
    `);
    program.type("y");
    await answered(program, "-old line\n  \\+new line[\\s\\S]*Changed it");
    program.type("taint\r");
    const asked = await program.waitFor("y allow");
    expect(asked.replace(/\s+/g, " ")).toContain(
      '"post" would send data after the agent read text from others ' +
        "(“fetch_page” with “https://evil.example/\\u{202e}gnp” in turn 1)",
    );
    expect(asked).not.toContain("always in this session");
    program.type("e");
    await program.waitFor(/Arguments of post[\s\S]*Enter checks/);
    program.type('\u0015{"text":"less"}\r');
    const changed = await program.waitFor(/Allow post with your changes\?[\s\S]*y allow/);
    expect(changed.split("with your changes?")[1]?.replace(/\s+/g, " ")).toMatch(
      /^ "post" would send data after the agent read text from others .*"text": "less"/,
    );
    program.type("y");
    await answered(program, "posted[\\s\\S]*That was it");
  });

  it("fits 40 columns, and fills the terminal again when it is resized", async ({ expect }) => {
    const { program } = await begin({
      columns: 40,
      rows: 40,
      env: { NOTICE: "offline model: rules, not AI. Set OPENAI_API_KEY." },
    });
    await using _ = program;
    await program.waitFor(ready);
    program.type("mail\r");
    expect(still(await program.waitFor("y allow"))).toMatchInlineSnapshot(`
      "capstan scripted · new session · project
      (not trusted)

      ! offline model: rules, not AI. Set
        OPENAI_API_KEY.

      › mail

      ? Allow send_mail?
        It sends words to somebody.
        │ {
        │   "to": "ann@example.com",
        │   "text": "Hello"
        │ }
        always: send_mail with exactly these
        arguments

        y allow   n deny
        a always in this session   e edit
        r deny and say why   Esc stop"
    `);
    program.type("y");
    await answered(program, "Done with the mail");
    program.type("some words that are in the prompt while it is made narrow");
    await program.waitFor("made narrow");
    program.resize(24, 40);
    await program.waitFor(/is made\s+narrow/);
    program.resize(100, 40);
    const wide = await program.waitFor("› some words that are in the prompt while it is made narrow");
    expect(wide.match(/some words/g)).toHaveLength(1);
    expect(wide.match(/scripted · assistant/g)).toHaveLength(1);
  });

  it("has a screen for help, sessions, the effort and errors, and none has colours with NO_COLOR", async ({
    expect,
  }) => {
    const { program, home } = await begin({ rows: 60, env: { NO_COLOR: "1" } });
    await using _ = program;
    await program.waitFor(ready);
    program.type("hello\r");
    await answered(program, "You said: hello");
    program.type("/rename the first talk\r");
    await program.waitFor('session to "the first talk"');
    program.type("/he");
    await program.waitFor("show commands and keys");
    program.type("\t\r");
    expect(still(await program.waitFor(/Keys[\s\S]*twice exits/))).toMatchInlineSnapshot(`
      "capstan scripted · new session · project (not trusted)

      › hello

      You said: hello

        10 in · 5 out · N s · context 18

      · Renamed this session to "the first talk".

      Commands
        /help                       show commands and keys
        /model [provider/model]     show or change the model
        /effort [level or tokens]   show or change how much the model reasons
        /agents [name]              list agents, or switch to another
        /tools                      list the agent's tools
        /mcp                        list MCP servers and their state
        /approvals [revoke number]  list or revoke what is always allowed
        /sessions [words]           list or search sessions
        /resume [number or id]      resume another session
        /retry                      retry the last run after its model failed
        /compact                    summarize older messages now
        /fork                       continue in a copy of this session
        /new                        start a new session
        /rename title               set the title of this session
        /export [file]              export this session to a .md, .html or .json file
        /reasoning                  show the model's latest reasoning
        /quit                       exit

      Keys
        Enter                         send; during a run, steer it
        Shift+Enter, Ctrl-J, \\ Enter  new line
        @path                         attach a file; Tab completes
        Up, Down                      previous prompts
        Ctrl-O                        show the last folded output in full
        Esc, Ctrl-C                   stop the run; Ctrl-C twice exits

      › Ask anything, /help for commands

        scripted · assistant"
    `);
    program.type("/new\r/sessions\r");
    expect(still(await program.waitFor("the first talk  ")).slice(-220)).toMatchInlineSnapshot(`
      " run; Ctrl-C twice exits

      capstan scripted · new session · project (not trusted)

      Sessions (/resume 1 resumes the first)
         1 the first talk  xxxxxxxx, just now

      › Ask anything, /help for commands

        scripted · assistant"
    `);
    program.type("/nonsense\r");
    await program.waitFor("Unknown command /nonsense");
    program.type("fail\r");
    expect(
      still(await program.waitFor(/› fail[\s\S]*! [^\n]*\n\n· [^\n]*\n\n› Ask/)).slice(-180),
    ).toMatchInlineSnapshot(`
      "lists all commands.

      › fail

      ! scripted failed: Scripted: model_failed.

      · /retry tries again from where the run failed.

      › Ask anything, /help for commands

        scripted · assistant"
    `);
    program.type("/resume 1\r");
    await program.waitFor(/session [0-9a-z-]+[\s\S]*› hello[\s\S]*You said: hello/);
    program.type("/effort\r");
    await program.waitFor("Effort: default.");
    program.type("/effort huge\r");
    await program.waitFor('Unknown effort "huge". Use none, low, medium, high, xhigh, max');
    program.type("/effort high\r");
    await program.waitFor("Effort: high.");
    program.type("think harder\r");
    await answered(program, "You said: think harder");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what is looked for
    expect(program.written.replaceAll("\x1b[0m", "")).not.toMatch(/\x1b\[[0-9;]*m/);
    const file = join(home, "history.jsonl");
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readFile(file, "utf8")).toContain('"hello"\n');
    const store = await sqlite(join(home, "sessions.db"));
    const [stored] = (await store.list()).filter(({ title }) => title === "the first talk");
    const starts = (await store.read(stored?.id ?? "")).filter(({ type }) => type === "run_start");
    await store.close();
    expect(starts).toMatchObject([{ input: [{ content: "hello" }] }, { settings: { effort: "high" } }]);
  });
});
