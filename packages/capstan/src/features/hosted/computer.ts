import { isRecord } from "../../base/json.ts";
import { type ComputerDisplay, hostedNames, hostedReads } from "../../kernel/hosted-tool.ts";
import { defineTool, type Tool, type ToolCall, type ToolContext } from "../../kernel/tool.ts";

type Point = { readonly x: number; readonly y: number };

/** One action on the computer, the same for every provider. Positions are pixels of the display. */
export type ComputerAction =
  | { readonly type: "screenshot" }
  | ({ readonly type: "click"; readonly button: string; readonly count: number } & Point)
  | ({ readonly type: "move" } & Point)
  | { readonly type: "drag"; readonly path: readonly Point[] }
  /** By pixels; positive is right and down. */
  | ({ readonly type: "scroll"; readonly scrollX: number; readonly scrollY: number } & Point)
  | { readonly type: "type"; readonly text: string }
  | { readonly type: "keypress"; readonly keys: readonly string[] }
  | { readonly type: "wait"; readonly ms: number }
  /** An action without a common form, with the provider's own fields. */
  | { readonly type: "other"; readonly input: { readonly [field: string]: unknown } };

export type ComputerOptions = ComputerDisplay & {
  /**
   * Performs an action and returns what a tool returns. The model expects a screenshot: `{ content: [{ type: "image",
   * mediaType: "image/png", data }] }`. If the model requests several actions at once, the last result counts.
   */
  execute(action: ComputerAction, context: ToolContext): unknown;
  /** Whether the user approves the actions first. Warnings of the provider always need approval. */
  needsApproval?(actions: readonly ComputerAction[]): boolean | string;
};

export function createComputerTool({
  execute,
  needsApproval,
  ...options
}: ComputerOptions): Tool<ToolCall<"computer">, unknown> {
  const { displayWidth, displayHeight, reads = hostedReads.computer } = options;
  const tool = defineTool({
    name: hostedNames.computer,
    description: `A computer with a display of ${displayWidth} by ${displayHeight} pixels.`,
    input: { type: "object" },
    effects: "state",
    reads,
    needsApproval: (input) => findWarning(input) ?? needsApproval?.(toActions(input)) ?? false,
    async execute(input, context) {
      let result: unknown;
      for (const action of toActions(input)) {
        context.signal.throwIfAborted();
        result = await execute(action, context);
      }
      return result;
    },
  });
  return { ...tool, hosted: { kind: "computer", options } };
}

type Fields = { readonly [field: string]: unknown };

/** Returns the provider's warnings about a call, such as "this page may be malicious". */
function findWarning(input: unknown): string | undefined {
  const checks = isRecord(input) ? input.pending_safety_checks : undefined;
  const texts = Array.isArray(checks) ? checks.filter(isRecord).map(formatCheck) : [];
  return texts.length > 0 ? `The provider warns: ${texts.join(" ")}` : undefined;
}

function formatCheck({ message, code, id }: Fields): string {
  return String(message ?? code ?? id ?? "unknown reason");
}

/** Converts the arguments of a call, in the form of any provider, to actions. */
export function toActions(input: unknown): readonly ComputerAction[] {
  if (!isRecord(input)) return [];
  const { actions, action } = input;
  if (Array.isArray(actions)) return actions.filter(isRecord).map(fromOpenai);
  if (isRecord(action)) return [fromOpenai(action)];
  return [typeof action === "string" ? fromAnthropic(action, input) : fromOpenai(input)];
}

const readNumber = (value: unknown): number => (typeof value === "number" ? value : 0);
const toPoint = ({ x, y }: Fields): Point => ({ x: readNumber(x), y: readNumber(y) });
const toTexts = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : []);
const defaultWaitMs = 1_000;

function fromOpenai(input: Fields): ComputerAction {
  switch (input.type) {
    case "screenshot":
      return { type: "screenshot" };
    case "click":
      return { type: "click", ...toPoint(input), button: String(input.button ?? "left"), count: 1 };
    case "double_click":
      return { type: "click", ...toPoint(input), button: "left", count: 2 };
    case "move":
      return { type: "move", ...toPoint(input) };
    case "drag":
      return {
        type: "drag",
        path: Array.isArray(input.path) ? input.path.filter(isRecord).map(toPoint) : [],
      };
    case "scroll": {
      const { scroll_x: x, scroll_y: y } = input;
      return { type: "scroll", ...toPoint(input), scrollX: readNumber(x), scrollY: readNumber(y) };
    }
    case "type":
      return { type: "type", text: String(input.text ?? "") };
    case "keypress":
      return { type: "keypress", keys: toTexts(input.keys) };
    case "wait":
      return { type: "wait", ms: defaultWaitMs };
    default:
      return { type: "other", input };
  }
}

const clicks: { readonly [action: string]: { readonly button: string; readonly count: number } } = {
  left_click: { button: "left", count: 1 },
  right_click: { button: "right", count: 1 },
  middle_click: { button: "wheel", count: 1 },
  double_click: { button: "left", count: 2 },
  triple_click: { button: "left", count: 3 },
};
/** Pixels of one step of a scroll wheel. */
const wheelStep = 100;
const directions: { readonly [direction: string]: Point } = {
  up: { x: 0, y: -wheelStep },
  down: { x: 0, y: wheelStep },
  left: { x: -wheelStep, y: 0 },
  right: { x: wheelStep, y: 0 },
};

function fromAnthropic(action: string, input: Fields): ComputerAction {
  const point = fromCoordinate(input.coordinate);
  const click = clicks[action];
  if (click) return { type: "click", ...point, ...click };
  switch (action) {
    case "screenshot":
      return { type: "screenshot" };
    case "mouse_move":
      return { type: "move", ...point };
    case "left_click_drag":
      return { type: "drag", path: [fromCoordinate(input.start_coordinate), point] };
    case "scroll": {
      const { x, y } = directions[String(input.scroll_direction)] ?? { x: 0, y: 0 };
      const amount = readNumber(input.scroll_amount);
      return { type: "scroll", ...point, scrollX: x * amount, scrollY: y * amount };
    }
    case "type":
      return { type: "type", text: String(input.text ?? "") };
    case "key":
      return { type: "keypress", keys: String(input.text ?? "").split("+") };
    case "wait":
      return { type: "wait", ms: readNumber(input.duration) * 1_000 };
    default:
      return { type: "other", input };
  }
}

function fromCoordinate(coordinate: unknown): Point {
  const [x, y] = Array.isArray(coordinate) ? coordinate : [];
  return { x: readNumber(x), y: readNumber(y) };
}
