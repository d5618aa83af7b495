// A certificate for tests, made on the spot: X.509 (RFC 5280) in DER, the few fields that TLS asks for.
import { generateKeyPairSync, randomUUID, sign } from "node:crypto";
import { isIPv4 } from "node:net";

/** In PEM. It is its own authority. */
export type SelfSigned = { readonly key: string; readonly cert: string };

/** A certificate for these names and IPv4 addresses. */
export function selfSigned(names: readonly string[]): SelfSigned {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const algorithm = sequence(objectId("2a8648ce3d040302")); // ECDSA with SHA-256
  // Another one each time: authorities are found by their names.
  const name = `Capstan test ${randomUUID()}`;
  const subject = sequence(
    der(0x31, sequence(objectId("550403"), der(0x0c, Buffer.from(name)))), // common name
  );
  const content = sequence(
    der(0xa0, integer(2)), // version 3
    integer(1),
    algorithm,
    subject,
    sequence(utcTime("200101000000Z"), utcTime("491231235959Z")),
    subject,
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(alternativeNames(names), isAuthority())),
  );
  const signature = sign("sha256", content, privateKey);
  const certificate = sequence(content, algorithm, der(0x03, Buffer.from([0]), signature));
  return {
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${certificate
      .toString("base64")
      .match(/.{1,64}/g)
      ?.join("\n")}\n-----END CERTIFICATE-----\n`,
  };
}

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...parts: readonly Buffer[]): Buffer => der(0x30, ...parts);
const integer = (value: number): Buffer => der(0x02, Buffer.from([value]));
const objectId = (hex: string): Buffer => der(0x06, Buffer.from(hex, "hex"));
const utcTime = (text: string): Buffer => der(0x17, Buffer.from(text));

function alternativeNames(names: readonly string[]): Buffer {
  const each = names.map((name) =>
    isIPv4(name) ? der(0x87, Buffer.from(name.split(".").map(Number))) : der(0x82, Buffer.from(name)),
  );
  return sequence(objectId("551d11"), der(0x04, sequence(...each)));
}

function isAuthority(): Buffer {
  const yes = der(0x01, Buffer.from([0xff]));
  return sequence(objectId("551d13"), yes, der(0x04, sequence(yes)));
}
