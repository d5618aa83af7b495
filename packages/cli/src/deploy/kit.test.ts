import { globSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { runCli } from "../testing/cli-in-process.ts";
import { kitFolder, readKitFile } from "../testing/deploy/kit-files.ts";
import { readUnitSetting } from "../testing/deploy/unit-file.ts";

const source = join(import.meta.dirname, "..");

describe("the production kit", () => {
  it("has no file that no test uses, or that the guide does not name", () => {
    const names = readdirSync(kitFolder).filter((name) => name !== "secrets");
    const files = globSync(["deploy/*.test.ts", "testing/deploy/*.ts", "packed.test.ts"], { cwd: source });
    const tests = files
      .filter((file) => !file.endsWith("/kit.test.ts"))
      .map((file) => readFileSync(join(source, file), "utf8"))
      .join("\n");
    expect(names.filter((name) => !tests.includes(`"${name}"`))).toEqual([]);
    const guide = readFileSync(join(kitFolder, "../docs/operate.md"), "utf8");
    expect(names.filter((name) => !guide.includes(`\`${name}\``))).toEqual([]);
    const named = [...guide.matchAll(/(?<![\w.])deploy\/([\w.-]+)/g)].map(([, name = ""]) => name);
    expect(named.filter((name) => name !== "secrets" && !names.includes(name))).toEqual([]);
  });

  it("waits longer for a process than the server drains and sends its last spans", async () => {
    const { stdout } = await runCli(["serve", "--help"], { folder: "/", env: {} });
    const drainSeconds = Number(/SIGTERM waits up to (\d+) s/.exec(stdout)?.[1]);
    const spanSeconds = 5; // see `telemetry.ts`
    const [deployment] = parseAllDocuments(readKitFile("kubernetes.yaml"));
    const pod = deployment?.toJS().spec.template.spec;
    const waits = {
      compose: Number.parseInt(parse(readKitFile("compose.yaml")).services.capstan.stop_grace_period, 10),
      systemd: Number(readUnitSetting("TimeoutStopSec")[0]),
      kubernetes: pod.terminationGracePeriodSeconds - pod.containers[0].lifecycle.preStop.sleep.seconds,
    };
    for (const seconds of Object.values(waits)) expect(seconds).toBeGreaterThan(drainSeconds + spanSeconds);
  });
});
