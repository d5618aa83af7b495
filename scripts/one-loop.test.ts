import { expect, it } from "vitest";
import { findImports, readSources, type Source } from "./architecture.ts";

const root = `${import.meta.dirname}/..`;
const sources = readSources(root, ["packages/*/src/**/*.{ts,tsx}"]).filter(
  ({ path }) => !/\/(?:testing|internal)\/|^packages\/verification\//.test(path),
);

const findImporters = (file: string, all: readonly Source[] = sources) =>
  all
    .filter(({ text }) => findImports(text).some((specifier) => specifier.endsWith(`/${file}`)))
    .map(({ path }) => path);

/** Model wrappers call the model they wrap. */
const wrappers = ["packages/capstan/src/models/", "packages/capstan/src/secrets/masked-model.ts"];
/** Sampling requests of an MCP server: not user queries, and without tools. */
const sampling = "packages/mcp/src/client/requests/sampling.ts";

it("one loop decides the next step, and one place calls a model: no other path answers a query (S4-08)", () => {
  const decide = findImporters("decide.ts").filter((path) => path.startsWith("packages/capstan/"));
  expect(decide).toEqual(["packages/capstan/src/runtime/loop.ts"]);
  expect(
    sources.filter(({ text }) => /for \(;;\)[^}]*\bdecide\(/.test(text)).map(({ path }) => path),
  ).toEqual(["packages/capstan/src/runtime/loop.ts"]);
  const asking = sources
    .filter(({ text }) => /\.stream\(\s*\w*[rR]equest/.test(text))
    .map(({ path }) => path)
    .filter((path) => !wrappers.some((wrapper) => path.startsWith(wrapper)));
  expect(asking).toEqual(["packages/capstan/src/kernel/calls/message-builder.ts", sampling]);
});

it("only runs and nested runs use that loop (S4-08)", () => {
  expect(findImporters("loop.ts")).toEqual([
    "packages/capstan/src/runtime/engine.ts",
    "packages/capstan/src/runtime/segment.ts",
  ]);
});
