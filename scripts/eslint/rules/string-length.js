import { typesOf } from "../types.js";

const MESSAGE =
  "The compiler turns this into the field `length` of a Lua string, which is nil. Test for undefined first.";

/** Reports the ways to a string's length that the compiler gets wrong: `s?.length` and `const { length } = s`. */
export default {
  meta: { type: "problem", schema: [] },
  create(context) {
    const types = typesOf(context);
    return {
      'MemberExpression[optional=true][property.name="length"]'(node) {
        // On a plain string `?.` is compiled away; only with undefined in the type does the detour appear.
        if (types.maybeString(node.object) && types.maybeNil(node.object)) context.report({ node, message: MESSAGE });
      },
      'ObjectPattern > Property[key.name="length"]'(node) {
        if (types.maybeString(node.parent)) context.report({ node, message: MESSAGE });
      },
    };
  },
};
