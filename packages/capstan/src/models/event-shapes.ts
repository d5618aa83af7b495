import { isRecord } from "../base/json.ts";
import { createPattern, type Field, type Passage, type Pattern, readFields } from "./event-pattern.ts";
import { locateVariableFields } from "./locate-fields.ts";

/** A server-sent event that was read by its shape. The next one of this shape overwrites it. */
export type ShapedEvent = {
  /** The name of the event. */
  readonly event: string | undefined;
  /** Equal to what `JSON.parse` returns for its data. */
  readonly value: Readonly<Record<string, unknown>>;
  /** Where the next event starts. */
  readonly end: number;
};

/** The shapes of the events that a provider repeats: the constant text around a few fields. */
export type EventShapes = {
  /** Remembers the shape of one complete event, with its separator, unless its reader might keep a part of it. */
  learn(text: string): void;
  /** Reads the event at `position` if its shape is known. */
  read(text: string, position: number): ShapedEvent | undefined;
};

type Shape = {
  readonly event: string | undefined;
  /** The fields of the event that was read last are set in it. */
  readonly value: Record<string, unknown>;
  readonly pattern: Pattern;
  /** The same with the current values of those fields that most events of one stream share, such as its id. */
  narrowPattern: Pattern | undefined;
  /** Number of events since the last one that was read with a narrow pattern, or not at all. */
  wideReads: number;
  end: number;
};

const maxShapes = 8;
/** Longer events are not the ones that a provider repeats. */
const maxLength = 4_000;
/** Concurrent streams take turns, each with its own id: narrowing a pattern for every few events would cost more than it saves. */
const minWideReads = 8;

/**
 * Most events of a stream differ in a piece of text and a few numbers only. Comparing the constant text around them and
 * copying the fields costs less than `JSON.parse`, and no new objects. `paths` names the fields that vary, such as
 * `choices.*.delta.content`, where `*` is any position in a list. An event is read this way only if each of its objects
 * has such a field, and readers keep none of these objects. Everything else is left to the parser.
 */
export function createEventShapes(paths: readonly string[]): EventShapes {
  const known = new Set(paths);
  const shapes: Shape[] = [];
  return {
    learn(text) {
      const shape = toShape(text, known);
      if (!shape) return;
      // Last, because many events are never repeated.
      if (shapes.length === maxShapes) shapes.pop();
      shapes.push(shape);
    },
    read(text, position) {
      for (let index = 0; index < shapes.length; index++) {
        const shape = shapes[index] as Shape;
        if (!readShape(shape, text, position)) continue;
        // The next event most probably has the same shape.
        if (index > 0) shapes.unshift(...shapes.splice(index, 1));
        return shape;
      }
      return undefined;
    },
  };
}

function readShape(shape: Shape, text: string, position: number): boolean {
  const { pattern, narrowPattern, wideReads } = shape;
  let end = narrowPattern ? readFields(narrowPattern, text, position) : -1;
  if (end < 0) {
    const before = wideReads >= minWideReads ? pattern.fields.map(getValue) : undefined;
    // The values of its constant fields are overwritten now.
    shape.narrowPattern = undefined;
    shape.wideReads = 0;
    end = readFields(pattern, text, position);
    if (end < 0) return false;
    if (before) shape.narrowPattern = narrow(pattern, before, { text, start: position, end });
    else shape.wideReads = wideReads + 1;
  }
  shape.end = end;
  return true;
}

const getValue = ({ container, key }: Field): unknown => container[key];

/** Turns the fields that are the same as in the event before into constant text. */
function narrow(pattern: Pattern, before: readonly unknown[], passage: Passage): Pattern {
  let at = passage.start + pattern.head.length;
  const located = pattern.fields.map((field, index) => {
    const fieldEnd = pattern.ends[index] ?? at;
    const start = at;
    at = fieldEnd + (pattern.tails[index]?.length ?? 0);
    return { ...field, start, end: fieldEnd };
  });
  const changed = located.filter(
    (field, index) => field.type === "space" || getValue(field) !== before[index],
  );
  return createPattern(changed, passage);
}

/** One line of JSON, with the name of the event before it. */
const singleLine = /^(?:event: ?([^\r\n]+)\r?\n)?data: ?(\{[^\r\n]*\})\r?\n\r?\n$/;

function toShape(text: string, paths: ReadonlySet<string>): Shape | undefined {
  if (text.length > maxLength) return undefined;
  const [, event, json] = singleLine.exec(text) ?? [];
  const value = json === undefined || event === "error" ? undefined : tryParseJson(json);
  if (json === undefined || !isRecord(value)) return undefined;
  const found = locateVariableFields(text, { value, start: text.indexOf(json), paths });
  if (!found?.some(({ type }) => type === "text")) return undefined;
  const pattern = createPattern(found, { text, start: 0, end: text.length });
  return { event, value, pattern, narrowPattern: undefined, wideReads: 0, end: 0 };
}

/** A reader does not look at the events after the end, so they may be anything. */
function tryParseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
