import type { PendingCall } from "capstan";
import { expect, it } from "vitest";
import { askForDecisions } from "./decisions.ts";
import type { View } from "./view.ts";

const call: PendingCall = {
  ...{ callId: "c1", name: "send\u001b[31m", input: {}, shown: "{}", needs: "approval", reason: "" },
  ...{ digest: "d", expiresAt: Date.now() - 1, always: { digest: "d", target: "ann" } },
};

it("a request that has expired is denied without asking, and the user reads why", async () => {
  const printed: string[] = [];
  const print = (lines: readonly string[]) => void printed.push(...lines);
  // Asking would need more than this of a terminal.
  const view = { print, append: print, style: { dim: (text: string) => text } } as unknown as View;
  expect(await askForDecisions([call], { view, lastKeyAt: () => 0 })).toEqual([
    { type: "deny", reason: expect.stringContaining("nobody decided before the request expired") },
  ]);
  expect(printed).toEqual(["  send was not called: the request expired."]);
});
