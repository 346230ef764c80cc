import { typesOf } from "../types.js";

const WHY = "nil in an array is a hole: Lua's # may stop before it, and pushes overwrite what follows.";

/** Reports undefined or null put into an array, and `new Array(n)`, which is n of them. */
export default {
  meta: { type: "problem", schema: [] },
  create(context) {
    const types = typesOf(context);
    const check = (node) => {
      if (node !== null && node.type !== "SpreadElement" && types.maybeNil(node)) {
        context.report({ node, message: `This may be undefined. ${WHY}` });
      }
    };
    return {
      // A missing element, [1, , 2], is reported by no-sparse-arrays.
      ArrayExpression: (node) => node.elements.forEach(check),
      AssignmentExpression(node) {
        const target = node.left;
        if (target.type === "MemberExpression" && target.computed && types.maybeArray(target.object)) check(node.right);
      },
      CallExpression(node) {
        const { callee } = node;
        if (callee.type !== "MemberExpression" || !types.maybeArray(callee.object)) return;
        if (["push", "unshift", "fill"].includes(callee.property.name)) node.arguments.forEach(check);
      },
      'NewExpression[callee.name="Array"]': (node) =>
        context.report({
          node,
          message: `new Array(n) is unsupported by the compiler: fill a literal in a loop. ${WHY}`,
        }),
    };
  },
};
