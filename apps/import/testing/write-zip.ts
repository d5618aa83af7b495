import { crc32, deflateRawSync } from "node:zlib";

export type ZipFixtureEntry = {
  readonly path: string;
  readonly content: Uint8Array | string;
  /** The unpacked size that the archive claims. Defaults to the true one. */
  readonly claimedSize?: number;
  readonly isEncrypted?: boolean;
};

/** Builds a ZIP archive for tests, including invalid ones that no other writer would produce. */
export function buildZip(entries: readonly ZipFixtureEntry[]): Buffer {
  const files: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const entry of entries) {
    const content = Buffer.from(entry.content);
    const packed = deflateRawSync(content);
    const path = Buffer.from(entry.path);
    const header = buildHeader(entry, { content, packed, path });
    const file = Buffer.concat([buildSignature(0x04034b50), header, path, packed]);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    // "Version made by" precedes the fields that the two headers share; comment, disk and attributes follow them.
    directory.push(buildSignature(0x02014b50), Buffer.from([20, 0]), header, place, path);
    files.push(file);
    offset += file.length;
  }
  const list = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries.length, 4);
  end.writeUInt16LE(entries.length, 6);
  end.writeUInt32LE(list.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...files, list, buildSignature(0x06054b50), end]);
}

type PackedEntry = { readonly content: Buffer; readonly packed: Buffer; readonly path: Buffer };

function buildHeader(entry: ZipFixtureEntry, { content, packed, path }: PackedEntry): Buffer {
  const header = Buffer.alloc(26);
  header.writeUInt16LE(20, 0);
  header.writeUInt16LE(0x0800 | (entry.isEncrypted ? 1 : 0), 2); // UTF-8 names
  header.writeUInt16LE(8, 4); // deflate
  header.writeUInt32LE(crc32(content), 10);
  header.writeUInt32LE(packed.length, 14);
  header.writeUInt32LE(entry.claimedSize ?? content.length, 18);
  header.writeUInt16LE(path.length, 22);
  return header;
}

function buildSignature(value: number): Buffer {
  const signature = Buffer.alloc(4);
  signature.writeUInt32LE(value);
  return signature;
}
