import { typesOf } from "../types.js";

/** Reports `xs.sort(named)`: the compiled call passes nil as the first argument, and shifts the others. */
export default {
  meta: { type: "problem", schema: [] },
  create(context) {
    const types = typesOf(context);
    return {
      "CallExpression[callee.property.name=/^(sort|toSorted)$/][arguments.length=1]"(node) {
        const [comparator] = node.arguments;
        if (comparator.type === "ArrowFunctionExpression" || comparator.type === "FunctionExpression") return;
        if (!types.maybeArray(node.callee.object)) return;
        context.report({
          node: comparator,
          message: "The compiled sort calls this with nil as its first argument; write sort((a, b) => named(a, b)).",
        });
      },
    };
  },
};
