import { defineConfig, type Plugin } from 'vite';

/** What the built page may load: nothing but its own files, so that a character never leaves the machine. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' blob: data:",
  "connect-src 'self' blob: data:",
  "worker-src 'self'",
].join('; ');

function policy(): Plugin {
  return {
    name: 'policy',
    apply: 'build',
    transformIndexHtml: () => [
      { tag: 'meta', attrs: { 'http-equiv': 'Content-Security-Policy', content: POLICY }, injectTo: 'head-prepend' },
    ],
  };
}

export default defineConfig({
  base: './',
  plugins: [policy()],
  worker: { format: 'es' },
  build: { target: 'es2022', chunkSizeWarningLimit: 1200, modulePreload: { polyfill: false } },
});
