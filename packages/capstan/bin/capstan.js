#!/usr/bin/env node
// `npx capstan` starts the command line, which is a package of its own: installed beside this one, or else through npm.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const program =
  findProgram(import.meta.url) ?? findProgram(pathToFileURL(join(process.cwd(), "index.js")).href);

if (program !== undefined) await import(pathToFileURL(program).href);
else {
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  const npmArguments = [
    "exec",
    `--package=@capstan/cli@${version}`,
    "--",
    "capstan",
    ...process.argv.slice(2),
  ];
  const child = spawn("npm", npmArguments, { stdio: "inherit", shell: process.platform === "win32" });
  child.on("error", ({ message }) => {
    process.stderr.write(`capstan: npm cannot be started (${message}). Run \`npm install @capstan/cli\`.\n`);
    process.exitCode = 1;
  });
  child.on("close", (code) => {
    process.exitCode = code ?? 1;
  });
}

/** Returns the file of the command line, if it is installed where this file can see it. */
function findProgram(from) {
  try {
    return createRequire(from).resolve("@capstan/cli/bin");
  } catch {
    return undefined; // not installed there
  }
}
