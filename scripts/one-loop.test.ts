import { expect, it } from "vitest";
import { importsOf, readSources, type Source } from "./architecture.ts";

const root = `${import.meta.dirname}/..`;
const sources = readSources(root, ["packages/*/src/**/*.{ts,tsx}"]).filter(
  ({ path }) => !path.includes("/testing/") && !path.includes("/simulation/"),
);

const importing = (file: string, all: readonly Source[] = sources) =>
  all
    .filter(({ text }) => importsOf(text).some((specifier) => specifier.endsWith(`/${file}`)))
    .map(({ path }) => path);

/** Wrappers that are models themselves ask the model inside. */
const wrappers = ["packages/capstan/src/models/", "packages/capstan/src/secrets/masked-model.ts"];
/** A question of an MCP server to the model, which is no query of a user and gets no tools. */
const sampling = "packages/mcp/src/client/requests/sampling.ts";

it("one loop asks what to do next, and one place asks a model: no other path answers a query (S4-08)", () => {
  const decide = importing("decide.ts").filter((path) => path.startsWith("packages/capstan/"));
  expect(decide).toEqual(["packages/capstan/src/loop/loop.ts"]);
  expect(
    sources.filter(({ text }) => /for \(;;\)[^}]*\bdecide\(/.test(text)).map(({ path }) => path),
  ).toEqual(["packages/capstan/src/loop/loop.ts"]);
  const asking = sources
    .filter(({ text }) => /\.stream\(\s*\w*[rR]equest/.test(text))
    .map(({ path }) => path)
    .filter((path) => !wrappers.some((wrapper) => path.startsWith(wrapper)));
  expect(asking).toEqual(["packages/capstan/src/perform/listen.ts", sampling]);
});

it("a run and a run inside of it go through that loop, and nothing else does (S4-08)", () => {
  expect(importing("loop.ts")).toEqual([
    "packages/capstan/src/run/nested-run.ts",
    "packages/capstan/src/run/open-run.ts",
  ]);
});
