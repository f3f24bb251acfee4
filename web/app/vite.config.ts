/// <reference types="vitest/config" />
import { fileURLToPath } from "node:url";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig, type ProxyOptions } from "vite";

const server = process.env.SANDTABLE_DEV ?? "http://127.0.0.1:8000";

const inside = (path: string) => fileURLToPath(new URL(path, import.meta.url));

const API = [
  "/langgraph",
  "/datasets",
  "/runs",
  "/check",
  "/verify",
  "/keys",
  "/chat",
  "/plan",
  "/healthz",
  "/readyz",
  "/openapi.json",
];

// As the server does it: a browser that navigates to /runs/… gets the page, a program gets JSON.
const proxied: ProxyOptions = {
  target: server,
  changeOrigin: true,
  bypass: (request) =>
    request.method === "GET" && request.headers.accept?.includes("text/html") ? "/index.html" : undefined,
};

export default defineConfig({
  base: "/",
  plugins: [react(), tailwindcss()],
  resolve: {
    alias: [
      { find: /^~\//, replacement: inside("src/") },
      { find: /^langsmith(\/.*)?$/, replacement: inside("src/api/untraced/langsmith.ts") },
    ],
  },
  build: { outDir: "dist", emptyOutDir: true, assetsDir: "assets", chunkSizeWarningLimit: 1800 },
  server: { proxy: Object.fromEntries(API.map((path) => [path, proxied])) },
  preview: { proxy: Object.fromEntries(API.map((path) => [path, proxied])) },
  test: { environment: "happy-dom", include: ["src/**/*.test.{ts,tsx}"] },
});
