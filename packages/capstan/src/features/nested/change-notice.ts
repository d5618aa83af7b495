/** Wakes everyone who waits for the next change of something. */
export type ChangeNotice = {
  /** Resolves with the next change. */
  wait(): Promise<void>;
  notify(): void;
};

export function createChangeNotice(): ChangeNotice {
  /** Created when it is waited for, which few runs do. */
  let next: PromiseWithResolvers<void> | undefined;
  return {
    wait() {
      next ??= Promise.withResolvers();
      return next.promise;
    },
    notify() {
      next?.resolve();
      next = undefined;
    },
  };
}
