// What calls that wait for approval would do. All data is fictional.
import type { WidgetHint } from "./widget-props.ts";

/** A function that was renamed across files, one of which was renamed too, and a file that only moved. */
export const rename: WidgetHint = {
  kind: "diff",
  props: {
    diff: `diff --git a/src/greet.py b/src/welcome.py
similarity index 90%
rename from src/greet.py
rename to src/welcome.py
--- a/src/greet.py
+++ b/src/welcome.py
@@ -1,2 +1,2 @@
-def greet(name):
+def welcome(name):
     print("Hello " + name)
diff --git a/docs/greet.md b/docs/welcome.md
similarity index 100%
rename from docs/greet.md
rename to docs/welcome.md
diff --git a/main.py b/main.py
--- a/main.py
+++ b/main.py
@@ -7,3 +7,3 @@ import sys
 if __name__ == "__main__":
-    greet(sys.argv[1])
+    welcome(sys.argv[1])
     sys.exit(0)
`,
  },
};

export const command: WidgetHint = {
  kind: "command",
  props: {
    command: "npm run build -- --mode 'production test'",
    folder: "/home/ann/project",
    allows: [
      { what: "Network", answer: "none" },
      { what: "Can change", answer: "the working folder" },
    ],
  },
};

export const email: WidgetHint = {
  kind: "email",
  props: {
    ...{ from: "you@larkfield.example", to: ["ines@larkfield.example", "tomas@larkfield.example"] },
    ...{ cc: ["priya@larkfield.example"], subject: "Workshop budget", attachments: ["budget.pdf"] },
    body: "Hello Ines, hello Tomas,\n\nthe boathouse is booked for 18,400 euros.\n\nBest regards",
  },
};
