// The process of one program: reads requests from its input and writes reports to its output, one JSON text per line.
// Its parent starts it without environment, file access and the right to start processes, and kills it at the end.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { createInterpreter, type Interpreter } from "./interpreter.ts";
import type { SandboxReport, SandboxRequest } from "./protocol.ts";

const sendReport = (report: SandboxReport) => void process.stdout.write(`${JSON.stringify(report)}\n`);

async function serve(quickjsFile: string, wasmFile: string): Promise<void> {
  // By its path: this process may not look for packages.
  const quickjs = await import(pathToFileURL(quickjsFile).href);
  const wasm = await WebAssembly.compile(readFileSync(wasmFile));
  let interpreter: Interpreter | undefined;
  sendReport({ type: "ready" });
  for await (const line of createInterface({ input: process.stdin })) {
    const request: SandboxRequest = JSON.parse(line);
    if (request.type === "start") {
      interpreter = await createInterpreter({ quickjs, wasm, ...request });
      sendReport(interpreter.start());
    } else if (interpreter) sendReport(interpreter.continue(request.replies));
  }
}

// Without arguments, the module was imported by something else.
const [, , quickjsFile, wasmFile] = process.argv;
if (quickjsFile !== undefined && wasmFile !== undefined) await serve(quickjsFile, wasmFile);
