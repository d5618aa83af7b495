import { useState } from "react";

/** Remembers what the user expanded, because rows unmount when they scroll out of view. */
const userChoices = new Map<string, boolean>();

/** Returns the user's choice, or the default. */
export function useFold(
  key: string,
  isOpenByDefault: boolean,
): readonly [boolean, (isOpen: boolean) => void] {
  const [choice, setChoice] = useState(() => userChoices.get(key));
  return [
    choice ?? isOpenByDefault,
    (isOpen) => {
      userChoices.set(key, isOpen);
      setChoice(isOpen);
    },
  ];
}
