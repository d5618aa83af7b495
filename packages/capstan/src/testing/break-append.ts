import type { Store } from "../runtime/store.ts";

/** Makes every append after the first ones fail, until the store is repaired. */
export function breakAppend(
  store: { append: Store["append"] },
  appends: number,
): { readonly whenBroken: Promise<void>; repair(): void } {
  const { append } = store;
  const broken = Promise.withResolvers<void>();
  let count = 0;
  store.append = async (facts, at) => {
    count += 1;
    if (count <= appends) return append(facts, at);
    broken.resolve();
    throw new Error("disk gone");
  };
  return {
    whenBroken: broken.promise,
    repair() {
      store.append = append;
    },
  };
}
