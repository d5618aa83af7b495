import { AgentError } from "capstan";
import type { Io } from "../io.ts";

/** Where to listen: from the flag, else the environment, else the config. */
export type Address = {
  /** Undefined when not set anywhere. */
  readonly port?: number | undefined;
  readonly host?: string | undefined;
  /** A second port for `/healthz` and `/readyz` only. */
  readonly healthPort?: number | undefined;
};

type AddressSettings = { readonly port?: number | string | undefined; readonly host?: string | undefined };

/** Throws `invalid_input` for an invalid port, naming its source. */
export function resolveAddress(
  flags: AddressSettings,
  env: Io["env"],
  configured: AddressSettings = {},
): Address {
  const port = [
    parsePort(flags.port, "--port"),
    parsePort(env.PORT || undefined, "The environment variable PORT"),
    parsePort(configured.port, "`server.port` in the config"),
  ].find((found) => found !== undefined);
  const healthPort = parsePort(env.CAPSTAN_HEALTH_PORT || undefined, "CAPSTAN_HEALTH_PORT");
  return { port, host: flags.host ?? (env.HOST || undefined) ?? configured.host, healthPort };
}

function parsePort(value: number | string | undefined, where: string): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,5}$/.test(String(value)) && Number(value) <= 65_535) return Number(value);
  throw new AgentError(
    "invalid_input",
    `${where} is not a valid port: ${JSON.stringify(value)}. Use a number from 1 to 65535, or 0 for any free port.`,
  );
}
