import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hasProtectedName } from "./protected-paths.ts";

describe("the list of protected names", () => {
  it.each([
    ...[
      ".git/config",
      ".env",
      ".ENV",
      ".env.production",
      "a/.Env.local",
      ".ssh/id_ed25519",
      ".bashrc",
      ".zshenv",
    ],
    ...[
      ".GIT/hooks/pre-commit",
      "deep/.git",
      "node_modules/.bin/tsc",
      "Node_Modules/.BIN/x",
      ".profile",
      ".npmrc",
    ],
    ...[".g\u200cit/config", ".\uff47it", ".\u017fsh/x", ".env\u0301", "a/.netrc", ".capstan-1.tmp"],
  ])("contains %j (A40)", (path) => {
    expect(hasProtectedName(path.split("/"))).toBe(true);
  });

  it.each([
    ...[
      ".gitignore",
      "git",
      "env",
      ".github/workflows/x.yml",
      "node_modules/a/index.js",
      "bin/.x",
      "profile",
    ],
    ...["src/.bin", "ssh", "my.env", ".eslintrc"],
  ])("does not contain %j", (path) => {
    expect(hasProtectedName(path.split("/"))).toBe(false);
  });

  it("recognizes every spelling in other cases (A40)", () => {
    const names = fc.constantFrom(".git", ".env", ".ssh", ".bashrc", ".npmrc");
    fc.assert(
      fc.property(names, fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }), (name, upper) => {
        const spelt = [...name]
          .map((letter, index) => (upper[index] ? letter.toUpperCase() : letter))
          .join("");
        expect(hasProtectedName(["a", spelt, "b"])).toBe(true);
      }),
    );
  });
});
