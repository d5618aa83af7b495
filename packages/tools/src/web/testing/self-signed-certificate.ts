// A test certificate: X.509 (RFC 5280) in DER, with the few fields that TLS needs.
import { generateKeyPairSync, randomUUID, sign } from "node:crypto";
import { isIPv4 } from "node:net";

/** In PEM. The certificate is its own authority. */
export type SelfSigned = { readonly key: string; readonly cert: string };

/** Creates a certificate for these host names and IPv4 addresses. */
export function createSelfSigned(names: readonly string[]): SelfSigned {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const algorithm = encodeSequence(encodeObjectId("2a8648ce3d040302")); // ECDSA with SHA-256
  // Unique, because authorities are looked up by name.
  const name = `Capstan test ${randomUUID()}`;
  const subject = encodeSequence(
    encodeDer(0x31, encodeSequence(encodeObjectId("550403"), encodeDer(0x0c, Buffer.from(name)))), // common name
  );
  const content = encodeSequence(
    encodeDer(0xa0, encodeInteger(2)), // version 3
    encodeInteger(1),
    algorithm,
    subject,
    encodeSequence(encodeUtcTime("200101000000Z"), encodeUtcTime("491231235959Z")),
    subject,
    publicKey.export({ type: "spki", format: "der" }),
    encodeDer(0xa3, encodeSequence(encodeAlternativeNames(names), encodeIsAuthority())),
  );
  const signature = sign("sha256", content, privateKey);
  const certificate = encodeSequence(content, algorithm, encodeDer(0x03, Buffer.from([0]), signature));
  return {
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${certificate
      .toString("base64")
      .match(/.{1,64}/g)
      ?.join("\n")}\n-----END CERTIFICATE-----\n`,
  };
}

function encodeDer(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const encodeSequence = (...parts: readonly Buffer[]): Buffer => encodeDer(0x30, ...parts);
const encodeInteger = (value: number): Buffer => encodeDer(0x02, Buffer.from([value]));
const encodeObjectId = (hex: string): Buffer => encodeDer(0x06, Buffer.from(hex, "hex"));
const encodeUtcTime = (text: string): Buffer => encodeDer(0x17, Buffer.from(text));

function encodeAlternativeNames(names: readonly string[]): Buffer {
  const each = names.map((name) =>
    isIPv4(name)
      ? encodeDer(0x87, Buffer.from(name.split(".").map(Number)))
      : encodeDer(0x82, Buffer.from(name)),
  );
  return encodeSequence(encodeObjectId("551d11"), encodeDer(0x04, encodeSequence(...each)));
}

function encodeIsAuthority(): Buffer {
  const yes = encodeDer(0x01, Buffer.from([0xff]));
  return encodeSequence(encodeObjectId("551d13"), yes, encodeDer(0x04, encodeSequence(yes)));
}
