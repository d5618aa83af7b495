// Writes a small but complete GGUF file: the llama architecture with seeded random weights, a byte-level BPE tokenizer
// and a chat template. Its answers are noise. It proves loading, streaming, grammars, cancellation, memory and errors.
//
// GGUF 3: magic, version, number of tensors, number of metadata entries, the metadata, one record per tensor, then the
// tensors' data, each aligned to 32 bytes. Everything is little-endian; a string is its length and its bytes.
import { writeFile } from "node:fs/promises";
import { trainVocabulary } from "./byte-pair-vocabulary.ts";

export type TinyGgufOptions = {
  readonly seed?: number;
  readonly contextLength?: number;
  readonly architecture?: string;
  readonly chatTemplate?: string;
  /** Tokens that the model prefers, by strength: random answers would hardly ever close a text otherwise. */
  readonly preferred?: { readonly [token: string]: number };
  /** More is slower. */
  readonly layers?: number;
};

const sample =
  'The quick brown fox jumps over the lazy dog. {"name": "value", "items": [1, 2, 3], "ok": true, "none": null} ' +
  "An agent calls the model, runs the tools it requests, returns the results and repeats until there is an answer.";
const special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"];
const userDefined = [
  "<think>",
  "</think>",
  "<tool_call>",
  "</tool_call>",
  "<tool_response>",
  "</tool_response>",
];

/** ChatML with tools in the style of Hermes and Qwen. */
export const hermesTemplate = `{%- if tools %}
{{- '<|im_start|>system\\n' }}
{%- if messages[0].role == 'system' %}{{- messages[0].content + '\\n\\n' }}{%- endif %}
{{- "# Tools\\n\\nYou may call one or more functions to assist with the user query.\\n\\nYou are provided with function signatures within <tools></tools> XML tags:\\n<tools>" }}
{%- for tool in tools %}{{- "\\n" }}{{- tool | tojson }}{%- endfor %}
{{- "\\n</tools>\\n\\nFor each function call, return a json object with function name and arguments within <tool_call></tool_call> XML tags:\\n<tool_call>\\n{\\"name\\": <function-name>, \\"arguments\\": <args-json-object>}\\n</tool_call><|im_end|>\\n" }}
{%- elif messages[0].role == 'system' %}{{- '<|im_start|>system\\n' + messages[0].content + '<|im_end|>\\n' }}
{%- endif %}
{%- for message in messages %}
{%- if message.role == 'user' or (message.role == 'system' and not loop.first) %}
{{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}
{%- elif message.role == 'assistant' %}
{{- '<|im_start|>assistant\\n' + (message.content or '') }}
{%- for call in message.tool_calls or [] %}
{{- '\\n<tool_call>\\n{"name": "' + call.function.name + '", "arguments": ' }}
{{- call.function.arguments | tojson }}{{- '}\\n</tool_call>' }}
{%- endfor %}{{- '<|im_end|>\\n' }}
{%- elif message.role == 'tool' %}
{{- '<|im_start|>user\\n<tool_response>\\n' + message.content + '\\n</tool_response><|im_end|>\\n' }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}`;

const width = 32;
const heads = 2;
const hidden = 64;

/** Writes the file. The same options give the same bytes. */
export async function writeTinyGguf(file: string, options: TinyGgufOptions = {}): Promise<void> {
  const { contextLength = 4096, architecture = "llama", layers = 1 } = options;
  const { tokens: learned, merges } = trainVocabulary(sample, 120);
  const tokens = [...learned, ...special, ...userDefined];
  const types = tokens.map((token) => (special.includes(token) ? 3 : userDefined.includes(token) ? 4 : 1));
  const metadata: readonly (readonly [string, Buffer])[] = [
    ["general.architecture", string(architecture)],
    ["general.name", string("tiny")],
    [`${architecture}.context_length`, uint32(contextLength)],
    [`${architecture}.embedding_length`, uint32(width)],
    [`${architecture}.block_count`, uint32(layers)],
    [`${architecture}.feed_forward_length`, uint32(hidden)],
    [`${architecture}.attention.head_count`, uint32(heads)],
    [`${architecture}.attention.head_count_kv`, uint32(heads)],
    [`${architecture}.attention.layer_norm_rms_epsilon`, float32(1e-5)],
    [`${architecture}.rope.dimension_count`, uint32(width / heads)],
    [`${architecture}.vocab_size`, uint32(tokens.length)],
    ["tokenizer.ggml.model", string("gpt2")],
    ["tokenizer.ggml.pre", string("gpt-2")],
    ["tokenizer.ggml.tokens", array(8, tokens.map(encodeString))],
    ["tokenizer.ggml.token_type", array(5, types.map(encodeUint32))],
    ["tokenizer.ggml.merges", array(8, merges.map(encodeString))],
    ["tokenizer.ggml.eos_token_id", uint32(tokens.indexOf("<|im_end|>"))],
    ["tokenizer.ggml.bos_token_id", uint32(tokens.indexOf("<|endoftext|>"))],
    ["tokenizer.ggml.add_bos_token", bool(false)],
    ["tokenizer.chat_template", string(options.chatTemplate ?? hermesTemplate)],
  ];
  const tensors = createTensors(tokens, options);
  await writeFile(file, Buffer.concat([...encodeHeader(metadata, tensors)]));
}

type Tensor = { readonly name: string; readonly shape: readonly number[]; readonly data: Buffer };

function createTensors(tokens: readonly string[], options: TinyGgufOptions): readonly Tensor[] {
  const { seed = 1, layers = 1, preferred = {} } = options;
  const random = createRandom(seed);
  const fill = (name: string, shape: readonly number[], value: (index: number) => number): Tensor => {
    const data = new Float32Array(shape.reduce((product, size) => product * size, 1));
    for (let index = 0; index < data.length; index++) data[index] = value(index);
    return { name, shape, data: Buffer.from(data.buffer) };
  };
  const noise = (name: string, shape: readonly number[]) => fill(name, shape, () => (random() - 0.5) * 0.6);
  // Layers leave the first dimension as it is.
  const residual = (name: string, columns: number) =>
    fill(name, [columns, width], (index) => (index < columns ? 0 : (random() - 0.5) * 0.6));
  const ones = (name: string) => fill(name, [width], () => 1);
  // The first dimension is 1 for every token, so that the first column of the output works as a bias.
  const embedding = fill("token_embd.weight", [width, tokens.length], (index) =>
    index % width === 0 ? 1 : (random() - 0.5) * 2,
  );
  const output = fill("output.weight", [width, tokens.length], (index) =>
    index % width === 0 ? (preferred[tokens[index / width] ?? ""] ?? 0) : (random() - 0.5) * 0.8,
  );
  const blocks = Array.from({ length: layers }, (_, layer) => [
    ones(`blk.${layer}.attn_norm.weight`),
    ...["q", "k", "v"].map((part) => noise(`blk.${layer}.attn_${part}.weight`, [width, width])),
    residual(`blk.${layer}.attn_output.weight`, width),
    ones(`blk.${layer}.ffn_norm.weight`),
    noise(`blk.${layer}.ffn_gate.weight`, [width, hidden]),
    noise(`blk.${layer}.ffn_up.weight`, [width, hidden]),
    residual(`blk.${layer}.ffn_down.weight`, hidden),
  ]);
  return [embedding, ones("output_norm.weight"), output, ...blocks.flat()];
}

const alignment = 32;
const pad = (length: number): Buffer => Buffer.alloc((alignment - (length % alignment)) % alignment);

function* encodeHeader(
  metadata: readonly (readonly [string, Buffer])[],
  tensors: readonly Tensor[],
): Generator<Buffer> {
  const header: Buffer[] = [Buffer.from("GGUF"), encodeUint32(3)];
  header.push(encodeUint64(tensors.length), encodeUint64(metadata.length));
  for (const [key, value] of metadata) header.push(encodeString(key), value);
  let offset = 0;
  for (const { name, shape, data } of tensors) {
    header.push(encodeString(name), encodeUint32(shape.length), ...shape.map(encodeUint64));
    header.push(encodeUint32(0), encodeUint64(offset)); // 0: 32-bit floats
    offset += data.length + pad(data.length).length;
  }
  const bytes = Buffer.concat(header);
  yield bytes;
  yield pad(bytes.length);
  for (const { data } of tensors) yield Buffer.concat([data, pad(data.length)]);
}

function encodeUint32(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeUInt32LE(value);
  return buffer;
}

function encodeUint64(value: number): Buffer {
  const buffer = Buffer.alloc(8);
  buffer.writeBigUInt64LE(BigInt(value));
  return buffer;
}

function encodeString(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([encodeUint64(bytes.length), bytes]);
}

// Metadata values start with their type.
const uint32 = (value: number): Buffer => Buffer.concat([encodeUint32(4), encodeUint32(value)]);
const bool = (value: boolean): Buffer => Buffer.concat([encodeUint32(7), Buffer.from([value ? 1 : 0])]);
const string = (text: string): Buffer => Buffer.concat([encodeUint32(8), encodeString(text)]);
const array = (type: number, items: readonly Buffer[]): Buffer =>
  Buffer.concat([encodeUint32(9), encodeUint32(type), encodeUint64(items.length), ...items]);

function float32(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeFloatLE(value);
  return Buffer.concat([encodeUint32(6), buffer]);
}

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
