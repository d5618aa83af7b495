import { AgentError } from "../base/errors.ts";
import type { RunQuery } from "../runtime/run-catalog.ts";

/** The position of a run in a sorted list: the value it is sorted by, and a number that grows with each run. */
export type RunPosition = { readonly value: number; readonly place: number };

type Sorting = Pick<RunQuery, "sort" | "order">;

export const defaultRunLimit = 50;

export function formatRunCursor(
  { sort = "startedAt", order = "desc" }: Sorting,
  { value, place }: RunPosition,
): string {
  return [sort, order, value, place].join("~");
}

/** Throws `invalid_input` if the cursor is not one of a query with this order. */
export function parseRunCursor({
  sort = "startedAt",
  order = "desc",
  cursor,
}: Sorting & Pick<RunQuery, "cursor">): RunPosition | undefined {
  if (cursor === undefined) return undefined;
  const [cursorSort, cursorOrder, value, place, ...rest] = cursor.split("~");
  const position = { value: Number(value || Number.NaN), place: Number(place || Number.NaN) };
  const isPosition = Number.isFinite(position.value) && Number.isSafeInteger(position.place);
  if (cursorSort === sort && cursorOrder === order && isPosition && rest.length === 0) return position;
  const message = `The cursor "${cursor.slice(0, 100)}" is not \`next\` of a page with the same order. Start without a cursor.`;
  throw new AgentError("invalid_input", message);
}
