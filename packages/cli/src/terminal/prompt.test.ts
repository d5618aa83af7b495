import { mkdir, mkdtemp, readFile, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { listFileCandidates } from "./completion.ts";
import { createPrompt } from "./prompt.ts";
import { openPromptHistory } from "./prompt-history.ts";
import { createStyle } from "./style.ts";

const look = { style: createStyle({ isTTY: false } as never, {}), mark: "› ", hint: "hint" };
const press = (name: string) => ({ type: "press", name }) as const;

describe("the prompt", () => {
  it("offers commands in a list below, and takes the chosen one", () => {
    const own = createPrompt([]);
    own.pressKey({ type: "text", text: "/se" });
    own.setCandidates("/se", [{ text: "/sessions", about: "list them" }, { text: "/set" }]);
    expect(own.render(40, look)).toEqual({
      rows: ["› /se", "› /sessions   list them", "  /set"],
      cursor: { row: 0, column: 5 },
    });
    own.pressKey(press("down"));
    own.pressKey(press("tab"));
    expect(own.text).toBe("/set ");
    expect(own.pressKey(press("enter"))).toEqual({ submitted: "/set " });
  });

  it("wraps wide characters and puts the cursor where it is", () => {
    const own = createPrompt([]);
    own.pressKey({ type: "paste", text: "日本語日本語日本語日\nb" });
    expect(own.render(20, look)).toEqual({
      rows: ["› 日本語日本語日本", "  語日", "  b"],
      cursor: { row: 2, column: 3 },
    });
    own.pressKey(press("up"));
    own.pressKey(press("home"));
    expect(own.render(20, look).cursor).toEqual({ row: 0, column: 2 });
  });

  it("shows a large paste as one line, deletes it as one character, and submits it in full", () => {
    const own = createPrompt([]);
    const log = Array.from({ length: 240 }, (_, line) => `line ${line}\x1b[2J`).join("\n");
    own.pressKey({ type: "text", text: "Why? " });
    own.pressKey({ type: "paste", text: log });
    own.pressKey({ type: "paste", text: "x".repeat(2000) });
    expect(own.render(80, look)).toEqual({
      rows: ["› Why? [Pasted 240 lines][Pasted 2000 characters]"],
      cursor: { row: 0, column: 49 },
    });
    own.pressKey(press("backspace"));
    own.pressKey({ type: "paste", text: " a small\none" });
    expect(own.render(80, look).rows).toEqual(["› Why? [Pasted 240 lines] a small", "  one"]);
    const whole = `Why? ${log.replaceAll("\x1b[2J", "")} a small\none`;
    expect(own.text).toBe(whole);
    expect(own.pressKey(press("enter"))).toEqual({ submitted: whole });
  });

  it("finds files below the folder and none outside it", async () => {
    const folder = await mkdtemp(join(tmpdir(), "capstan-files-"));
    await mkdir(join(folder, "src"));
    await writeFile(join(folder, "src", "main.ts"), "");
    await writeFile(join(folder, "some.md"), "");
    await writeFile(join(folder, "s\u202eevil"), "");
    expect(await listFileCandidates(folder, "@s")).toEqual([{ text: "@src/" }, { text: "@some.md" }]);
    expect(await listFileCandidates(folder, "@src/m")).toEqual([{ text: "@src/main.ts" }]);
    expect(await listFileCandidates(folder, "@../")).toEqual([]);
    expect(await listFileCandidates(folder, "@/etc/")).toEqual([]);
  });

  it("stores a bounded input history, readable only by its owner (A124)", async () => {
    const home = join(await mkdtemp(join(tmpdir(), "capstan-history-")), "data");
    const first = await openPromptHistory(home);
    await first.add("one\ntwo");
    await first.add("one\ntwo");
    const file = join(home, "history.jsonl");
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await openPromptHistory(home)).entries).toEqual(["one\ntwo"]);
    await writeFile(
      file,
      `broken\n"\\u001b[2Jx"\n${Array.from({ length: 2500 }, (_, n) => `"${n}"\n`).join("")}`,
    );
    const { entries } = await openPromptHistory(home);
    expect(entries).toHaveLength(1000);
    expect((await readFile(file, "utf8")).split("\n")).toHaveLength(1001);
  });
});
