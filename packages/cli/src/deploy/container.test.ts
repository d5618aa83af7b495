import { validate } from "dockerfile-utils";
import { describe, expect, it } from "vitest";
import {
  checkContainerFile,
  findInstructions,
  getVariables,
  parseContainerFile,
} from "../testing/deploy/container-file.ts";
import { readKitFile } from "../testing/deploy/kit-files.ts";

const file = readKitFile("Dockerfile");
const stages = parseContainerFile(file);

describe("the container file", () => {
  it("is valid, pinned, small and without root and secrets", () => {
    expect(validate(file)).toEqual([]);
    expect(checkContainerFile(file)).toEqual([]);
  });

  it("uses the version of Node that runs the tests, in all stages", () => {
    const version = /^node:([\d.]+)-slim$/;
    expect(stages.map(({ base }) => version.exec(base)?.[1])).toEqual(
      stages.map(() => process.versions.node),
    );
  });

  it("exposes its ports, and checks /healthz", () => {
    const final = stages.at(-1) ?? { name: "", base: "", instructions: [] };
    const { PORT, CAPSTAN_HEALTH_PORT, HOST, CAPSTAN_HOME } = getVariables(final);
    expect(findInstructions(final, "EXPOSE")[0]?.words).toEqual([PORT, CAPSTAN_HEALTH_PORT]);
    expect(HOST).toBe("0.0.0.0");
    expect(findInstructions(final, "VOLUME")[0]?.words).toEqual([CAPSTAN_HOME]);
    expect(findInstructions(final, "HEALTHCHECK")[0]?.text).toContain("/healthz");
  });

  it.each([
    ["FROM node:24.21.0-slim AS packages", "FROM node:24 AS packages", "node:24 is not a slim image"],
    ["USER 1000:1000", "USER node", "The user is not a number"],
    ["USER 1000:1000", "USER 0:0", "The user is not a number"],
    ["ENV HOST=0.0.0.0", "ENV CAPSTAN_API_KEY=abc", "It contains a secret"],
    ["COPY package.json package-lock.json ./", "COPY . .", "The packages are installed again"],
    ["COPY . .\nUSER", "USER", "The code is not copied last"],
    [/^CMD .*$/m, "CMD node bin.js", "CMD needs a shell"],
    [/^HEALTHCHECK .*\n/m, "", "HEALTHCHECK needs a shell, or is missing"],
  ])("with %j as %j it is refused", (text, replacement, problem) => {
    const changed = file.replace(text, replacement);
    expect(changed).not.toBe(file);
    expect(checkContainerFile(changed).join("\n")).toContain(problem);
  });
});
