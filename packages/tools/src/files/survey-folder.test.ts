import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { withOrdinaryRights } from "@capstan/verification/ordinary-rights";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { surveyFolder } from "./survey-folder.ts";
import { createTemporaryRoot, type TemporaryRoot } from "./testing/temporary-root.ts";

let place: TemporaryRoot;
beforeEach(() => {
  place = createTemporaryRoot();
});
afterEach(() => place.remove());

describe("a survey of a folder", () => {
  it("counts what the tools can read, and says what they cannot and why", async () => {
    for (const file of ["a.txt", "inner/b.txt", "inner/deep/c.txt", ".env", ".git/config"])
      place.put(file, "");
    place.put("node_modules/one/index.js", "");
    symlinkSync(place.outside, join(place.path, "link"));
    execFileSync("mkfifo", [join(place.path, "pipe")]);
    const progress: string[] = [];
    const survey = await surveyFolder({
      root: place.path,
      onProgress: (files, folder) => progress.push(`${files} ${folder}`),
    });
    expect(survey.files).toBe(3);
    expect(Object.fromEntries(survey.skipped.map(({ item, reason }) => [item, reason]))).toEqual({
      ".env": "It can hold credentials or control programs: tools cannot read it.",
      ".git": "It can hold credentials or control programs: tools cannot read it.",
      link: "Links are not followed.",
      node_modules: "Packages are listed only when a call names this folder.",
      pipe: "It is a device, a pipe or a socket.",
    });
    expect(progress).toEqual(["1 inner", "2 inner/deep"]);
  });

  it("reports files and folders that this user cannot read", () => {
    chmodSync(place.put("closed.txt", ""), 0);
    place.put("closed/a.txt", "");
    place.put("open.txt", "");
    chmodSync(join(place.path, "closed"), 0);
    const module = join(import.meta.dirname, "survey-folder.ts");
    const script = `
      const { surveyFolder } = await import(${JSON.stringify(module)});
      console.log(JSON.stringify(await surveyFolder({ root: ${JSON.stringify(place.path)} })));
    `;
    const flags = [
      "--conditions=capstan-source",
      "--input-type=module",
      "--disable-warning=ExperimentalWarning",
    ];
    const [program, ...args] = withOrdinaryRights([process.execPath, ...flags, "-e", script]);
    const output = execFileSync(program, args, { encoding: "utf8" });
    expect(JSON.parse(output)).toEqual({
      files: 1,
      skipped: [
        { item: "closed", reason: "Permission denied." },
        { item: "closed.txt", reason: "Permission denied." },
      ],
    });
    chmodSync(join(place.path, "closed"), 0o755);
  });

  it("ends when it is cancelled", async () => {
    place.put("a.txt", "");
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(surveyFolder({ root: place.path, signal })).rejects.toThrow("enough");
  });

  it("rejects a folder that does not exist", async () => {
    mkdirSync(join(place.path, "gone"));
    rmSync(join(place.path, "gone"), { recursive: true });
    const survey = surveyFolder({ root: join(place.path, "gone") });
    await expect(survey).rejects.toMatchObject({ code: "invalid_definition" });
  });
});
