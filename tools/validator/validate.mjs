// node validate.mjs FILE...: one line of JSON per file, {file, errors: [{code, pointer, message}], warnings}.
// Reads the files that a file refers to from its own folder, as the writers' users would.
import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { validateBytes } from "gltf-validator";

const ERROR = 0;
// More than any test provokes on purpose; past it the validator stops looking.
const MAX_ISSUES = 100_000;

for (const file of process.argv.slice(2)) {
  const folder = dirname(file);
  let line;
  try {
    const report = await validateBytes(new Uint8Array(await readFile(file)), {
      uri: file,
      maxIssues: MAX_ISSUES,
      externalResourceFunction: async (uri) =>
        new Uint8Array(await readFile(resolve(folder, decodeURIComponent(uri)))),
    });
    const errors = report.issues.messages
      .filter((issue) => issue.severity === ERROR)
      .map(({ code, pointer, message }) => ({ code, pointer: pointer ?? "", message }));
    line = { file, errors, warnings: report.issues.numWarnings };
  } catch (error) {
    // The validator throws on what is no glTF at all.
    line = { file, errors: [{ code: "UNREADABLE", pointer: "", message: String(error) }], warnings: 0 };
  }
  console.log(JSON.stringify(line));
}
