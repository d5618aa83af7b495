import { AgentError } from "./errors.ts";

/** Throws `unsupported_node` on a Node that is too old, which would fail later with an obscure error. */
export function assertNodeVersion(version: string | undefined = globalThis.process?.versions?.node): void {
  if (version === undefined) return; // another runtime
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > 22 || (major === 22 && minor >= 19)) return;
  const message = `Capstan requires Node 22.19 or later; this is ${version}. Get it at https://nodejs.org`;
  throw new AgentError("unsupported_node", message);
}
