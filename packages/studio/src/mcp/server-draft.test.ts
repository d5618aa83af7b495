import { expect, it } from "vitest";
import { type ServerDraft, toNewServer } from "./server-draft.ts";

const draft: ServerDraft = {
  ...{ kind: "url", name: "wiki", url: "https://example.com/mcp", headers: "" },
  ...{ command: "npx", args: "-y\nserver name\n\n", env: `A=1\nB=\${B}=` },
};

it("a draft becomes a server with a URL or a program", () => {
  expect(toNewServer(draft)).toEqual({ url: "https://example.com/mcp" });
  expect(toNewServer({ ...draft, headers: "Authorization: Bearer a:b\n" })).toEqual({
    ...{ url: "https://example.com/mcp", headers: { Authorization: "Bearer a:b" } },
  });
  expect(toNewServer({ ...draft, kind: "command" })).toEqual({
    ...{ command: "npx", args: ["-y", "server name"], env: { A: "1", B: `\${B}=` } },
  });
});

it("a mistake is explained without repeating a secret", () => {
  expect(toNewServer({ ...draft, name: "no spaces" })).toContain("name");
  expect(toNewServer({ ...draft, url: "javascript:alert(1)" })).toContain("https://");
  expect(toNewServer({ ...draft, headers: "X: 1\ncanary-secret" })).toBe(
    "Headers: line 2 is not valid. Write each line as Name: value.",
  );
  expect(toNewServer({ ...draft, kind: "command", command: " " })).toContain("program");
  expect(toNewServer({ ...draft, kind: "command", env: "canary secret" })).not.toContain("canary");
});
