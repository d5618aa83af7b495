// Runs in a worker thread that is terminated when it exceeds its limits. It has no environment and no network globals,
// so a compromised parser cannot simply call `fetch`.
import { parentPort, workerData } from "node:worker_threads";
import { extractHtml } from "./extract-html.ts";
import { extractPdf } from "./extract-pdf.ts";
import type { ExtractAnswer, Extracted, ExtractTask } from "./extract-task.ts";

for (const name of ["fetch", "WebSocket", "EventSource", "XMLHttpRequest"])
  Reflect.deleteProperty(globalThis, name);

async function handleTask(task: ExtractTask): Promise<ExtractAnswer> {
  try {
    const { text, ...rest } = await runExtraction(task);
    return { extracted: { ...rest, text: text.slice(0, task.maxCharacters + 1).toWellFormed() } };
  } catch (thrown) {
    return { problem: thrown instanceof Error ? thrown.message : String(thrown) };
  }
}

function runExtraction(task: ExtractTask): Promise<Extracted> {
  switch (task.type) {
    case "html":
      return extractHtml(task.html, task.url);
    case "pdf":
      return extractPdf(task.bytes, task.maxCharacters);
  }
}

parentPort?.postMessage(await handleTask(workerData));
