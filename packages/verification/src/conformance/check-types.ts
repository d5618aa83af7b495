import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** A value that should have a type. */
export type TypedValue = {
  /** An expression, which may use the names of `prelude`. */
  readonly type: string;
  readonly value: unknown;
};

/** A value that does not have its type. `index` is its position in the list. */
export type TypeProblem = { readonly index: number; readonly message: string };

const root = join(import.meta.dirname, "../../../..");

/**
 * Compiles the values as typed literals, so that the compiler also reports properties that the type does not have. All
 * values are compiled at once: starting the compiler and reading the types costs more than checking the values.
 */
export async function checkTypes(prelude: string, values: readonly TypedValue[]): Promise<TypeProblem[]> {
  const cache = join(root, "node_modules/.cache");
  mkdirSync(cache, { recursive: true });
  // Below node_modules, so that the types of packages are found.
  const folder = mkdtempSync(join(cache, "conformance-"));
  try {
    const lines = values.map(
      ({ type, value }, index) => `export const value${index}: ${type} = ${JSON.stringify(value)};`,
    );
    const header = prelude.trim().split("\n");
    writeFileSync(join(folder, "values.mts"), [...header, ...lines].join("\n"));
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
    const output = await compile(folder);
    return parseProblems(output, header.length);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const config = {
  compilerOptions: {
    ...{ target: "es2024", lib: ["es2024", "dom"], module: "nodenext", types: ["node"] },
    ...{ strict: true, exactOptionalPropertyTypes: true, skipLibCheck: true, noEmit: true, pretty: false },
  },
  files: ["values.mts"],
};

function compile(folder: string): Promise<string> {
  const compiler = createRequire(import.meta.url).resolve("typescript/package.json");
  const program = join(dirname(compiler), "bin/tsc");
  return new Promise((resolve, reject) => {
    const options = { maxBuffer: 1e9 };
    execFile(process.execPath, [program, "-p", folder], options, (error, stdout, stderr) => {
      // The compiler ends with a code if it found problems.
      if (error && stdout === "") reject(new Error(`The compiler failed: ${stderr || error.message}`));
      else resolve(stdout);
    });
  });
}

function parseProblems(output: string, headerLines: number): TypeProblem[] {
  return output
    .split(/\n(?=\S)/)
    .filter((text) => text.trim() !== "")
    .map((text) => {
      const [, line, message = text] = /\((\d+),\d+\): error (.*)/s.exec(text) ?? [];
      const index = Number(line) - headerLines - 1;
      if (!(index >= 0)) throw new Error(`The types themselves do not compile: ${text}`);
      return { index, message };
    });
}
