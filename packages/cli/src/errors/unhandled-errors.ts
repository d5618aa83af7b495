// Errors that reach nobody: a tool's timer that throws, a promise that nobody awaits. Node would end the process with a
// bare stack. A script ends too, in its own words. What serves many people or holds a conversation goes on: our own code
// awaits what it begins, so such an error is of a tool or a configuration, and what must hold (facts, leases, records) is
// in the store and not in memory. A step that hangs for it ends with its time limit, like any other that does not answer.
export type HearStrayError = (error: unknown) => void;

const hearers: HearStrayError[] = [];

/** Has them told to `hear` in place of whoever heard them before, until the function that is given back is called. */
export function hearStrayErrors(hear: HearStrayError): () => void {
  hearers.push(hear);
  return () => {
    const place = hearers.lastIndexOf(hear);
    if (place >= 0) hearers.splice(place, 1);
  };
}

/** Catches those of this process for whoever hears them; `otherwise` when nobody does. */
export function catchStrayErrors(otherwise: HearStrayError): void {
  const tell = (error: unknown) => (hearers.at(-1) ?? otherwise)(error);
  process.on("uncaughtException", tell);
  process.on("unhandledRejection", tell);
}
