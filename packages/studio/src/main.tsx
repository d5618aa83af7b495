import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app.tsx";
import { repairLocale } from "./ui/repair-locale.ts";
import "./ui/theme.css";
import { applyTheme } from "./ui/theme.ts";

repairLocale();
applyTheme();
const container = document.getElementById("studio");
if (container)
  createRoot(container).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
