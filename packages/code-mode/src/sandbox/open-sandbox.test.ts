import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { defaultLimits } from "../code-mode.ts";
import { buildFlags, openSandbox, type Sandbox } from "./open-sandbox.ts";

const opened: Sandbox[] = [];
afterEach(() => {
  for (const sandbox of opened.splice(0)) sandbox.close();
});

function open(limits: Partial<typeof defaultLimits> = {}): Sandbox {
  const sandbox = openSandbox({ ...defaultLimits, ...limits });
  opened.push(sandbox);
  return sandbox;
}

/** Returns the text of a file in /proc; empty if its process has ended. */
function readProc(path: string): string {
  try {
    return readFileSync(join("/proc", path), "utf8");
  } catch {
    return "";
  }
}

const program = (code: string) => ({ code, tools: ["get"], startedAt: 0 });

describe("the process of a program", () => {
  it("keeps the program between two exchanges", async () => {
    const sandbox = open();
    const calls = await sandbox.start(
      program("let n = 1; n += await tools.get(); n += await tools.get(); return n"),
    );
    expect(calls).toEqual({ type: "calls", calls: [{ name: "get", input: {} }] });
    await sandbox.continue([{ ok: true, value: 10 }]);
    expect(await sandbox.continue([{ ok: true, value: 100 }])).toEqual({
      type: "done",
      text: "111",
      log: "",
    });
  });

  it("is killed when a built-in function does not end, which the interpreter cannot interrupt (A138)", async () => {
    const report = await open({ timeoutMs: 100 }).start(program("return new Array(2 ** 31).join('x')"));
    expect(report).toMatchObject({ type: "failed", message: expect.stringContaining("ran for 100 ms") });
  });

  it("reports its end, also while an exchange is open", async () => {
    const sandbox = open({ timeoutMs: 60_000 });
    const report = sandbox.start(program("for (;;);"));
    sandbox.close();
    await expect(report).rejects.toMatchObject({ code: "sandbox_unavailable" });
    expect(await open().start(program("return 1"))).toMatchObject({ type: "done" });
  });

  it.skipIf(process.platform !== "linux")("ends with its parent, even in an endless loop", async () => {
    const limits = { ...defaultLimits, timeoutMs: 1_000_000 };
    const code = `import { openSandbox } from ${JSON.stringify(join(import.meta.dirname, "open-sandbox.ts"))};
      void openSandbox(${JSON.stringify(limits)}).start(${JSON.stringify(program("for (;;);"))});`;
    const flags = ["--conditions=capstan-source", "--input-type=module", "-e", code];
    const parent = spawn(process.execPath, flags, { stdio: "ignore" });
    const findChild = () => /\d+/.exec(readProc(`${parent.pid}/task/${parent.pid}/children`))?.[0];
    await expect.poll(findChild).toBeDefined();
    const child = findChild();
    // The endless loop has started once the process has used some time.
    const getTicks = () => Number(readProc(`${child}/stat`).split(" ")[13] ?? 0);
    await expect.poll(getTicks).toBeGreaterThan(30);
    parent.kill("SIGKILL");
    await expect.poll(() => /^$|\) Z /.test(readProc(`${child}/stat`))).toBe(true);
  });

  it("can neither read files, start processes and threads, nor see the environment (A138)", () => {
    const folder = mkdtempSync(join(tmpdir(), "capstan-canary-"));
    const canary = join(folder, "canary.txt");
    writeFileSync(canary, "secret");
    const attempts = `
      const { readFileSync, writeFileSync } = process.getBuiltinModule("fs");
      const attempts = [
        () => readFileSync(${JSON.stringify(canary)}),
        () => writeFileSync(${JSON.stringify(`${canary}.new`)}, "x"),
        () => process.getBuiltinModule("child_process").execSync("id"),
        () => new (process.getBuiltinModule("worker_threads").Worker)("1", { eval: true }),
        () => new Function("return 1")(),
      ];
      const outcomes = attempts.map((attempt) => { try { attempt(); return "done" } catch ({ code, name }) { return code ?? name } });
      console.log(JSON.stringify([...outcomes, Object.keys(process.env).length]));`;
    const { stdout } = spawnSync(process.execPath, [...buildFlags(defaultLimits).flags, "-e", attempts], {
      env: {},
    });
    rmSync(folder, { recursive: true });
    const [denied, evalDenied] = ["ERR_ACCESS_DENIED", "EvalError"];
    expect(JSON.parse(String(stdout))).toEqual([denied, denied, denied, denied, evalDenied, 0]);
  });
});
