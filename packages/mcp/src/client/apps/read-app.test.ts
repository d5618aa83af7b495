import { describe, expect, it } from "vitest";
import { appMediaType } from "./app-metadata.ts";
import { parseAppPage } from "./read-app.ts";

const uri = "ui://counter/page.html";

/** Returns which of the origins that a server declares its app may use. */
function readOrigins(connectDomains: readonly string[]): readonly string[] {
  const content = { uri, mimeType: appMediaType, text: "<p>", _meta: { ui: { csp: { connectDomains } } } };
  return parseAppPage({ contents: [content] }, uri).domains.connect;
}

describe("an origin that an MCP App declares", () => {
  it.each([
    ...["https://api.example.com", "wss://api.example.com:8443", "https://*.cdn.example.com"],
    ...["https://xn--bcher-kva.example", "https://localhost.example.com", "https://10.example.com"],
  ])("can be %s", (origin) => {
    expect(readOrigins([origin])).toEqual([origin]);
  });

  it.each([
    ...["127.0.0.1", "127.0.0.10", "127.1", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1", "100.64.0.1"],
    ...["169.254.169.254", "8.8.8.8", "224.0.0.1", "255.255.255.255", "1.2.3.4.5", "1.2.3"],
    ...["0x7f.0x0.0x0.0x01", "0x7f.1", "0X7F.0.0.1", "0177.0.0.01", "00000177.1", "2130706433", "0x7f000001"],
    ...["127.0.0.0x1", "0xa9.0xfe.0xa9.0xfe", "a.0x7f", "a.127"],
    ...["[::1]", "[::ffff:127.0.0.1]", "[fe80::1]", "[fd00::1]", "[64:ff9b::7f00:1]"],
    ...["localhost", "LOCALHOST", "a.localhost", "localhost.localdomain", "a.localdomain", "printer.local"],
    ...["db.internal", "Metadata.Google.Internal", "wiki.intranet", "wiki.corp", "nas.lan", "nas.home"],
    ...[
      "nas.home.arpa",
      "home.arpa",
      "api.default.svc",
      "api.svc.cluster.local",
      "a.private",
      "metadata.goog",
    ],
    ...["127.0.0.1.", "localhost.", "localhost.localdomain.", "api.example.com."],
    ...["*.0.0.1", "*.0.01", "*.1", "*.127.0.0.1", "*.localhost", "*.a.localhost", "*.home.arpa", "*.local"],
    ...["*.internal", "*.corp.internal", "*.com", "*", "a.*.example.com"],
    ...["127.0.0.1%2eexample.com", "a@127.0.0.1", "127。0。0。1", "①②⑦.0.0.1", "ⓛocalhost.localdomain"],
  ])("is refused as %s, with and without a port (A140, A146)", (host) => {
    expect(readOrigins([`https://${host}`, `wss://${host}`, `https://${host}:8443`])).toEqual([]);
  });
});
