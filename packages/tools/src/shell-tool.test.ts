import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  canary,
  createTemporaryShell,
  findProcesses,
  hasBubblewrap,
} from "./shell/testing/temporary-shell.ts";
import { shellTool } from "./shell-tool.ts";

type Shell = ReturnType<typeof createTemporaryShell>;

let shell: Shell;
afterEach(() => {
  shell.remove();
  vi.unstubAllEnvs();
});
const open = (options?: Parameters<typeof createTemporaryShell>[0]) => {
  shell = createTemporaryShell(options);
  return shell;
};

/** A daemon: it leaves its session, its group and its parent. The argument is unique, so that it can be found. */
const daemonize = (mark: string) =>
  `(setsid sh -c 'setsid sleep ${mark} >/dev/null 2>&1 &' >/dev/null 2>&1 &); `;
let number = 0;
const createMark = () => `3600.${process.pid}${++number}`;

describe.each([
  ["in a sandbox", hasBubblewrap ? ("required" as const) : undefined],
  ["without a sandbox", "off" as const],
])("shell %s", (_name, sandbox) => {
  beforeEach(({ skip }) => skip(sandbox === undefined, "bubblewrap does not work here"));
  const start = (limits = {}) => open({ sandbox: sandbox ?? "off", limits });

  it("runs an argument list without a shell, in the working folder, and reports the exit", async () => {
    const { call, cwd } = start();
    const { content, data, message } = await call({ command: ["printf", "%s|", "$HOME", "a b", "`id`"] });
    expect({ content, message }).toEqual({
      content: "Exit code 0.\n$HOME|a b|`id`|",
      message: "Exit code 0.",
    });
    expect(data).toMatchObject({ exitCode: 0, signal: null });
    expect((await call({ command: ["pwd"] })).content).toBe(`Exit code 0.\n${cwd}`);
    expect((await call({ script: "echo one; echo two >&2; echo three; exit 3" })).content).toBe(
      "Exit code 3.\none\ntwo\nthree",
    );
    expect((await call({ command: ["sh", "-c", "kill -9 $$"] })).data).toMatchObject({ signal: "SIGKILL" });
    expect((await call({ command: ["no-such-program"] })).data).toMatchObject({ exitCode: 127 });
    expect((await call({ command: ["true"] })).content).toBe("Exit code 0. No output.");
  });

  it("gives commands an empty standard input", async () => {
    expect((await start().call({ command: ["cat"] })).data).toMatchObject({ exitCode: 0, bytes: 0 });
  });

  it("gives commands an environment without the keys of this process", async () => {
    vi.stubEnv("ACME_API_KEY", canary);
    vi.stubEnv("PASSED_ON", "yes");
    const { script, tool } = open({ sandbox: sandbox ?? "off", inherit: ["PASSED_ON"], env: { EXTRA: "1" } });
    const environment = await script("env; cat /proc/self/environ | tr '\\0' '\\n'");
    expect(environment).not.toContain(canary);
    expect(environment).toContain("PASSED_ON=yes");
    expect(environment).toContain("EXTRA=1");
    expect(environment).not.toContain(`HOME=${homedir()}\n`);
    expect(tool.sandbox.type).toBe(sandbox === "off" ? "none" : "bubblewrap");
  });

  it("keeps both ends of a long output, and stops a command that never ends writing", async () => {
    const { call } = start({ shownBytes: 200, outputBytes: 1_000_000 });
    const { content, data } = await call({ script: "echo FIRST; seq 1 5000; echo LAST" });
    expect(content).toMatch(
      /^Exit code 0\.\nFIRST\n1\n2\n[\s\S]*\n\[… \d+ bytes omitted …\]\n[\s\S]*\n5000\nLAST$/,
    );
    expect(data).toMatchObject({ isTruncated: true });
    const endless = await call({ command: ["yes"] });
    expect(endless).toMatchObject({ data: { stopped: "output" } });
    expect(endless.content).toContain(
      "Stopped: the command reached the output limit of 1000000 bytes.\ny\ny\n",
    );
  });

  it("does not show binary output", async () => {
    const { content } = await start().call({ command: ["head", "-c", "500", "/dev/zero"] });
    expect(content).toBe("Exit code 0.\n(binary output of 500 bytes, not shown)");
  });

  it("streams the output as progress", async () => {
    const seen: unknown[] = [];
    await start().call({ script: "echo hello" }, { progress: (data) => void seen.push(data) });
    expect(seen).toEqual([{ message: "hello", output: "hello\n" }]);
  });

  it("ends every process of a command, also a daemon that left its group: at the time limit", async () => {
    const mark = createMark();
    const { call } = start({ timeMs: 400 });
    const { content, data } = await call({ script: `${daemonize(mark)} echo started; sleep ${mark}` });
    expect(data).toMatchObject({ stopped: "time" });
    expect(content).toContain("Stopped: the command reached the time limit of 400 ms.");
    await expect.poll(() => findProcesses(mark)).toEqual([]);
  });

  it("ends every process of a command, also a daemon that left its group: when it is aborted", async () => {
    const mark = createMark();
    const aborting = new AbortController();
    const abortOnceStarted = () =>
      void expect
        .poll(() => findProcesses(`sleep\0${mark}`))
        .not.toEqual([])
        .then(() => aborting.abort(new Error("The user stopped it.")));
    const calling = start().call(
      { script: `${daemonize(mark)} echo started; sleep ${mark}` },
      { signal: aborting.signal, progress: abortOnceStarted },
    );
    await expect(calling).rejects.toThrow("The user stopped it.");
    await expect.poll(() => findProcesses(mark)).toEqual([]);
  });

  it("ends the processes that a command leaves behind", async () => {
    const mark = createMark();
    const { call } = start();
    expect((await call({ script: `${daemonize(mark)} sleep ${mark} & echo done` })).content).toContain(
      "done",
    );
    await expect.poll(() => findProcesses(mark)).toEqual([]);
  });

  it("limits the number of processes: a fork bomb ends, and nothing of it survives", async () => {
    const mark = createMark();
    const { call } = start({ processes: 20 });
    const { content, data } = await call({ script: `for i in $(seq 200); do sleep ${mark} & done; wait` });
    const { stopped } = data as { stopped?: string };
    // The kernel refuses to fork, or for the superuser, whom it does not limit, the command is stopped.
    expect(stopped === "processes" || /Resource temporarily|Cannot fork/i.test(String(content))).toBe(true);
    await expect.poll(() => findProcesses(mark)).toEqual([]);
  });

  it("limits the memory of a process", async () => {
    const { call } = start({ memoryMb: 100 });
    const { data } = await call({
      script: "set -o pipefail; head -c 400000000 /dev/zero | tail | wc -c",
    });
    const { exitCode, stopped } = data as { exitCode: number | null; stopped?: string };
    expect(stopped === "memory" || exitCode !== 0).toBe(true);
  });

  it("runs in a folder below the working folder, and never follows a link out of it", async () => {
    const { call, cwd, outside } = start();
    mkdirSync(join(cwd, "sub"));
    symlinkSync(outside, join(cwd, "link"));
    symlinkSync("sub", join(cwd, "inner"));
    expect((await call({ command: ["pwd"], folder: "sub" })).content).toContain(join(cwd, "sub"));
    expect((await call({ command: ["pwd"], folder: "inner" })).content).toContain(join(cwd, "sub"));
    await expect(call({ command: ["ls"], folder: "link" })).rejects.toMatchObject({ code: "security" });
    for (const folder of ["..", "../outside", outside, "sub/../../outside"])
      await expect(call({ command: ["ls"], folder })).rejects.toMatchObject({ code: "security" });
    await expect(call({ command: ["ls"], folder: "none" })).rejects.toMatchObject({ code: "bad_arguments" });
  });

  it("takes either a command or a script", async () => {
    const { call, tool } = start();
    for (const input of [{}, { command: ["ls"], script: "ls" }]) {
      await expect(call(input)).rejects.toThrow("Give either `command` or `script`.");
      expect(() => tool.needsApproval?.(input, { context: undefined })).toThrow("either");
    }
  });
});

describe.skipIf(!hasBubblewrap)("the sandbox of shell (skipped where bubblewrap does not work)", () => {
  const start = () => open({ sandbox: "required" });

  it("reads nothing outside the folder: by path, by link, through /proc or in the home folder", async () => {
    const { script, cwd, outside } = start();
    symlinkSync(join(outside, "secret.txt"), join(cwd, "link.txt"));
    writeFileSync(join(cwd, "own.txt"), "own");
    const attempts = [
      ...[`cat ${outside}/secret.txt`, "cat ../outside/secret.txt", "cat link.txt"],
      ...[`cat /proc/self/root${outside}/secret.txt`, `cat /proc/1/root${outside}/secret.txt`],
      ...[`cat /proc/1/cwd/../outside/secret.txt`, `grep -r CANARY /proc/*/environ /tmp /home /root`],
    ];
    for (const attempt of attempts)
      expect(await script(`${attempt} 2>/dev/null`), attempt).not.toContain(canary);
    expect(await script(`cat own.txt; test -e ${homedir()}/. || echo; ls -A $HOME`)).toContain("own");
    expect(await script(`test -e ${homedir()} && ls -A ${homedir()}`)).not.toMatch(
      /\.(bash|ssh|cache|config)/,
    );
    expect(await script("cat /etc/shadow")).toMatch(/No such file|Permission denied/);
    expect(await script("ls /proc | grep -c '^[0-9]'")).toMatch(/\n[1-6]$/);
  });

  it("writes nothing outside the folder: by path, by link, to system folders or the kernel", async () => {
    const { script, cwd, outside } = start();
    const secret = join(outside, "secret.txt");
    symlinkSync(secret, join(cwd, "link.txt"));
    await script(
      `for file in ${secret} link.txt ../outside/new /usr/new /etc/new /new ${homedir()}/capstan-canary; do (echo x > $file); done; rm -rf ../outside`,
    );
    expect(readFileSync(secret, "utf8")).toBe(canary);
    for (const file of [join(outside, "new"), "/usr/new", "/etc/new", join(homedir(), "capstan-canary")])
      expect(existsSync(file), file).toBe(false);
    expect(await script("cat /proc/sys/kernel/panic > /proc/sys/kernel/panic")).toMatch(/Read-only|denied/);
    expect(await script("mount -t tmpfs x /tmp || echo refused")).toContain("refused");
    expect(await script("unshare -Ur mount -o remount,rw / && touch /usr/new; ls /usr/new")).toContain(
      "No such file",
    );
    expect(await script("echo kept > here.txt; echo gone > /tmp/there.txt")).toContain("Exit code 0");
    expect(readFileSync(join(cwd, "here.txt"), "utf8")).toBe("kept\n");
    expect(await script("cat /tmp/there.txt")).toContain("No such file");
  });

  it("connects nowhere, not even to this machine, unless the network is allowed", async () => {
    let connections = 0;
    const server = createServer((socket) => {
      connections++;
      socket.end("pong");
    });
    const port = await new Promise<number>((resolve) =>
      server.listen(0, "127.0.0.1", () => resolve((server.address() as { port: number }).port)),
    );
    try {
      const connect = `exec 3<>/dev/tcp/127.0.0.1/${port} && cat <&3`;
      expect(await start().script(connect)).toContain("refused");
      expect(connections).toBe(0);
      shell.remove();
      expect(await open({ sandbox: { network: true } }).script(connect)).toContain("pong");
      expect(connections).toBe(1);
    } finally {
      server.close();
    }
  });

  it("hides credentials in the folder, and protects what programs outside would run", async () => {
    const { script, cwd } = start();
    mkdirSync(join(cwd, ".git/hooks"), { recursive: true });
    mkdirSync(join(cwd, "app/.aws"), { recursive: true });
    const files = {
      ".env": canary,
      "app/.env.local": canary,
      "app/.aws/keys": canary,
      ".git/config": "[core]",
    };
    for (const [file, text] of Object.entries(files)) writeFileSync(join(cwd, file), text);
    writeFileSync(join(cwd, "app/.git"), "gitdir: elsewhere");
    expect(await script("cat app/.git")).toContain("gitdir: elsewhere");
    expect(await script("cat .env app/.env.local app/.aws/keys; grep -r CANARY .")).not.toContain(canary);
    await script("echo evil > .git/hooks/pre-commit; echo evil >> .git/config; rm -rf .git; echo x > .env");
    expect(existsSync(join(cwd, ".git/hooks/pre-commit"))).toBe(false);
    expect(readFileSync(join(cwd, ".git/config"), "utf8")).toBe("[core]");
    expect(readFileSync(join(cwd, ".env"), "utf8")).toBe(canary);
  });

  it("hides the data folder of Capstan, also inside the working folder", async () => {
    const { cwd } = start();
    mkdirSync(join(cwd, "data"));
    writeFileSync(join(cwd, "data/capstan.db"), canary);
    vi.stubEnv("CAPSTAN_HOME", join(cwd, "data"));
    const tool = shellTool({ cwd, sandbox: "required" });
    const context = { signal: new AbortController().signal, progress: () => undefined };
    const result = await tool.execute?.({ script: "cat data/* ; ls -A data" }, context as never);
    expect(JSON.stringify(result)).not.toContain("CANARY");
  });

  it("shows further folders read-only or writable, if they are named", async () => {
    const { cwd, outside } = start();
    const secret = join(outside, "secret.txt");
    const run = async (sandbox: object) => {
      const tool = shellTool({ cwd, sandbox });
      const context = { signal: new AbortController().signal, progress: () => undefined };
      await tool.execute?.(
        { script: `cat ${secret} > copy.txt; echo changed > ${secret}` },
        context as never,
      );
      return [readFileSync(join(cwd, "copy.txt"), "utf8"), readFileSync(secret, "utf8")];
    };
    expect(await run({ readable: [outside] })).toEqual([canary, canary]);
    expect(await run({ writable: [outside] })).toEqual([canary, "changed\n"]);
  });

  it("has the effect `state`, and `send` with a network", () => {
    expect(start().tool).toMatchObject({ effects: "state", reads: ["private", "untrusted"] });
    shell.remove();
    expect(open({ sandbox: { network: true } }).tool).toMatchObject({ effects: "send" });
  });
});

describe("shell on a machine without a sandbox", () => {
  it("says so in its description, in the approval request and in its report, and can send", async () => {
    vi.stubEnv("PATH", "/nowhere");
    const { tool } = open();
    const reason = "bwrap is not installed";
    expect(tool).toMatchObject({ sandbox: { type: "none", reason }, effects: "send" });
    expect(tool.description).toContain("without a sandbox, with the rights of the user");
    expect(
      await tool.needsApproval?.({ command: ["rm", "-rf", "a b"] }, { context: undefined }),
    ).toMatchObject({
      reason: `Runs WITHOUT a sandbox (${reason}), with all your rights: rm -rf 'a b'`,
      ui: {
        kind: "command",
        props: {
          ...{ command: "rm -rf 'a b'", folder: expect.stringMatching(/^\//) },
          allows: [{ what: "Sandbox", answer: `none (${reason}): it has all your rights` }],
        },
      },
    });
  });

  it("is a named error if a sandbox is required", () => {
    vi.stubEnv("PATH", "/nowhere");
    open();
    for (const sandbox of ["required", {}, { network: true }] as const)
      expect(() => shellTool({ cwd: shell.cwd, sandbox })).toThrow(
        expect.objectContaining({
          code: "sandbox_unavailable",
          message: expect.stringContaining("bwrap is not installed"),
        }),
      );
  });

  it("asks for approval even if it was told not to, unless the sandbox was turned off", async () => {
    vi.stubEnv("PATH", "/nowhere");
    const ask = ({ tool }: Shell) =>
      tool.needsApproval?.({ command: ["ls"] }, { context: undefined }) ?? false;
    expect(await ask(open({ needsApproval: false }))).toMatchObject({
      reason: expect.stringContaining("WITHOUT a sandbox"),
    });
    shell.remove();
    expect(await ask(open({ needsApproval: false, sandbox: "off" }))).toBe(false);
  });

  it("is also the answer if the folder contains the home folder, which a sandbox would not hide", () => {
    open();
    const home = join(shell.cwd, "home");
    mkdirSync(home);
    vi.stubEnv("HOME", home);
    expect(shellTool({ cwd: shell.cwd })).toMatchObject({
      sandbox: { type: "none", reason: expect.stringContaining("contains the home folder") },
    });
    rmSync(home, { recursive: true });
  });
});

describe("shellTool", () => {
  it("rejects unknown options, limits and folders", () => {
    open();
    const { cwd } = shell;
    const define = (options: object) => () => shellTool({ cwd, sandbox: "off", ...options });
    expect(define({ timeout: 1 })).toThrow('Unknown option "timeout" for shellTool.');
    expect(define({ limits: { memory: 1 } })).toThrow('Unknown field "memory" in limits of shellTool.');
    expect(define({ cwd: join(cwd, "none") })).toThrow("does not exist: create it first");
  });
});
