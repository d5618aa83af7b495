import type { ReadResourceResult } from "@modelcontextprotocol/client";
import { AgentError, isRecord } from "capstan";
import { hasPublicName } from "../oauth/check-destination.ts";
import { appMediaType } from "./app-metadata.ts";

/** Origins that an MCP App may use, by purpose. Every one is a valid source of a content security policy. */
export type AppDomains = {
  /** Requests and sockets. */
  readonly connect: readonly string[];
  /** Scripts, styles, images, fonts and media. */
  readonly resource: readonly string[];
  /** Frames inside the app. */
  readonly frame: readonly string[];
};

/** The page of an MCP App. It is untrusted: show it only in a frame that cannot reach anything else. */
export type AppPage = { readonly html: string; readonly domains: AppDomains };

const maxPageSize = 4 * 1024 * 1024;
const maxDomains = 30;
/** An origin, or all subdomains of a host. Only encrypted connections. */
const domainPattern =
  /^(?:https|wss):\/\/(?:\*\.)?(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)+[a-z\d-]{2,63}(?::\d{1,5})?$/i;

/** Checks a `ui://` resource. Throws `mcp_protocol` if the server returned anything but one HTML page for this URI. */
export function parseAppPage({ contents }: ReadResourceResult, uri: string): AppPage {
  const reject = (problem: string) =>
    new AgentError(
      "mcp_protocol",
      `The app ${JSON.stringify(uri.slice(0, 200))} cannot be shown: ${problem}.`,
    );
  const [content] = contents;
  if (contents.length !== 1 || !content)
    throw reject(`its server returned ${contents.length} resources for it`);
  if (content.uri !== uri) throw reject("its server returned another resource");
  if (normalizeMediaType(content.mimeType ?? "") !== appMediaType)
    throw reject(
      `its type is ${JSON.stringify(content.mimeType?.slice(0, 100) ?? "unknown")}, not "${appMediaType}"`,
    );
  const size = "text" in content ? content.text.length : Math.ceil((content.blob.length * 3) / 4);
  if (size > maxPageSize) throw reject(`it has ${size} bytes, and the limit is ${maxPageSize}`);
  const html = "text" in content ? content.text : Buffer.from(content.blob, "base64").toString("utf8");
  const declared = isRecord(content._meta?.ui) && isRecord(content._meta.ui.csp) ? content._meta.ui.csp : {};
  return {
    html,
    domains: {
      connect: filterDomains(declared.connectDomains),
      resource: filterDomains(declared.resourceDomains),
      frame: filterDomains(declared.frameDomains),
    },
  };
}

const normalizeMediaType = (type: string): string => type.replaceAll(/\s/g, "").toLowerCase();

/**
 * Drops everything that is not an origin with a public name: the app gets less than it asks for, never more. The browser
 * connects from the user's machine, so an address could be one of that machine or of its network.
 */
function filterDomains(domains: unknown): readonly string[] {
  if (!Array.isArray(domains)) return [];
  const valid = domains.filter((domain) => typeof domain === "string" && isPublicOrigin(domain));
  return [...new Set<string>(valid)].slice(0, maxDomains);
}

function isPublicOrigin(domain: string): boolean {
  // "*.0.0.1" includes "127.0.0.1", so the part after the wildcard must be a name, too.
  const url = domainPattern.test(domain) ? URL.parse(domain.replace("*.", "")) : null;
  return url !== null && hasPublicName(url);
}
