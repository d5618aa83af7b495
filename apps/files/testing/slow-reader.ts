import { type ScriptedModel, scriptedModel } from "capstan/testing";

/** A model that lists the files immediately, and reads one of them once the gate opens. */
export function createSlowReader(gate: Promise<void>): ScriptedModel {
  const steps = [
    { calls: [{ id: "call_a", name: "list_files" }] },
    { delayMs: 1, calls: [{ id: "call_b", name: "read_file", input: { path: "sample.txt" } }] },
    { text: "It welcomes you.", split: 3 },
  ];
  const wait = (_: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      void gate.then(resolve);
      signal.addEventListener("abort", () => reject(signal.reason));
    });
  return scriptedModel(steps, { wait });
}
