// Decodes the body of an OTLP export (protobuf) as a collector does, by the field numbers of `trace.proto` v1. Unlike a
// collector, it refuses unknown fields: we send none.

/** A decoded span. Times are nanoseconds. */
export type OtlpSpan = {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  /** 1 internal, 3 client. */
  readonly kind: number;
  readonly start: bigint;
  readonly end: bigint;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly events: readonly string[];
  /** 0 unset, 1 ok, 2 error. */
  readonly statusCode: number;
  readonly resource: Readonly<Record<string, unknown>>;
  readonly scope: string;
};

type FieldType = "string" | "bytes" | "varint" | "fixed64" | "fixed32" | "double" | MessageType;
type MessageType = { readonly [field: number]: readonly [name: string, type: FieldType] };
type Message = { readonly [name: string]: readonly unknown[] };

const anyValue: Record<number, readonly [string, FieldType]> = {
  1: ["text", "string"],
  2: ["flag", "varint"],
  3: ["integer", "varint"],
  4: ["number", "double"],
  7: ["bytes", "bytes"],
};
anyValue[5] = ["list", { 1: ["values", anyValue] }];
const keyValue: MessageType = { 1: ["key", "string"], 2: ["value", anyValue] };
const event: MessageType = {
  1: ["time", "fixed64"],
  2: ["name", "string"],
  3: ["attributes", keyValue],
  4: ["dropped", "varint"],
};
const link: MessageType = {
  1: ["traceId", "bytes"],
  2: ["spanId", "bytes"],
  3: ["traceState", "string"],
  4: ["attributes", keyValue],
  5: ["dropped", "varint"],
  6: ["flags", "fixed32"],
};
const span: MessageType = {
  1: ["traceId", "bytes"],
  2: ["spanId", "bytes"],
  3: ["traceState", "string"],
  4: ["parentSpanId", "bytes"],
  5: ["name", "string"],
  6: ["kind", "varint"],
  7: ["start", "fixed64"],
  8: ["end", "fixed64"],
  9: ["attributes", keyValue],
  10: ["droppedAttributes", "varint"],
  11: ["events", event],
  12: ["droppedEvents", "varint"],
  13: ["links", link],
  14: ["droppedLinks", "varint"],
  15: ["status", { 2: ["message", "string"], 3: ["code", "varint"] }],
  16: ["flags", "fixed32"],
};
const scope: MessageType = {
  1: ["name", "string"],
  2: ["version", "string"],
  3: ["attributes", keyValue],
  4: ["dropped", "varint"],
};
const scopeSpans: MessageType = { 1: ["scope", scope], 2: ["spans", span], 3: ["schemaUrl", "string"] };
const resource: MessageType = { 1: ["attributes", keyValue], 2: ["dropped", "varint"] };
const resourceSpans: MessageType = {
  1: ["resource", resource],
  2: ["scopeSpans", scopeSpans],
  3: ["schemaUrl", "string"],
};
const exportRequest: MessageType = { 1: ["resourceSpans", resourceSpans] };

/** Throws if the body is not an `ExportTraceServiceRequest`. */
export function decodeTraces(body: Buffer): OtlpSpan[] {
  const { resourceSpans: groups = [] } = decodeMessage(body, exportRequest);
  return (groups as Message[]).flatMap((group) => {
    const [owner] = (group.resource ?? []) as Message[];
    return ((group.scopeSpans ?? []) as Message[]).flatMap((scoped) => {
      const [{ name = [] } = {}] = (scoped.scope ?? []) as Message[];
      const shared = { resource: toAttributes(owner?.attributes), scope: String(name[0] ?? "") };
      return ((scoped.spans ?? []) as Message[]).map((each) => ({ ...toSpan(each), ...shared }));
    });
  });
}

function toSpan(message: Message): Omit<OtlpSpan, "resource" | "scope"> {
  const getHex = (name: string) =>
    ((message[name]?.[0] as Buffer | undefined) ?? Buffer.of()).toString("hex");
  const [status] = (message.status ?? []) as Message[];
  return {
    traceId: getHex("traceId"),
    spanId: getHex("spanId"),
    parentSpanId: getHex("parentSpanId"),
    name: String(message.name?.[0]),
    kind: Number(message.kind?.[0] ?? 0),
    start: (message.start?.[0] ?? 0n) as bigint,
    end: (message.end?.[0] ?? 0n) as bigint,
    attributes: toAttributes(message.attributes),
    events: ((message.events ?? []) as Message[]).map(({ name }) => String(name?.[0])),
    statusCode: Number(status?.code?.[0] ?? 0),
  };
}

function toAttributes(pairs: readonly unknown[] = []): Record<string, unknown> {
  return Object.fromEntries(
    (pairs as Message[]).map(({ key, value }) => [key?.[0], toValue(value?.[0] as Message)]),
  );
}

function toValue(message: Message): unknown {
  const [list] = (message.list ?? []) as Message[];
  if (list) return ((list.values ?? []) as Message[]).map(toValue);
  const [value] = Object.values(message)[0] ?? [];
  return typeof value === "bigint" ? Number(value) : value;
}

function decodeMessage(bytes: Buffer, type: MessageType): Message {
  const message: Record<string, unknown[]> = {};
  const reader = createFieldReader(bytes);
  while (!reader.isAtEnd()) {
    const tag = Number(reader.readVarint());
    const [name, field] = type[tag >> 3] ?? [];
    if (name === undefined || field === undefined) throw new Error(`Unknown field ${tag >> 3}.`);
    const wireType = { varint: 0, fixed64: 1, double: 1, fixed32: 5 }[field as string] ?? 2;
    if ((tag & 7) !== wireType) throw new Error(`Field ${name} has the wire type ${tag & 7}.`);
    const list = message[name] ?? [];
    list.push(readField(reader, field));
    message[name] = list;
  }
  return message;
}

function readField(reader: Reader, field: FieldType): unknown {
  if (field === "varint") return reader.readVarint();
  if (field === "fixed64") return reader.readBytes(8).readBigUInt64LE();
  if (field === "double") return reader.readBytes(8).readDoubleLE();
  if (field === "fixed32") return reader.readBytes(4).readUInt32LE();
  const bytes = reader.readBytes(Number(reader.readVarint()));
  if (field === "bytes") return bytes;
  if (field === "string") return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  return decodeMessage(bytes, field);
}

type Reader = { isAtEnd(): boolean; readVarint(): bigint; readBytes(length: number): Buffer };

function createFieldReader(bytes: Buffer): Reader {
  let position = 0;
  function readBytes(length: number): Buffer {
    position += length;
    if (position > bytes.length) throw new Error("The message is cut off.");
    return bytes.subarray(position - length, position);
  }
  return {
    isAtEnd: () => position === bytes.length,
    readBytes,
    readVarint() {
      for (let value = 0n, shift = 0n; ; shift += 7n) {
        const byte = readBytes(1).readUInt8();
        value |= BigInt(byte & 0x7f) << shift;
        if (byte < 0x80) return value;
      }
    },
  };
}
