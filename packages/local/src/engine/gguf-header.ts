// Reads the header of a GGUF file and checks every length against the size of the file, because llama.cpp and its
// bindings trust them. See testing/tiny-gguf.ts for the format.
import { open } from "node:fs/promises";

export type GgufHeader = {
  readonly architecture: string;
  /** The vocabulary as the file has it. */
  readonly tokens: readonly string[];
};

/** Describes the damage of a file: the end of a sentence that starts with "it". */
export class GgufError extends Error {}

/** Headers have some megabytes: the vocabulary. */
const maxHeaderBytes = 128 * 2 ** 20;
const maxDimensions = 4;
const maxSize = 1_000_000;
const typeSizes = [1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8];
const [stringType, arrayType] = [8, 9];

/** Rejects with a `GgufError` if the file is damaged, and with Node's error if it cannot be read. */
export async function readGgufHeader(file: string): Promise<GgufHeader> {
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    const buffer = Buffer.alloc(Math.min(size, maxHeaderBytes));
    await handle.read(buffer, 0, buffer.length, 0);
    return parseHeader(buffer, size);
  } finally {
    await handle.close();
  }
}

function parseHeader(buffer: Buffer, fileSize: number): GgufHeader {
  const reader = createByteReader(buffer);
  if (buffer.toString("latin1", 0, 4) !== "GGUF") throw new GgufError("is not a GGUF file");
  reader.skip(4);
  const version = reader.readUint32();
  if (version !== 2 && version !== 3) throw new GgufError(`has the unknown GGUF version ${version}`);
  const tensorCount = reader.readCount(8 + 4 + 8 + 4 + 8);
  const entryCount = reader.readCount(8 + 4 + 1);
  const metadata = new Map<string, unknown>();
  for (let index = 0; index < entryCount; index++) {
    const key = reader.readString();
    metadata.set(key, reader.readValue(reader.readUint32(), key === "tokenizer.ggml.tokens"));
  }
  const lastOffset = readTensors(reader, tensorCount);
  const alignment = Number(metadata.get("general.alignment") ?? 32);
  const dataStart = Math.ceil(reader.position / alignment) * alignment;
  if (dataStart + lastOffset >= fileSize) throw new GgufError("is truncated");
  const architecture = metadata.get("general.architecture");
  const tokens = metadata.get("tokenizer.ggml.tokens");
  if (typeof architecture !== "string") throw new GgufError("names no architecture");
  if (!Array.isArray(tokens)) throw new GgufError("has no vocabulary");
  // llama.cpp ends the process for this.
  if (new Set(tokens).size < tokens.length) throw new GgufError("has a token twice in its vocabulary");
  assertSizes(architecture, metadata);
  return { architecture, tokens };
}

/** llama.cpp ends the process if sizes of the layers are zero, or so large that products of them overflow. */
function assertSizes(architecture: string, metadata: ReadonlyMap<string, unknown>): void {
  for (const key of ["embedding_length", "block_count", "feed_forward_length", "attention.head_count"]) {
    const value = metadata.get(`${architecture}.${key}`);
    if (typeof value === "number" && (value < 1 || value > maxSize))
      throw new GgufError(`has an impossible ${key} of ${value}`);
  }
  const width = Number(metadata.get(`${architecture}.embedding_length`));
  for (const key of ["attention.head_count", "attention.head_count_kv", "rope.dimension_count"])
    if (Number(metadata.get(`${architecture}.${key}`) ?? 0) > width)
      throw new GgufError(`has an impossible ${key} for a width of ${width}`);
}

/** Returns the offset of the last tensor's data. */
function readTensors(reader: HeaderReader, count: number): number {
  if (count === 0) throw new GgufError("has no weights");
  let last = 0;
  for (let index = 0; index < count; index++) {
    const name = reader.readString();
    const dimensions = reader.readUint32();
    if (dimensions < 1 || dimensions > maxDimensions)
      throw new GgufError(`has a tensor "${name}" of ${dimensions} dimensions`);
    for (let dimension = 0; dimension < dimensions; dimension++)
      if (reader.readUint64() < 1) throw new GgufError(`has an empty tensor "${name}"`);
    reader.readUint32(); // the type: llama.cpp checks it
    last = Math.max(last, reader.readUint64());
  }
  return last;
}

type HeaderReader = {
  readonly position: number;
  skip(length: number): void;
  readUint32(): number;
  readUint64(): number;
  readString(): string;
  /** Reads a number of items that take at least this many bytes each. */
  readCount(itemSize: number): number;
  /** Returns strings, and lists of strings if `keepList`; other values are skipped, small integers excepted. */
  readValue(type: number, keepList: boolean): unknown;
};

function createByteReader(buffer: Buffer): HeaderReader {
  let position = 0;
  const advance = (length: number): number => {
    if (length > buffer.length - position) throw new GgufError("ends within its header");
    position += length;
    return position - length;
  };
  const reader: HeaderReader = {
    get position() {
      return position;
    },
    skip: (length) => void advance(length),
    readUint32: () => buffer.readUInt32LE(advance(4)),
    readUint64: () => Number(buffer.readBigUInt64LE(advance(8))),
    readString() {
      const start = advance(8);
      const end = advance(Number(buffer.readBigUInt64LE(start)));
      return buffer.toString("utf8", start + 8, end + (position - end));
    },
    readCount(itemSize) {
      const count = reader.readUint64();
      if (count * itemSize > buffer.length - position) throw new GgufError("ends within its header");
      return count;
    },
    readValue(type, keepList) {
      if (type === stringType) return reader.readString();
      if (type === arrayType) return readList(reader, keepList);
      const size = typeSizes[type];
      if (size === undefined) throw new GgufError(`has a value of the unknown type ${type}`);
      if (type === 4) return reader.readUint32();
      return reader.skip(size);
    },
  };
  return reader;
}

function readList(reader: HeaderReader, keepList: boolean): readonly unknown[] | undefined {
  const type = reader.readUint32();
  const size = typeSizes[type];
  if (size === undefined || type === arrayType) throw new GgufError(`has a list of the unknown type ${type}`);
  const count = reader.readCount(type === stringType ? 8 : size);
  if (type !== stringType) return void reader.skip(count * size);
  const items: string[] = [];
  for (let index = 0; index < count; index++) {
    const item = reader.readString();
    if (keepList) items.push(item);
  }
  return items;
}
