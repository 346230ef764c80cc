import { typesOf } from "../types.js";

const CALLBACK_METHODS = new Set([
  "map",
  "filter",
  "forEach",
  "reduce",
  "reduceRight",
  "flatMap",
  "some",
  "every",
  "find",
  "findIndex",
]);

/** Reports array methods with callbacks, and spread: in code that runs per request they cost about 70 loops each. */
export default {
  meta: { type: "problem", schema: [] },
  create(context) {
    const types = typesOf(context);
    return {
      CallExpression({ callee }) {
        if (callee.type !== "MemberExpression" || !CALLBACK_METHODS.has(callee.property.name)) return;
        if (!types.maybeArray(callee.object)) return;
        const message = `.${callee.property.name}() creates a closure and a table per call: write a plain loop here.`;
        context.report({ node: callee.property, message });
      },
      SpreadElement(node) {
        context.report({ node, message: "Spread copies through helper tables per call: write a plain loop here." });
      },
    };
  },
};
