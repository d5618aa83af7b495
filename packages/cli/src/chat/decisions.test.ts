import { PassThrough } from "node:stream";
import type { PendingCall } from "capstan";
import { expect, it } from "vitest";
import { createStyle } from "../terminal/style.ts";
import { askForDecisions } from "./decisions.ts";
import type { Mode, View } from "./view.ts";

const call: PendingCall = {
  ...{ callId: "c1", name: "send\u001b[31m", input: {}, shown: "{}", needs: "approval", reason: "" },
  ...{ digest: "d", expiresAt: Date.now() - 1, always: { digest: "d", target: "ann" } },
};

it("a request that has expired is denied without asking, and the user reads why", async () => {
  const printed: string[] = [];
  const print = (lines: readonly string[]) => void printed.push(...lines);
  // Asking would need more than this of a terminal.
  const view = { print, append: print, style: { dim: (text: string) => text } } as unknown as View;
  expect(await askForDecisions([call], { view, lastKeyAt: () => 0, previewCall: async () => call })).toEqual([
    { type: "deny", reason: expect.stringContaining("nobody decided before the request expired") },
  ]);
  expect(printed).toEqual(["  send was not called: the request expired."]);
});

/** A terminal without a screen: one key is pressed at each question. */
function pressAtQuestion(key: string) {
  const printed: string[] = [];
  const print = (lines: readonly string[]) => void printed.push(...lines);
  const pushMode = (mode: Mode) => {
    queueMicrotask(() => mode.pressKey({ type: "text", text: key }));
    return () => undefined;
  };
  const style = createStyle(new PassThrough(), { NO_COLOR: "1" });
  const view = { ...{ print, append: print, pushMode, style }, getColumns: () => 100 } as unknown as View;
  const previewCall = async () => call;
  return { printed, options: { view, lastKeyAt: () => Number.NEGATIVE_INFINITY, previewCall } };
}

it("a pattern that a tool offers has a key of its own, and the user reads what it covers", async () => {
  const shell: PendingCall = {
    ...{ callId: "c1", name: "shell", input: { command: ["git", "status", "-s"] }, shown: "{}" },
    ...{ needs: "approval", reason: "Runs in a sandbox without network: git status -s" },
    ...{
      always: { digest: "d", target: "git status -s" },
      pattern: { digest: "p", pattern: "git status *" },
    },
  };
  const { printed, options } = pressAtQuestion("p");
  expect(await askForDecisions([shell], options)).toEqual([{ type: "always", covers: "pattern" }]);
  expect(printed).toContain("  Runs in a sandbox without network: git status -s");
  expect(printed).toContain("  pattern: every call of shell that matches git status *");
  expect(printed.at(-1)).toBe("  allowed, and from now on every call of shell that matches git status *");
});

it("a script is shown line by line, and a diff as the tool computed it", async () => {
  const ask = async (call: Pick<PendingCall, "input" | "ui">) => {
    const { printed, options } = pressAtQuestion("y");
    const base = {
      ...{ callId: "c1", name: "t", shown: "{json}" },
      needs: "approval" as const,
      reason: "Why.",
    };
    await askForDecisions([{ ...base, ...call }], options);
    return printed.join("\n");
  };
  const script = await ask({ input: { script: "echo 1\n\u001b[2Kecho 2" } });
  expect(script).toContain("│ echo 1\n  │ \\u{1b}[2Kecho 2");
  const ui = { kind: "diff", props: { path: "a", diff: "@@ -7,1 +7,1 @@\n-old\n+new\n" } };
  const edit = await ask({ input: { path: "a", edits: [{ find: "old", replace: "new" }] }, ui });
  expect(edit).toContain("│ @@ -7,1 +7,1 @@\n  │ -old\n  │ +new");
});
