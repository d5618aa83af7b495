import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app.tsx";
import "./ui/theme.css";
import { applyTheme } from "./ui/theme.ts";

applyTheme();
const container = document.getElementById("studio");
if (container)
  createRoot(container).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
