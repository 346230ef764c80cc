/** The rules for code that is compiled to Lua; docs/development.md says which catches what. */
import arrayHoles from "./rules/array-holes.js";
import disableReason from "./rules/disable-reason.js";
import hotLoops from "./rules/hot-loops.js";
import inlineComparator from "./rules/inline-comparator.js";
import layers from "./rules/layers.js";
import stringLength from "./rules/string-length.js";
import { syntaxRule } from "./syntax-rule.js";

const SHIFT = "LuaJIT's shift gives a signed number where JavaScript's is unsigned: use hash helpers tested on both.";
const COLLECTION = "Use a record or an array: the compiled Map and Set cost about four table accesses each.";

export default {
  rules: {
    "array-holes": arrayHoles,
    "disable-reason": disableReason,
    "hot-loops": hotLoops,
    "inline-comparator": inlineComparator,
    layers,
    "string-length": stringLength,
    "no-unsigned-shift": syntaxRule({
      'BinaryExpression[operator=">>>"]': SHIFT,
      'AssignmentExpression[operator=">>>="]': SHIFT,
    }),
    "no-switch": syntaxRule({ SwitchStatement: "switch aborts JIT traces: use if, or a table of functions." }),
    "no-try": syntaxRule({
      TryStatement:
        "try/catch compiles to a closure in pcall and aborts JIT traces: return value, err; or pcall(f, x).",
    }),
    "no-class": syntaxRule({ ":matches(ClassDeclaration, ClassExpression)": "Use plain functions over a record." }),
    "no-map-set": syntaxRule({ "NewExpression[callee.name=/^(Weak)?(Map|Set)$/]": COLLECTION }),
    "no-coroutine": syntaxRule({
      ":function[async=true]":
        "Promises do not run in nginx: phases are synchronous, sleep and sockets yield by themselves.",
      ":function[generator=true]":
        "Generators compile to coroutines, which clash with nginx's own and abort JIT traces.",
    }),
    "no-regex": syntaxRule({
      "Literal[regex]": "Lua has no regular expressions: compare bytes, or use string.match with a Lua pattern.",
    }),
  },
};
