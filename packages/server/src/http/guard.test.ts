import { expect, it } from "vitest";
import { createGuard, type GuardOptions } from "./guard.ts";

function readCode(
  headers: Record<string, string>,
  { url = "http://127.0.0.1:4680/api/runs", method = "GET", ...options }: Asked = {},
): string {
  try {
    createGuard(options)(new Request(url, { method, headers: { host: new URL(url).host, ...headers } }), [
      "192.168.7.9",
    ]);
    return "in";
  } catch (thrown) {
    return (thrown as { code: string }).code;
  }
}
type Asked = GuardOptions & { url?: string; method?: string };

it.each([
  ["127.0.0.1", "in"],
  ["127.0.0.1:4680", "in"],
  ["127.8.9.10", "in"],
  ["localhost", "in"],
  ["LOCALHOST:80", "in"],
  ["[::1]:4680", "in"],
  ["192.168.7.9:4680", "in"], // the address that received it
  ["192.168.7.8", "misdirected"],
  ["evil.example", "misdirected"],
  ["localhost.evil.com", "misdirected"],
  ["127.evil.com", "misdirected"],
  ["127.0.0.1.evil.com", "misdirected"],
  ["127.0.0.1.nip.io", "misdirected"],
  ["evil.com#localhost", "misdirected"],
  ["localhost@evil.com", "misdirected"],
  ["evil.com@localhost", "misdirected"],
  ["localhost.", "misdirected"],
  ["127.0.0.1.", "misdirected"],
  ["localhost:80:80", "misdirected"],
  ["localhost:", "misdirected"],
  ["localhost:99999", "misdirected"],
  ["localhost:4680x", "misdirected"],
  ["localhost/evil", "misdirected"],
  ["localhost, evil.example", "misdirected"],
  ["0x7f.1", "misdirected"],
  ["2130706433", "misdirected"],
  ["0177.0.0.1", "misdirected"],
  ["127.1", "misdirected"],
  ["0.0.0.0", "misdirected"],
  ["[::]", "misdirected"],
  ["::1", "misdirected"],
  ["[::1", "misdirected"],
  ["[::1]evil.com", "misdirected"],
  ["[fe80::1%lo]", "misdirected"],
  ["sub.localhost", "misdirected"],
])("Host %s: %s (A75)", (host, expected) => {
  expect(readCode({ host })).toBe(expected);
});

it("checks both the Host and the URL of a request (A75)", () => {
  expect(readCode({ host: "127.0.0.1" }, { url: "http://evil.example/api/runs" })).toBe("misdirected");
  expect(readCode({}, { url: "http://evil.example/api/runs" })).toBe("misdirected");
});

it("answers to the hosts that are listed, and to nothing that only looks like them (A75)", () => {
  const hosts = ["App.example.com", "fd00::7"];
  expect(readCode({ host: "app.example.com:8443" }, { hosts, url: "http://localhost/" })).toBe("in");
  expect(readCode({ host: "[fd00::7]" }, { hosts, url: "http://localhost/" })).toBe("in");
  expect(readCode({ host: "app.example.com.evil.com" }, { hosts, url: "http://localhost/" })).toBe(
    "misdirected",
  );
  expect(() => createGuard({ hosts: ["app.example.com:443"] })).toThrow("without scheme and port");
  expect(() => createGuard({ hosts: ["https://app.example.com"] })).toThrow("without scheme and port");
});

it.each([
  ["http://127.0.0.1:4680", "in"],
  ["http://127.0.0.1", "forbidden"],
  ["http://127.0.0.1:4681", "forbidden"],
  ["http://localhost:4680", "forbidden"],
  ["https://127.0.0.1:4680", "forbidden"],
  ["https://evil.example", "forbidden"],
  ["null", "forbidden"],
  ["", "forbidden"],
  ["http://127.0.0.1:4680, https://evil.example", "forbidden"],
  ["http://127.0.0.1:4680.evil.example", "forbidden"],
  ["https://app.example.com", "in"],
  ["https://app.example.com:444", "forbidden"],
  ["http://app.example.com", "forbidden"],
  ["https://APP.example.com", "forbidden"],
])("Origin %s: %s, with a listed origin (A76, A79)", (origin, expected) => {
  const origins = ["https://app.example.com"];
  for (const method of ["GET", "POST", "DELETE"])
    expect(readCode({ origin }, { method, origins }), method).toBe(expected);
});

it("takes only origins as a browser sends them into its list (A79)", () => {
  for (const origin of [
    "*",
    "null",
    "https://app.example.com/",
    "app.example.com",
    "https://*.example.com/x",
  ])
    expect(() => createGuard({ origins: [origin] }), origin).toThrow("origins");
});

it.each([
  ["same-origin", "GET", "cors", "/api/runs", "in"],
  ["none", "GET", "navigate", "/api/runs", "in"],
  ["cross-site", "GET", "no-cors", "/api/runs", "forbidden"],
  ["same-site", "GET", "no-cors", "/api/runs", "forbidden"],
  ["cross-site", "GET", "navigate", "/api/runs", "forbidden"],
  ["cross-site", "GET", "navigate", "/API/runs", "forbidden"],
  ["cross-site", "GET", "navigate", "/v1/models", "forbidden"],
  ["cross-site", "GET", "navigate", "/mcp", "forbidden"],
  ["cross-site", "GET", "navigate", "/", "in"],
  ["cross-site", "GET", "navigate", "/sessions/ses_1", "in"],
  ["cross-site", "POST", "navigate", "/", "forbidden"],
  ["cross-site", "GET", "websocket", "/", "forbidden"],
  ["something-new", "POST", "cors", "/api/runs", "forbidden"],
])("a browser that sends %s for %s (%s) %s: %s (A76, A78)", (site, method, mode, path, expected) => {
  const headers = { "sec-fetch-site": site, "sec-fetch-mode": mode };
  expect(readCode(headers, { method, url: `http://localhost:4680${path}` })).toBe(expected);
});

it("a page does not open in a frame of another site (A76, A97)", () => {
  const headers = {
    "sec-fetch-site": "cross-site",
    "sec-fetch-mode": "navigate",
    "sec-fetch-dest": "iframe",
  };
  expect(readCode(headers, { url: "http://localhost:4680/" })).toBe("forbidden");
});

it("its own origin does not help a page that the browser calls another site (A76)", () => {
  const headers = { origin: "http://localhost:4680", "sec-fetch-site": "cross-site" };
  expect(readCode(headers, { method: "POST", url: "http://localhost:4680/api/runs" })).toBe("forbidden");
});

it.each([
  ["text/plain", "unsupported_media_type"],
  ["application/x-www-form-urlencoded", "unsupported_media_type"],
  ["multipart/form-data; boundary=x", "unsupported_media_type"],
  ["application/json-patch+json", "unsupported_media_type"],
  ["text/plain; application/json", "unsupported_media_type"],
  ["application/json; charset=utf-16", "unsupported_media_type"],
  ["application/json, text/plain", "unsupported_media_type"],
  ["application/json", "in"],
  ["Application/JSON; charset=UTF-8", "in"],
])("a change of content type %s: %s (A77, A90)", (type, expected) => {
  for (const method of ["POST", "PUT", "PATCH", "DELETE"])
    expect(readCode({ "content-type": type }, { method }), method).toBe(expected);
});

it("lets bytes in with PUT, which no page sends to another site without a preflight", () => {
  const headers = { "content-type": "application/octet-stream" };
  expect(readCode(headers, { method: "PUT" })).toBe("in");
  for (const method of ["POST", "PATCH", "DELETE"])
    expect(readCode(headers, { method })).toBe("unsupported_media_type");
  expect(readCode({ "content-type": "text/plain" }, { method: "PUT" })).toBe("unsupported_media_type");
});

it.each([
  "key",
  "api_key",
  "apiKey",
  "api-key",
  "x-api-key",
  "token",
  "access_token",
  "Authorization",
  "bearer",
])("a key in the query (%s) is refused, and not repeated in the error (A80)", (name) => {
  const url = `http://127.0.0.1:4680/api/runs?a=1&${name}=cap_planted`;
  expect(readCode({}, { url })).toBe("invalid_input");
  try {
    createGuard({})(new Request(url));
  } catch (thrown) {
    expect(String(thrown)).not.toContain("planted");
  }
});
