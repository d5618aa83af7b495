import type { Simulated } from "./simulation.ts";

const mostLines = 30;

/** What somebody needs to know of a world that did not keep its promises. */
export function report({ seed, violation }: Simulated): string {
  if (!violation) return `Seed ${seed} keeps every promise.`;
  return [
    `Seed ${seed} breaks a promise: ${violation.invariant}`,
    `  ${violation.detail}`,
    "",
    ...violation.trace.slice(-mostLines),
    "",
    `To see all of it: npm run simulate -- --seed ${seed} --trace`,
  ].join("\n");
}
