import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import * as quickjs from "quickjs-wasi";
import { beforeAll, describe, expect, it } from "vitest";
import { createInterpreter } from "./interpreter.ts";
import type { CallReply, ProgramCall, ProgramLimits, SandboxReport } from "./protocol.ts";

const limits: ProgramLimits = {
  timeoutMs: 100,
  memoryMb: 8,
  maxCalls: 10,
  maxProgramSize: 10_000,
  maxOutputSize: 10_000,
};
let wasm: WebAssembly.Module;
beforeAll(async () => {
  const file = createRequire(import.meta.url).resolve("quickjs-wasi/quickjs.wasm");
  wasm = await WebAssembly.compile(readFileSync(file));
});

const denied: CallReply = { ok: false, code: "tool_denied", message: "The user declined" };

/** Executes a program. The tool `get` returns its arguments, and `pay` is denied. */
async function execute(
  code: string,
  startedAt = 1_700_000_000_000,
): Promise<{ report: SandboxReport; calls: readonly ProgramCall[] }> {
  const interpreter = await createInterpreter({
    quickjs,
    wasm,
    program: { code, tools: ["get", "pay", "odd-name"], startedAt },
    limits,
  });
  const calls: ProgramCall[] = [];
  let report = interpreter.start();
  for (let round = 0; report.type === "calls" && round < 20; round++) {
    calls.push(...report.calls);
    report = interpreter.continue(
      report.calls.map(({ name, input }) => (name === "pay" ? denied : { ok: true, value: input })),
    );
  }
  return { report, calls };
}

describe("a program in the interpreter", () => {
  it.each([
    ["return 'text'", "text"],
    ["return { a: [1, null] }", '{"a":[1,null]}'],
    ["return (await tools.get({ a: 1 })).a + 1", "2"],
    ["return await tools['odd-name']({ b: 2 })", '{"b":2}'],
    ["const [x, y] = await Promise.all([tools.get({ a: 1 }), tools.get({ a: 2 })]); return x.a + y.a", "3"],
    [
      "return (await Promise.allSettled([tools.pay(), tools.get({})])).map(({ status }) => status)",
      '["rejected","fulfilled"]',
    ],
    ["tools.get({ a: 1 }); return 'not awaited'", "not awaited"],
    ["const call = tools.pay(); await tools.get(); try { await call } catch { return 'late' }", "late"],
    ["class A { #x = 1; get x() { return this.#x } } return new A().x ?? 0", "1"],
  ])("%s returns %s", async (code, text) => {
    expect((await execute(code)).report).toEqual({ type: "done", text, log: "" });
  });

  it("writes to a log that is a part of its answer", async () => {
    const { report } = await execute("console.log('a', { b: 1 }, undefined); console.error(10n)");
    expect(report).toEqual({
      type: "done",
      text: "",
      log: 'a {"b":1} undefined\n[a value that JSON cannot express]\n',
    });
  });

  it("has a fixed date, and random numbers that depend on it alone", async () => {
    const code = "return [Date.now(), new Date().getTimezoneOffset(), Math.random()]";
    const first = (await execute(code)).report;
    expect((await execute(code)).report).toEqual(first);
    expect((await execute(code, 1_700_000_000_001)).report).not.toEqual(first);
    expect(first).toMatchObject({ text: expect.stringMatching(/^\[1700000000000,0,0\.\d+\]$/) });
  });
});

describe("a program that fails or attacks is stopped with a text that helps to correct it", () => {
  it.each<[attack: string, code: string, message: RegExp]>([
    ["endless loop", "let n = 0;\nwhile (true) n++", /^The program ran for 100 ms without a tool call/],
    [
      "endless loop that catches",
      "for (;;) try { for (;;); } catch {} finally { continue }",
      /ran for 100 ms/,
    ],
    [
      "endless microtasks",
      "const spin = async () => { for (;;) await null };\nawait spin()",
      /ran for 100 ms/,
    ],
    ["endless getter", "return { get a() { for (;;); } }", /ran for 100 ms/],
    ["endless toJSON", "await tools.get({ toJSON() { for (;;); } })", /ran for 100 ms/],
    ["endless error", "throw new Proxy(new Error(), { get() { for (;;); } })", /ran for 100 ms/],
    [
      "memory",
      "const all = [];\nfor (;;) all.push(new Array(1000).fill(all.length))",
      /out of memory|8 MB|100 ms/,
    ],
    ["one large string", "return 'x'.repeat(2 ** 29)", /^Line 1: InternalError: out of memory/],
    ["shared memory", "return new SharedArrayBuffer(2 ** 30).byteLength", /out of memory/],
    ["waiting in a thread", "Atomics.wait(new Int32Array(8), 0, 0)", /Atomics is not defined/],
    [
      "deep recursion",
      "const f = (n) => f(n + 1) + 1;\nreturn f(0)",
      /^Line 1: RangeError: Maximum call stack/,
    ],
    [
      "deep data",
      "let o = {}; for (let i = 0; i < 1e5; i++) o = { o }; return o",
      /Maximum call stack|out of memory/,
    ],
    [
      "output flood",
      "for (let i = 0; i < 1e4; i++) console.log('x'.repeat(100)); return 1",
      /the limit is 10000/,
    ],
    [
      "large answer",
      "return 'x'.repeat(20_000)",
      /^The answer and the log have \d+ characters, and the limit is 10000/,
    ],
    ["large arguments", "await tools.get({ a: 'x'.repeat(20_000) })", /^The arguments of its calls have/],
    ["promise that never settles", "await new Promise(() => {})", /^The program waits for nothing/],
    [
      "timer",
      "await new Promise((resolve) => setTimeout(resolve, 10))",
      /^Line 1: ReferenceError: setTimeout is not defined/,
    ],
    [
      "import",
      "return (await import('node:fs')).readFileSync('/etc/hostname')",
      /could not load module 'node:fs'/,
    ],
    ["static import", "import fs from 'node:fs';", /^Line 1: SyntaxError/],
    ["require", "\nrequire('fs')", /^Line 2: ReferenceError: require is not defined/],
    ["process", "return process.env", /^Line 1: ReferenceError: process is not defined/],
    ["network", "return await fetch('http://127.0.0.1')", /fetch is not defined/],
    ["escape by constructor", "return tools.get.constructor('return process')()", /process is not defined/],
    [
      "escape by async constructor",
      "return (async () => {}).constructor('return process.env')()",
      /process is not defined/,
    ],
    [
      "escape by a stack frame",
      "Error.prepareStackTrace = (_, frames) => frames;\nreturn new Error().stack[0].getThis().process.env",
      /^TypeError: not a function/,
    ],
    [
      "unhandled rejection",
      "(async () => {\nthrow new Error('lost')\n})(); return 1",
      /^Line 2: Error: lost\. No code of the program handled/,
    ],
    [
      "denied call that is not awaited",
      "tools.pay(); return 1",
      /^Line 1: ToolError: The user declined\. No code/,
    ],
    [
      "cycle",
      "const a = {}; a.a = a; return a",
      /^The program returned a value that JSON cannot express: circular/,
    ],
    ["big integer", "return 10n", /^The program returned a value that JSON cannot express: BigInt/],
    [
      "arguments that are no object",
      "\nawait tools.get('x')",
      /^Line 2: TypeError: tools\.get takes one object/,
    ],
    [
      "unknown tool",
      "\nawait tools.steal({})",
      /^Line 2: Error: Unknown tool "steal"\. The tools are: get, pay, odd-name\./,
    ],
    ["syntax error", "const a = 1;\nconst b = ;", /^Line 2: SyntaxError/],
    ["end of its function", "}); throw new Error('out'); (async () => {", /out/],
    ["thrown null", "throw null", /^null was thrown/],
    ["replaced tools", "tools = { get: () => 1 }", /^Line 1: TypeError/],
    ["replaced tool", "tools.get = () => 1", /^Line 1: TypeError|not extensible|read-only/],
  ])("%s: is contained (A138)", async (_attack, code, message) => {
    const { report } = await execute(code);
    expect(report).toMatchObject({ type: "failed", message: expect.stringMatching(message) });
  });

  it.each([
    "JSON.parse = () => 'forged'; JSON.stringify = () => '[]'",
    "Promise.prototype.then = () => 'forged'; Promise = class {}",
    "Object.prototype.toString = () => 'forged'; Array.prototype.push = () => 0; Array.prototype.map = () => []",
    "Object.defineProperty(Object.prototype, 'ok', { get: () => true, set() {} })",
    "Object.prototype.resolve = () => 'forged'; Object.prototype.code = 'ok'",
  ])("cannot change the calls that it makes or the replies that it gets: %s", async (tampering) => {
    const { report, calls } = await execute(
      `${tampering};\nconst { a } = await tools.get({ a: 1 });\ntry { await tools.pay({ b: 2 }) } catch ({ code }) { return a + code }`,
    );
    expect(calls).toEqual([
      { name: "get", input: { a: 1 } },
      { name: "pay", input: { b: 2 } },
    ]);
    expect(report).toEqual({ type: "done", text: "1tool_denied", log: "" });
  });
});
