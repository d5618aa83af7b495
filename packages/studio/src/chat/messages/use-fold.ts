import { useState } from "react";

/** What the person has opened or closed, for when it comes back into sight: long sessions draw only what is seen. */
const chosen = new Map<string, boolean>();

/** Whether something is open: as the person chose, otherwise as given. */
export function useFold(key: string, isOpenByItself: boolean): readonly [boolean, (isOpen: boolean) => void] {
  const [choice, setChoice] = useState(() => chosen.get(key));
  return [
    choice ?? isOpenByItself,
    (isOpen) => {
      chosen.set(key, isOpen);
      setChoice(isOpen);
    },
  ];
}
