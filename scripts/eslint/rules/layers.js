import { dirname, relative, resolve, sep } from "node:path";

/** The library's layers from the top: each may import those after it. ts-src/resty/ax.ts is the facade. */
const LAYERS = ["facade", "phases", "dataplane", "collector", "control", "observe", "nginx", "core"];

/** @returns {string[] | undefined} what a layer may import besides itself; undefined for a directory that is no layer */
function belowOf(layer) {
  // It runs on Node.js: of the library only what is pure, and the types that the simulator speaks.
  if (layer === "node") return ["core", "sim"];
  // It stands in for nginx and the phases.
  if (layer === "sim") return ["dataplane", "collector", "control", "core"];
  const index = LAYERS.indexOf(layer);
  return index < 0 ? undefined : LAYERS.slice(index + 1);
}

/** @returns {string | undefined} the layer of a path relative to the repository; undefined outside ts-src */
function layerOf(path) {
  const parts = path.split(sep);
  if (parts[0] !== "ts-src") return undefined;
  if (parts[1] !== "resty") return parts[1];
  return parts[2] === "ax" && parts.length > 3 ? parts[3] : "facade";
}

/** Reports imports that point up or sideways between layers, and modules of nginx or Lua outside nginx/. */
export default {
  meta: { type: "problem", schema: [] },
  create(context) {
    const from = layerOf(relative(context.cwd, context.filename));
    if (from === undefined) return {};
    const allowed = belowOf(from);
    if (allowed === undefined) {
      const message = `"${from}" is not a layer of the library; layers are ${LAYERS.slice(1).join(", ")}.`;
      return { Program: (node) => context.report({ node, message }) };
    }
    const isNode = from === "node" || from === "sim";

    function check(node) {
      const target = node.source?.value;
      if (typeof target !== "string") return;
      if (!target.startsWith(".")) {
        if (from !== "nginx" && !isNode) {
          const message = `"${target}" is a module of nginx or Lua: only ts-src/resty/ax/nginx/ may import it.`;
          context.report({ node, message });
        }
        return;
      }
      const to = layerOf(relative(context.cwd, resolve(dirname(context.filename), target))) ?? "outside ts-src";
      if (to === from || allowed.includes(to)) return;
      const list = allowed.length > 0 ? `${allowed.join(", ")} and itself` : "itself";
      context.report({ node, message: `Imports point down the layers: ${from} may import ${list}, not ${to}.` });
    }

    return {
      ImportDeclaration: check,
      ExportNamedDeclaration: check,
      ExportAllDeclaration: check,
      ImportExpression: check,
    };
  },
};
