// Takes the protocol's JSON Schemas out of the conformance suite, which bundles them for its own
// `wire-schema-valid` check, and writes one file per revision.
//
//   node schemas.mjs <the suite's dist/index.js> <folder>
//
// The suite has no 2024-11-05. That revision is 2025-03-26 without what 2025-03-26 added, so it is
// written as exactly that.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runInNewContext } from "node:vm";

const [bundle, folder] = process.argv.slice(2);
const source = readFileSync(bundle, "utf8");

/** The object literal that begins at `start`: its end is where every brace is closed again. */
function literalAt(start) {
  let depth = 0;
  let quote = null;
  for (let at = start; at < source.length; at++) {
    const char = source[at];
    if (quote) {
      if (char === "\\") at++;
      else if (char === quote) quote = null;
    } else if (char === "`" || char === '"' || char === "'") quote = char;
    else if (char === "{") depth++;
    else if (char === "}" && --depth === 0) return source.slice(start, at + 1);
  }
  throw new Error("an object literal without an end");
}

/** The value of a variable that holds a schema. */
function schemaNamed(name) {
  const found = source.match(new RegExp(`[\\s,;]${name.replaceAll("$", "\\$")}=(?=\\{\\$schema:)`));
  if (!found) throw new Error(`no schema in the variable ${name}`);
  return JSON.parse(JSON.stringify(runInNewContext(`(${literalAt(found.index + found[0].length)})`)));
}

/** 2024-11-05: no audio, no batches, no tool annotations, no progress message, no `completions`. */
function withoutAdditionsOf20250326(newer) {
  const schema = structuredClone(newer);
  const { definitions } = schema;
  const added = ["AudioContent", "JSONRPCBatchRequest", "JSONRPCBatchResponse", "ToolAnnotations"];
  for (const name of added) delete definitions[name];
  delete definitions.Tool.properties.annotations;
  delete definitions.ProgressNotification.properties.params.properties.message;
  delete definitions.ServerCapabilities.properties.completions;
  const gone = (part) => part.type === "array" || part.$ref === "#/definitions/AudioContent";
  const prune = (value) => {
    if (value === null || typeof value !== "object") return;
    if (Array.isArray(value.anyOf)) value.anyOf = value.anyOf.filter((part) => !gone(part));
    Object.values(value).forEach(prune);
  };
  prune(definitions);
  return schema;
}

const table = source.match(/\{"2025-03-26":([\w$]+),"2025-06-18":([\w$]+),"2025-11-25":([\w$]+),\[[\w$]+\]:([\w$]+)\}/);
if (!table) throw new Error("no table of schemas in the suite");
const revisions = ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];
const schemas = new Map(revisions.map((revision, at) => [revision, schemaNamed(table[at + 1])]));
schemas.set("2024-11-05", withoutAdditionsOf20250326(schemas.get("2025-03-26")));

mkdirSync(folder, { recursive: true });
for (const [revision, schema] of schemas) {
  writeFileSync(join(folder, `${revision}.json`), JSON.stringify(schema));
}
