import { AgentError } from "capstan";
import type { Io } from "../io.ts";

/** Where to listen, from what was said first: a flag, the environment, the configuration. */
export type Address = {
  /** Left out when nobody has said anything. */
  readonly port: number | undefined;
  readonly host: string | undefined;
};

type AddressSettings = { readonly port?: number | string | undefined; readonly host?: string | undefined };

/** Finds it. Throws `invalid_input` for what is no port, and says where it was read. */
export function resolveAddress(
  flags: AddressSettings,
  env: Io["env"],
  configured: AddressSettings = {},
): Address {
  const port = [
    parsePort(flags.port, "--port"),
    parsePort(env.PORT || undefined, "The variable PORT"),
    parsePort(configured.port, "`server.port` of the configuration"),
  ].find((found) => found !== undefined);
  return { port, host: flags.host ?? (env.HOST || undefined) ?? configured.host };
}

function parsePort(value: number | string | undefined, where: string): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,5}$/.test(String(value)) && Number(value) <= 65_535) return Number(value);
  throw new AgentError(
    "invalid_input",
    `${where} is ${JSON.stringify(value)}, which is no port: give a number from 1 to 65535, or 0 for one that is free.`,
  );
}
