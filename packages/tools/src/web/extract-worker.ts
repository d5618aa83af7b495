// Runs in a thread of its own, which is ended when it takes too long or too much. It sees no environment, and it has
// no `fetch`: a parser that is led astray finds no network where it would look for it.
import { parentPort, workerData } from "node:worker_threads";
import { extractHtml } from "./extract-html.ts";
import { extractPdf } from "./extract-pdf.ts";
import type { ExtractAnswer, Extracted, ExtractTask } from "./extract-task.ts";

for (const name of ["fetch", "WebSocket", "EventSource", "XMLHttpRequest"])
  Reflect.deleteProperty(globalThis, name);

async function answerTo(task: ExtractTask): Promise<ExtractAnswer> {
  try {
    const { text, ...rest } = await extracted(task);
    return { extracted: { ...rest, text: text.slice(0, task.maxCharacters + 1).toWellFormed() } };
  } catch (thrown) {
    return { problem: thrown instanceof Error ? thrown.message : String(thrown) };
  }
}

function extracted(task: ExtractTask): Promise<Extracted> {
  switch (task.type) {
    case "html":
      return extractHtml(task.html, task.url);
    case "pdf":
      return extractPdf(task.bytes, task.maxCharacters);
  }
}

parentPort?.postMessage(await answerTo(workerData));
