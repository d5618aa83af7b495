import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { hasProgram, readKitFile } from "../testing/deploy/kit-files.ts";

const place = mkdtempSync(join(tmpdir(), "capstan-unit-"));
afterAll(() => rmSync(place, { recursive: true, force: true }));

/** Runs `systemd-analyze` on a unit, with the Node of this test, and returns its code and complaints. */
function analyze(
  text: string,
  ...words: string[]
): { readonly code: number | null; readonly stderr: string } {
  const file = join(place, "capstan.service");
  writeFileSync(file, text.replace("/usr/bin/node", process.execPath));
  const { status, stderr } = spawnSync("systemd-analyze", [...words, file], { encoding: "utf8" });
  return { code: status, stderr };
}

describe.skipIf(!hasProgram("systemd-analyze")).each([["capstan.service"], ["capstan-worker.service"]])(
  "the systemd unit %s",
  (name) => {
    const unit = readKitFile(name);

    it("is valid, and a mistake in it is reported", () => {
      expect(analyze(unit, "verify", "--man=no")).toEqual({ code: 0, stderr: "" });
      const wrong = unit.replace("ProtectSystem=strict", "ProtectSistem=strict");
      expect(analyze(wrong, "verify", "--man=no").stderr).toContain("ProtectSistem");
    });

    it("exposes little of the machine, by the rating of systemd", () => {
      const rate = (text: string) => analyze(text, "security", "--offline=true", "--threshold=15").code;
      expect(rate(unit)).toBe(0);
      expect(
        rate(unit.replace("NoNewPrivileges=yes", "NoNewPrivileges=no").replace("DynamicUser=yes", "")),
      ).toBe(1);
    });
  },
);
